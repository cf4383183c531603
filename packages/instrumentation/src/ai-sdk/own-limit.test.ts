import { setTimeout as sleep } from 'node:timers/promises';
import { generateText, isStepCount, streamText, tool } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardTools } from './ai-sdk.ts';
import { beginRun, noteRun, ownLimit } from './own-limit.ts';
import { breakerPrepareStep } from './prepare-step.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

const search = tool({
  inputSchema: z.object({}),
  execute: async (_, { abortSignal }) =>
    sleep(5_000, 'found', { ...(abortSignal && { signal: abortSignal }), ref: false }),
});

/** A run whose model thinks for `thinkMs` and asks once for the tool, which hangs. */
const runIn = async (
  session: Parameters<typeof guardTools>[1],
  limits: object,
  { thinkMs = 0, streams = false, counted = true } = {},
) => {
  const call = { type: 'tool-call' as const, toolCallId: '1', toolName: 'search', input: '{}' };
  const finishReason = { unified: 'tool-calls' as const, raw: undefined };
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      await sleep(thinkMs);
      return { content: [call], finishReason, usage, warnings: [] };
    },
    doStream: async () => ({
      stream: convertArrayToReadableStream([call, { type: 'finish' as const, finishReason, usage }]),
    }),
  });
  const prepared = counted ? { prepareStep: breakerPrepareStep(session) } : {};
  const tools = guardTools({ search }, session);
  const settings = { model, tools, prompt: 'p', stopWhen: isStepCount(1), ...prepared, ...limits };
  if (streams) await streamText({ ...settings, onError: () => {} }).consumeStream();
  else await generateText(settings).catch(() => {});
};

const outcomesOf = async (limits: object, options?: Parameters<typeof runIn>[2]) => {
  const { session, outcomes } = watchedSession();
  await runIn(session, limits, options);
  return outcomes;
};

/** The first run of a process takes longer. */
beforeAll(async () => void (await outcomesOf({ timeout: 1_000 })));

const OVER = ['search: ignored, cancelled'];
const LATE = ['search: failure, timeout'];

test.each([
  ['totalMs', () => ({ timeout: { totalMs: 300 } })],
  ['stepMs', () => ({ timeout: { stepMs: 300 } })],
  ['a number', () => ({ timeout: 300 })],
  ['a signal', () => ({ abortSignal: AbortSignal.timeout(300) })],
  ['a later toolMs', () => ({ timeout: { totalMs: 300, toolMs: 1_000 } })],
])('O10: the deadline of a run costs the tool nothing that happens to run: %s', async (_, limit) => {
  expect(await outcomesOf(limit(), { thinkMs: 40 })).toEqual(OVER);
  expect(await outcomesOf(limit(), { streams: true })).toEqual(OVER);
});

test('O10: nor do the deadlines of runs of a session at the same time', async () => {
  const { session, outcomes } = watchedSession();
  await Promise.all([1, 2, 3].map(() => runIn(session, { timeout: 300 })));
  expect(outcomes).toEqual([...OVER, ...OVER, ...OVER]);
});

test.each([
  ['alone', {}, {}],
  ['within the limit of the run', { totalMs: 10_000 }, { thinkMs: 40 }],
  ['without breakerPrepareStep', {}, { counted: false }],
  ['of a stream', { stepMs: 10_000 }, { streams: true }],
])('O10: toolMs is the limit of the tool: %s', async (_, more, options) => {
  expect(await outcomesOf({ timeout: { toolMs: 50, ...more } }, options)).toEqual(LATE);
});

test("O10: the tool's own onInputAvailable is still called", async () => {
  const { session } = watchedSession();
  const onInputAvailable = vi.fn();
  const { own } = guardTools({ own: { ...search, onInputAvailable } }, session);
  await own.onInputAvailable?.({ input: {}, toolCallId: '1', messages: [], context: {} });
  expect(onInputAvailable).toHaveBeenCalledOnce();
});

test.each([
  [5_000, 4_999, true],
  [5_000, 5_001, false],
  [4_999, 200, false],
])(
  'O10: the time of a run ends after %i ms of a call, and %i ms elsewhere: is it the fault of the tool? %s',
  (ranMs, elsewhereMs, own) => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const { session } = watchedSession();
    const input = {};
    const ended = AbortSignal.abort();
    beginRun(session);
    noteRun(session, input, ended);
    now.mockReturnValue(ranMs + elsewhereMs);
    const late = new DOMException('late', 'TimeoutError');
    expect(ownLimit(input, AbortSignal.abort())(ranMs, late)).toBe(own);
    const step = new DOMException('Step timeout of 9000ms exceeded', 'TimeoutError');
    expect(ownLimit(input, AbortSignal.abort())(ranMs, step)).toBe(false);
    now.mockRestore();
  },
);

test('O10: a run that begins later in the session does not shorten the time of one before it', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const { session } = watchedSession();
  beginRun(session);
  now.mockReturnValue(6_000);
  beginRun(session);
  const input = {};
  noteRun(session, input, AbortSignal.abort());
  now.mockReturnValue(11_500);
  expect(ownLimit(input, AbortSignal.abort())(5_500, new DOMException('late', 'TimeoutError'))).toBe(false);
  now.mockRestore();
});

test('O10: the end of the time of the session (D4) is not toolMs', () => {
  const { session } = watchedSession();
  const input = {};
  noteRun(session, input, undefined);
  const late = new DOMException('late', 'TimeoutError');
  expect(ownLimit(input, new AbortController().signal)(50, late)).toBe(false);
  expect(ownLimit(input, undefined)(50, late)).toBe(false);
  expect(ownLimit(input, AbortSignal.abort())(50, late)).toBe(true);
});
