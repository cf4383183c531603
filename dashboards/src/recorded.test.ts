import { describe, expect, it } from 'vitest';
import { RECORDED as RULES } from '../../alerts/src/record.ts';
import { UID } from './links.ts';
import { RECORDED } from './recorded.ts';
import { exprOf, proved } from './test-support.ts';

describe('recorded series', () => {
  it('have the names that the rules give them', () => {
    expect(RULES).toMatchObject(RECORDED);
  });

  it('are read while the variables show all, and the series of the agents otherwise', async () => {
    const tool = 'gen_ai_tool_name="t"';
    const samples = {
      [`breakerbox_circuits{job="j", instance="i", gen_ai_agent_name="a", ${tool}, breakerbox_state="open"}`]: '1x10',
      [`${RECORDED.circuitsOfTool}{job="j", ${tool}, breakerbox_state="open"}`]: '7x10',
    };
    const expr = exprOf(UID.fleetOverview, 'Open circuits');
    const gives = (value: number) => [{ labels: '{}', value }];
    await proved({ samples, expr, at: '10m', gives: gives(1) });
    const variables = { fleet: RECORDED.circuitsOfTool, instance: '.*' };
    await proved({ samples, expr, at: '10m', variables, gives: gives(7) });
  });

  const byAgent = { rules: RECORDED.sessions, instance: '.*' };
  const own = 'job="j", gen_ai_agent_name="a"';

  it('give counts over a range as the sum of the growth', async () => {
    const samples = { [`${RECORDED.charged}{${own}}`]: '9 0x20 2 0x20 3 0x20' };
    const expr = exprOf(UID.failureBudget, 'Charged');
    await proved({ samples, expr, at: '1h', range: '50m', variables: byAgent, gives: [{ labels: '{}', value: 5 }] });
  });

  it('give the time to recovery of what opened, and 0 for the rest', async () => {
    const tool = 'gen_ai_tool_name="t"';
    const circuits = { [`${RECORDED.circuits}{${own}, ${tool}}`]: '1x60' };
    const opened = {
      [`${RECORDED.notClosedByState}{${own}, ${tool}, breakerbox_state="open"}`]: '_x20 1x7 stale',
      [`${RECORDED.notClosedByState}{${own}, ${tool}, breakerbox_state="forced_open"}`]: '_x40 1x7 stale',
      [`${RECORDED.transitions}{${own}, ${tool}, breakerbox_state_from="closed", breakerbox_state_to="open"}`]:
        '_x20 1 stale',
      [`${RECORDED.transitions}{${own}, ${tool}, breakerbox_state_from="half_open", breakerbox_state_to="open"}`]:
        '_x22 1 stale',
    };
    const expr = exprOf(UID.toolDetail, 'Mean outage in range');
    const rest = { expr, at: '1h', range: '1h', rateInterval: '4m', variables: byAgent };
    await proved({ ...rest, samples: { ...circuits, ...opened }, gives: [{ labels: '{}', value: 480 }] });
    await proved({ ...rest, samples: circuits, gives: [{ labels: '{}', value: 0 }] });
  });

  const opening = (tool: string): string =>
    `${RECORDED.opened}{${own}, gen_ai_tool_name="${tool}", error_type="network"}`;

  it('give the tools that opened, and how many of them together', async () => {
    const samples = {
      [`${RECORDED.sessions}{${own}}`]: '1x60',
      [opening('t')]: '_x20 1200 stale',
      [opening('u')]: '_x21 1250 _x20 stale 2500 stale',
      [opening('v')]: '_x50 3000 stale',
    };
    const rest = { samples, at: '1h', range: '1h', rateInterval: '8m', variables: byAgent };
    const total = (value: number) => [{ labels: '{}', value }];
    await proved({ ...rest, expr: exprOf(UID.correlatedFailures, 'Tools that opened in range'), gives: total(3) });
    await proved({
      ...rest,
      expr: exprOf(UID.correlatedFailures, 'Most tools of one agent in range'),
      gives: total(2),
    });
    await proved({
      ...rest,
      expr: exprOf(UID.correlatedFailures, 'Most agents with one tool in range'),
      gives: total(1),
    });
    const row = (tool: string, value: number) => ({
      labels: `{${own}, gen_ai_tool_name="${tool}", error_type="network"}`,
      value,
    });
    await proved({
      ...rest,
      expr: exprOf(UID.correlatedFailures, 'Last openings in range', 'B'),
      gives: [row('t', 2), row('u', 2), row('v', 1)],
    });
  });

  it('give systemic events by category', async () => {
    const samples = {
      [`${RECORDED.sessions}{${own}}`]: '1x60',
      [`${RECORDED.systemicEvents}{${own}, error_type="network"}`]: '_x20 2 stale _x10 1 stale',
    };
    const rest = { samples, at: '1h', range: '1h', variables: byAgent };
    const total = [{ labels: '{}', value: 3 }];
    await proved({ ...rest, expr: exprOf(UID.correlatedFailures, 'Systemic events in range'), gives: total });
    const byCategory = exprOf(UID.correlatedFailures, 'Systemic events by category');
    await proved({ ...rest, expr: byCategory, at: '21m', gives: [{ labels: '{error_type="network"}', value: 2 }] });
    await proved({ ...rest, expr: byCategory, gives: [{ labels: '{error_type="none"}', value: 0 }] });
  });

  it.each([
    ['Sessions paused on budget, by agent', UID.failureBudget, 'paused', ', breakerbox_session_state="paused_budget"'],
    ['Systemic events that last, by agent', UID.correlatedFailures, 'systemicActive', ''],
  ] as const)('give a gauge that has no value while it is 0: %s', async (panel, dashboard, key, more) => {
    const other = own.replace('"a"', '"b"');
    const samples = {
      [`${RECORDED.sessions}{${own}}`]: '1x60',
      [`${RECORDED.sessions}{${other}}`]: '1x60',
      [`${RECORDED[key]}{${other}${more}}`]: '_x20 2x9 stale',
    };
    const rest = { samples, expr: exprOf(dashboard, panel), range: '1h', variables: byAgent };
    const lines = (a: number, b: number) => [
      { labels: `{${own}}`, value: a },
      { labels: `{${other}}`, value: b },
    ];
    await proved({ ...rest, at: '25m', gives: lines(0, 2) });
    await proved({ ...rest, at: '1h', gives: lines(0, 0) });
    // The agents are those with the most in the whole range.
    const first = rest.expr.replaceAll('topk(10,', 'topk(1,');
    await proved({ ...rest, expr: first, at: '1h', gives: lines(0, 0).slice(1) });
  });

  it('give the burn of the agents in which most sessions fell low, and the least budget left', async () => {
    const other = own.replace('"a"', '"b"');
    const both = (name: string, a: string, b: string) => ({ [`${name}{${own}}`]: a, [`${name}{${other}}`]: b });
    const samples = {
      ...both(RECORDED.burn1h, '0.1x60', '0.2x60'),
      ...both(RECORDED.budgetLeft, '1x60', '1x20 0.4 1x39'),
      ...both(RECORDED.fellLow, '0x60', '0x30 3 0x29'),
    };
    const rest = { samples, at: '1h', range: '1h', variables: byAgent };
    const first = (panel: string, of: 'topk' | 'bottomk') =>
      exprOf(UID.failureBudget, panel).replaceAll(`${of}(10,`, `${of}(1,`);
    const gives = (value: number) => [{ labels: `{${other}}`, value }];
    await proved({ ...rest, expr: first('Fast burn: over the last hour', 'topk'), gives: gives(0.2) });
    await proved({ ...rest, expr: first('Budget left over time, by agent', 'bottomk'), gives: gives(1) });
    const fell = exprOf(UID.failureBudget, 'Sessions that fell low, by agent');
    await proved({ ...rest, expr: fell, at: '31m', gives: [{ labels: `{${other}}`, value: 3 }] });
  });

  it('are the only ones read for the zeros of all agents', async () => {
    const samples = {
      [`${RECORDED.sessions}{${own}}`]: '1x10',
      [`${RECORDED.sessionsByState}{job="j", breakerbox_session_state="active"}`]: '1x10',
    };
    const expr = exprOf(UID.fleetOverview, 'Out of budget');
    const gives = [{ labels: '{}', value: 0 }];
    await proved({ samples, expr, at: '10m', variables: byAgent, gives });
    await proved({ samples, expr, at: '10m', variables: { ...byAgent, fleet: RECORDED.circuitsOfTool }, gives });
    expect(expr).toContain(
      `${RECORDED.sessions}{job=~"$job", gen_ai_agent_name=~"$agent", bbx_rules!~"$rules", bbx_fleet=~"$fleet"}`,
    );
  });
});
