import { describe, it } from 'vitest';
import { UID } from './links.ts';
import { exprOf, proved, SOURCE } from './test-support.ts';

const PAGE = UID.fleetOverview;
const GPT = 'model:openai/gpt-5';
const CLAUDE = 'model:anthropic/claude';

const circuit = (tool: string, state: string): string =>
  `breakerbox_circuits{${SOURCE}, gen_ai_tool_name="${tool}", breakerbox_state="${state}"}`;
const answers = (tool: string, position: string): string =>
  `breakerbox_model_answers_total{${SOURCE}, gen_ai_tool_name="${tool}", breakerbox_model_position="${position}", breakerbox_model_primary="${CLAUDE}"}`;
const tokens = (tool: string, type: string): string =>
  `breakerbox_model_tokens_total{${SOURCE}, gen_ai_tool_name="${tool}", gen_ai_token_type="${type}"}`;
const row = (tool: string, value: number) => ({
  labels: `{job="j", gen_ai_agent_name="a", gen_ai_tool_name="${tool}"}`,
  value,
});

const samples = {
  [`breakerbox_sessions{${SOURCE}, breakerbox_session_state="active"}`]: '1x20',
  [circuit('search', 'closed')]: '1x20',
  [circuit(GPT, 'closed')]: '1x20',
  [circuit(CLAUDE, 'closed')]: '0x20',
  [circuit(CLAUDE, 'open')]: '1x20',
  [circuit('group:model:anthropic', 'closed')]: '0x20',
  [circuit('group:model:anthropic', 'half_open')]: '1x20',
  [answers(GPT, 'fallback')]: '_x12 1+1x8',
  [answers(CLAUDE, 'primary')]: '5x12 7x8',
  [tokens(GPT, 'input')]: '_x12 10x8',
  [tokens(GPT, 'output')]: '_x12 3x8',
  [`breakerbox_model_failures_total{${SOURCE}, gen_ai_tool_name="${CLAUDE}"}`]: '_x12 2x8',
};
const at = '20m';

describe('the models of the agents', () => {
  const of = (refId: string): string => exprOf(PAGE, 'Models in range', refId);

  it('L7: have their circuits and those of their providers, the worst first, and no tool among them', async () => {
    const gives = [row(CLAUDE, 3), row('group:model:anthropic', 2), row(GPT, 0)];
    await proved({ samples, expr: of('A'), at, gives });
  });

  it('L7: have their answers, those as a fallback, and their tokens', async () => {
    await proved({ samples, expr: of('B'), at, gives: [row(GPT, 9), row(CLAUDE, 2)] });
    await proved({ samples, expr: of('C'), at, gives: [row(GPT, 9)] });
    await proved({ samples, expr: of('D'), at, gives: [row(GPT, 13)] });
  });

  it('L7: are drawn by who answered and as what, with the calls that none answered', async () => {
    const by = (tool: string, position: string, value: number) => ({
      labels: `{gen_ai_tool_name="${tool}", breakerbox_model_position="${position}"}`,
      value,
    });
    // 9, which increase() extends to the whole window.
    const gives = [by(GPT, 'fallback', 10), by(CLAUDE, 'primary', 2)];
    await proved({ samples, expr: exprOf(PAGE, 'Who answered'), at, gives });
    const failed = [{ labels: `{gen_ai_tool_name="${CLAUDE}"}`, value: 2 }];
    await proved({ samples, expr: exprOf(PAGE, 'Calls that no model answered'), at, gives: failed });
    const types = ['input', 'output'].map((type, index) => ({
      labels: `{gen_ai_tool_name="${GPT}", gen_ai_token_type="${type}"}`,
      value: [10, 3][index] ?? 0,
    }));
    await proved({ samples, expr: exprOf(PAGE, 'Tokens of models'), at, gives: types });
  });
});

describe('the panels of tools', () => {
  it('L7: count no model as a tool', async () => {
    await proved({ samples, expr: exprOf(PAGE, 'Open circuits'), at, gives: [{ labels: '{}', value: 0 }] });
    await proved({ samples, expr: exprOf(PAGE, 'Tool health'), at, gives: [row('search', 0)] });
  });
});
