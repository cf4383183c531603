import { generateText, isStepCount, tool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createPlan } from './plan.ts';
import { scriptedModel } from './scripted-model.ts';

const run = async (execute: (call: number) => unknown, steps = 2) => {
  let calls = 0;
  const search = tool({
    inputSchema: z.object({ q: z.string() }),
    execute: () => {
      calls += 1;
      return execute(calls);
    },
  });
  const plan = createPlan({ tools: ['search'], steps, input: (_, n) => ({ q: String(n) }) });
  const { text } = await generateText({
    model: scriptedModel(plan, 0),
    tools: { search },
    prompt: 'Go.',
    stopWhen: isStepCount(20),
  });
  return { text, calls, done: plan.done };
};

test('calls tools in the loop of the AI SDK until the plan is done', async () => {
  expect(await run(() => 'found')).toEqual({ text: 'All done.', calls: 2, done: true });
});

test('asks again after a tool error', async () => {
  const flaky = (call: number): string => {
    if (call < 4) throw new Error('ECONNREFUSED');
    return 'found';
  };
  expect(await run(flaky)).toEqual({ text: 'All done.', calls: 4, done: true });
});

test('takes an error result of MCP as no answer', async () => {
  const flaky = (call: number) => ({ isError: call < 3, content: [] });
  expect(await run(flaky, 1)).toMatchObject({ calls: 3, done: true });
});

test('stops when it is told that tool calls are paused', async () => {
  const paused = (): never => {
    throw new Error('Tool calls are paused: call no more tools.');
  };
  expect(await run(paused)).toEqual({ text: 'I stop here: tool calls are paused.', calls: 1, done: false });
});
