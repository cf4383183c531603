import { setTimeout as sleep } from 'node:timers/promises';
import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardTools } from './ai-sdk.ts';
import { beginRun, ownLimit } from './own-limit.ts';
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

/** The first run of a process takes longer. */
beforeAll(async () => void (await outcomesOf({ timeout: 100 }, { thinkMs: 0 })));

const OVER = ['search: ignored, cancelled'];

test.each([
  ['totalMs', () => ({ timeout: { totalMs: 1_000 } })],
  ['stepMs', () => ({ timeout: { stepMs: 1_000 } })],
  ['a number', () => ({ timeout: 1_000 })],
  ['a signal', () => ({ abortSignal: AbortSignal.timeout(1_000) })],
])('O10: the deadline of a run costs the tool nothing that happens to run: %s', async (_, limit) => {
  expect(await outcomesOf(limit(), { thinkMs: 600 })).toEqual(OVER);
});

test.each([200, 320])(
  'O10: nor if the tool has used most of the time, with a model that takes %i ms',
  async (thinkMs) => {
    expect(await outcomesOf({ timeout: 1_000 }, { thinkMs })).toEqual(OVER);
  },
);

test('O10: toolMs is the limit of the tool, whatever the run may take', async () => {
  const outcomes = await outcomesOf({ timeout: { toolMs: 200 } }, { thinkMs: 300, turns: 2 });
  expect(outcomes[1]).toBe('search: failure, timeout');
});

test.each([
  [5_000, 4_999, true],
  [5_000, 5_001, false],
  [4_999, 200, false],
  [200, 50, true],
])(
  'O10: a time-out after %i ms of the only call, and %i ms elsewhere: is it the limit of the tool? %s',
  (ranMs, elsewhereMs, own) => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const { session } = watchedSession();
    beginRun(session);
    const isOwn = ownLimit(session, new AbortController().signal);
    now.mockReturnValue(ranMs + elsewhereMs);
    expect(isOwn(ranMs, new DOMException('late', 'TimeoutError'))).toBe(own);
    now.mockRestore();
  },
);
