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
});
