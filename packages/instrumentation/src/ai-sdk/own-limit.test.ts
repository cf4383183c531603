import { setTimeout as sleep } from 'node:timers/promises';
import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardTools } from './ai-sdk.ts';
import { breakerPrepareStep } from './prepare-step.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** A run whose model thinks for `thinkMs` and asks for the tool, which hangs. */
const outcomesOf = async (timeout: object, { thinkMs, turns = 1 }: { thinkMs: number; turns?: number }) => {
  const { session, outcomes } = watchedSession();
  let turn = 0;
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      await sleep(thinkMs);
      turn += 1;
      const call = { type: 'tool-call' as const, toolCallId: `${turn}`, toolName: 'search', input: '{}' };
      const content = turn > turns ? [{ type: 'text' as const, text: 'Done.' }] : [call];
      const unified = turn > turns ? ('stop' as const) : ('tool-calls' as const);
      return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
  });
  const search = tool({
    inputSchema: z.object({}),
    execute: async (_, { abortSignal }) =>
      sleep(5_000, 'found', { ...(abortSignal && { signal: abortSignal }), ref: false }),
  });
  const tools = guardTools({ search }, session);
  await generateText({
    model,
    tools,
    prompt: 'p',
    stopWhen: isStepCount(5),
    prepareStep: breakerPrepareStep(session),
    ...timeout,
  }).catch(() => {});
  return outcomes;
};

const OVER = ['search: ignored, cancelled'];

test.each([
  ['totalMs', () => ({ timeout: { totalMs: 500 } })],
  ['stepMs', () => ({ timeout: { stepMs: 500 } })],
  ['a number', () => ({ timeout: 500 })],
  ['a signal', () => ({ abortSignal: AbortSignal.timeout(500) })],
])('O10: the deadline of a run costs the tool nothing that happens to run: %s', async (_, limit) => {
  expect(await outcomesOf(limit(), { thinkMs: 300 })).toEqual(OVER);
});

test('O10: toolMs is the limit of the tool, also for the first call, and whatever the run may take', async () => {
  expect(await outcomesOf({ timeout: { toolMs: 200 } }, { thinkMs: 0 })).toEqual(['search: failure, timeout']);
  const twice = await outcomesOf({ timeout: { toolMs: 200 } }, { thinkMs: 300, turns: 2 });
  expect(twice[1]).toBe('search: failure, timeout');
});
