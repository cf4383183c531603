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
    const expr = exprOf(UID.toolDetail, 'Time to recovery');
    const rest = { expr, at: '1h', range: '1h', rateInterval: '4m', variables: byAgent };
    await proved({ ...rest, samples: { ...circuits, ...opened }, gives: [{ labels: '{}', value: 480 }] });
    await proved({ ...rest, samples: circuits, gives: [{ labels: '{}', value: 0 }] });
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
