import { describe, it } from 'vitest';
import { UID } from './links.ts';
import { exprOf, proved, type Sample } from './test-support.ts';

const of = (panel: string, refId = 'A'): string => exprOf(UID.failureBudget, panel, refId);
const source = (agent: string): string => `job="j", instance="i", gen_ai_agent_name="${agent}"`;
const spent = (what: string, agent: string, more = ''): string =>
  `breakerbox_spent_${what}_total{${source(agent)}${more}}`;
const limits = (agent: string, limit: string, level: string): string =>
  `breakerbox_limits_total{${source(agent)}, breakerbox_limit="${limit}", breakerbox_limit_level="${level}"}`;
const sessions = (agent: string, state: string): string =>
  `breakerbox_sessions{${source(agent)}, breakerbox_session_state="${state}"}`;
const agent = (name: string, value: number): Sample => ({ labels: `{job="j", gen_ai_agent_name="${name}"}`, value });

/** Two hours: a spends more and more, b only since 90 minutes ago, and its runs reach limits. */
const samples = {
  [sessions('a', 'active')]: '1x120',
  [sessions('b', 'active')]: '1x120',
  [sessions('b', 'paused_limit')]: '_x100 2x20',
  [spent('tokens', 'a')]: '0+10x120',
  [spent('tokens', 'b')]: '_x90 500x30',
  [spent('calls', 'b')]: '_x90 7x30',
  [spent('cost', 'a', ', breakerbox_currency="EUR"')]: '0+0.25x120',
  [limits('b', 'calls', 'advised')]: '_x90 3x30',
  [limits('b', 'calls', 'reached')]: '_x100 2x20',
  [limits('b', 'tokens', 'observed')]: '_x110 1x10',
  [spent('calls', 'a').replace('spent_calls', 'circles')]: '0x100 4x20',
};
const at = '2h';

describe('D7: what agents spend', () => {
  it('D7: is drawn per agent and hour, with the first value of a new process, and money with its fractions', async () => {
    await proved({ samples, expr: of('Tokens per hour'), at, gives: [agent('a', 600), agent('b', 500)] });
    const cost = { labels: '{job="j", gen_ai_agent_name="a", breakerbox_currency="EUR"}', value: 15 };
    await proved({ samples, expr: of('Cost per hour'), at, gives: [cost] });
  });

  it('D7: is in the table with the limits, those that were reached first', async () => {
    const column = (refId: string) => of('Spend and limits by agent in range', refId);
    const range = '1h';
    await proved({ samples, expr: column('A'), at, range, gives: [agent('b', 2)] });
    await proved({ samples, expr: column('B'), at, range, gives: [agent('b', 3)] });
    await proved({ samples, expr: column('C'), at, range, gives: [agent('b', 1)] });
    await proved({ samples, expr: column('D'), at, range, gives: [agent('b', 2)] });
    await proved({ samples, expr: column('E'), at, range, gives: [agent('a', 4)] });
    await proved({ samples, expr: column('F'), at, range, gives: [agent('a', 600), agent('b', 500)] });
    await proved({ samples, expr: column('G'), at, range, gives: [agent('b', 7)] });
  });
});

describe('D7: a session that a limit pauses', () => {
  it('D7: is the state of its agent, between a systemic event and a used-up budget', async () => {
    const gives = [agent('b', 1.5), agent('a', 0)];
    await proved({ samples, expr: exprOf(UID.fleetOverview, 'Agents by state', 'A'), at, gives });
  });
});
