import { createBreakerbox } from '@breakerbox/core';
import { Agent, type Model, type ModelRequest, Runner, tool } from '@openai/agents';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { breakerSteps, guardToolFactory } from './openai-agents.ts';

/** A model that calls a tool whenever it has one, and throws as the SDK's own models do if it has to and has none. */
const eagerModel = () => {
  const choices: unknown[] = [];
  const getResponse = async ({ tools, modelSettings: { toolChoice } }: ModelRequest) => {
    if (toolChoice === 'required' && tools.length === 0) throw new Error('"required" requires at least one tool.');
    choices.push(tools.length === 0 ? 'no tools' : toolChoice);
    const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const said = { type: 'message', role: 'assistant', status: 'completed' };
    const call = { type: 'function_call', callId: `c${choices.length}`, name: 'search', arguments: '{}' };
    return {
      usage,
      output: [
        tools.length === 0
          ? { ...said, content: [{ type: 'output_text', text: 'I stop.' }] }
          : { ...call, status: 'completed' },
      ],
    };
  };
  return { model: { getResponse } as unknown as Model, choices };
};

const forced = (more: object) => {
  const session = createBreakerbox({ agent: 'lister', limits: { calls: 2 } }).session();
  const { model, choices } = eagerModel();
  const execute = async () => 'r';
  const guarded = guardToolFactory(tool, session);
  const search = guarded({ name: 'search', description: 's', parameters: z.object({}), execute });
  const other = guarded({ name: 'other', description: 's', parameters: z.object({}), execute });
  const agent = new Agent({
    name: 'a',
    model,
    tools: [other, search],
    modelSettings: { toolChoice: 'required' },
    ...more,
  });
  const runner = new Runner({ tracingDisabled: true });
  const run = () => runner.run(agent, 'Go.', { callModelInputFilter: breakerSteps(session), maxTurns: 9 });
  return { run, choices };
};

test('D6: an agent that has to call a tool in its first turn answers, also in a session that is paused', async () => {
  const { run, choices } = forced({});
  expect((await run()).finalOutput).toBe('I stop.');
  expect(choices.splice(0)).toEqual(['required', undefined, undefined, 'no tools']);
  expect((await run()).finalOutput).toBe('I stop.');
  expect(choices).toEqual(['required', 'no tools']);
});

test('D6: an agent that has to call a tool in each turn ends by its own rule', async () => {
  const { run, choices } = forced({ resetToolChoice: false, toolUseBehavior: 'stop_on_first_tool' });
  for (let turn = 1; turn <= 2; turn += 1) expect((await run()).finalOutput).toMatch(/^r/);
  for (let turn = 3; turn <= 4; turn += 1) expect((await run()).finalOutput).toContain('paused');
  expect(choices).toEqual(Array.from({ length: 4 }, () => 'required'));
});
