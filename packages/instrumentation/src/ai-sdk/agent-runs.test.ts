/** How long a run is followed, and what of it is told from what: for breakerTelemetry. */

import { type ScriptedStep, scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, isStepCount, registerTelemetry, streamText, type ToolSet } from 'ai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { withSession } from '../session.ts';
import { ask, broken, search } from '../test-support/sdk-loops.ts';
import { watchedBox } from '../test-support/watched-box.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerPrepareStep, breakerTelemetry } from './ai-sdk.ts';

const MINUTE_MS = 60_000;
const stopWhen = isStepCount(20);
/** A promise that the test fulfils. */
const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
};
const hanging = () => new Promise(() => {});

const run = (tools: ToolSet, steps: readonly ScriptedStep[], more: object = {}) =>
  generateText({ model: scriptedModel(steps).model, tools, prompt: 'go', stopWhen, ...more });
const stream = (tools: ToolSet, steps: readonly ScriptedStep[], more: object = {}) =>
  streamText({ model: scriptedModel(steps).model, tools, prompt: 'go', stopWhen, onError: () => {}, ...more });
/** Reads a stream as far as its first result of a tool, and leaves it, as a browser does that goes away. */
const leave = async (left: ReturnType<typeof stream>) => {
  for await (const { type } of left.fullStream) if (type === 'tool-result') break;
};

/** The integration's own events, without an SDK around. */
const followed = (watched: ReturnType<typeof watchedBox>) => {
  const { onStart, executeTool } = breakerTelemetry(watched.box);
  const start = (callId: string, operationId = 'ai.streamText') => onStart({ callId, operationId });
  const call = (callId: string, execute: () => Promise<unknown> = async () => 1) =>
    executeTool({ callId, toolCallId: 'call-1', toolCall: { toolName: 'search', toolCallId: 'call-1' }, execute });
  return { start, call };
};

beforeEach(() => {
  globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined;
  vi.useFakeTimers({ toFake: ['performance'] });
});

afterEach(() => {
  globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined;
  vi.useRealTimers();
  vi.resetModules();
});

describe('a stream that its reader abandoned', () => {
  test('the session ends when the next run begins, after 10 minutes without activity', async () => {
    const { box, sessions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    await leave(stream({ search: search(() => 'found') }, [[ask('a')], [ask('b')], 'Done.']));
    vi.advanceTimersByTime(10 * MINUTE_MS - 1);
    await run({}, ['Done.']);
    expect(sessions[0]?.end).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    await run({}, ['Done.']);
    expect(sessions[0]?.end).toHaveBeenCalledOnce();
  });

  test('the session ends at once if the reader aborts', async () => {
    const { box, sessions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    const caller = new AbortController();
    const tools = { search: search(() => 'found') };
    const left = stream(tools, [[ask('a')], [ask('b')], 'Done.'], { abortSignal: caller.signal });
    for await (const { type } of left.fullStream) if (type === 'tool-result') caller.abort();
    expect(sessions[0]?.end).toHaveBeenCalledOnce();
  });
});

test('a run is not abandoned while one of its tools is running', async () => {
  const watched = watchedBox();
  const { start, call } = followed(watched);
  start('long');
  const working = gate();
  const called = call('long', () => working.opened);
  vi.advanceTimersByTime(60 * MINUTE_MS);
  start('next');
  expect(watched.sessions[0]?.end).not.toHaveBeenCalled();
  working.open();
  await called;
  vi.advanceTimersByTime(10 * MINUTE_MS);
  start('one more');
  expect(watched.sessions[0]?.end).toHaveBeenCalledOnce();
});

test('a run of generateText is not abandoned, because a model may need long to answer', async () => {
  const watched = watchedBox();
  const { start, call } = followed(watched);
  start('slow', 'ai.generateText');
  await call('slow');
  vi.advanceTimersByTime(60 * MINUTE_MS);
  start('next');
  expect(watched.sessions[0]?.end).not.toHaveBeenCalled();
});

test('beyond 10,000 runs, the run that was inactive for longest ends, not the oldest', async () => {
  const watched = watchedBox();
  const { start, call } = followed(watched);
  for (const callId of ['first', 'second']) start(callId);
  for (const callId of ['second', 'first']) await call(callId);
  for (let others = 0; others < 9_999; others += 1) start(`${others}`);
  expect(watched.sessions.map(({ end }) => vi.mocked(end).mock.calls.length)).toEqual([1, 0]);
});

test('a call that starts after its run has ended is made without a decision, and begins no run', async () => {
  const { box, sessions, decisions } = watchedBox();
  registerTelemetry(breakerTelemetry(box));
  const caller = new AbortController();
  const called = gate();
  const work = vi.fn(async () => called.open());
  const left = gate();
  const onToolExecutionStart = async () => {
    caller.abort();
    await left.opened;
  };
  const aborted = stream({ search: search(work) }, [[ask('a')], 'Done.'], {
    abortSignal: caller.signal,
    onToolExecutionStart,
  });
  await aborted.consumeStream();
  left.open();
  await called.opened;
  expect([decisions, sessions]).toEqual([[], []]);
});

describe('O1: a call in progress when its stream is stopped', () => {
  const stopped = async (more: object, onCall = (): void => {}) => {
    const watched = watchedBox();
    registerTelemetry(breakerTelemetry(watched.box));
    const tools = {
      search: search(() => {
        queueMicrotask(onCall);
        return hanging();
      }),
    };
    await Promise.all([stream(tools, [[ask('x')], 'Done.'], more).consumeStream(), watched.settled(1)]);
    expect(watched.sessions[0]?.end).toHaveBeenCalledOnce();
    return watched.outcomes;
  };

  test.each([undefined, new Error('The tab was closed'), 'closed'])('C8: costs nothing: %s', async (reason) => {
    const caller = new AbortController();
    const outcomes = await stopped({ abortSignal: caller.signal }, () => caller.abort(reason));
    expect(outcomes).toEqual(['search: ignored, cancelled']);
  });

  test("O10: costs nothing by the run's own timeout", async () => {
    expect(await stopped({ timeout: { totalMs: 500 } })).toEqual(['search: ignored, cancelled']);
  });
});

test('F2: each of two calls with one id is settled by its own result', async () => {
  const watched = watchedSession({ tools: { search: { failureThreshold: 1, serveStaleMs: MINUTE_MS } } });
  const { onStart, executeTool, onToolExecutionEnd } = breakerTelemetry(watched.session);
  onStart({ callId: 'run', operationId: 'ai.generateText' });
  const calls = ['a', 'b'].map((q) => ({ toolName: 'search', toolCallId: 'call_0', input: { q } }));
  const made = calls.map((toolCall) =>
    executeTool({ callId: 'run', toolCallId: 'call_0', toolCall, execute: async () => {} }),
  );
  await Promise.all(made);
  for (const toolCall of calls.toReversed()) {
    const toolOutput = { type: 'tool-result', output: `found ${toolCall.input.q}` };
    onToolExecutionEnd({ callId: 'run', toolCall, toolOutput });
  }
  expect(watched.outcomes).toEqual(['search: success', 'search: success']);
  watched.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  expect(watched.session.acquire('search', { input: { q: 'a' } }).route).toMatchObject({ result: 'found a' });
});

describe('P1: session steps', () => {
  test('come from the outermost run: an agent inside a tool is part of its turn', async () => {
    const { box, session, decisions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    const inner = () => run({ search: broken }, [[ask('a')], [ask('b')], 'In.']).then(({ text }) => text);
    await withSession(session, () => run({ agent: search(inner) }, [[ask('x', 'agent')], 'Out.']));
    expect(decisions).toEqual(['agent: call', 'search: call', 'search: call']);
    expect(session.view().step).toBe(2);
  });

  test('come from each run in sequence, after an abandoned stream too', async () => {
    const { session } = watchedSession();
    registerTelemetry(breakerTelemetry(session));
    const tools = { search: search(() => 'found') };
    await leave(stream(tools, [[ask('a')], [ask('b')], 'Done.']));
    const before = session.view().step;
    await run(tools, [[ask('a')], 'Done.']);
    expect(session.view().step - before).toBe(2);
  });
});

describe('two copies of the package', () => {
  const copyOf = async () => {
    vi.resetModules();
    return await import('./ai-sdk.ts');
  };
  const threeTurns: readonly ScriptedStep[] = [[ask('a')], [ask('b')], 'Done.'];

  test('decide and count once if both are registered', async () => {
    const { box, session, decisions, outcomes } = watchedBox();
    const copy = await copyOf();
    registerTelemetry(breakerTelemetry(box), copy.breakerTelemetry(box));
    await withSession(session, () => run({ search: broken }, threeTurns));
    expect(decisions).toEqual(['search: call', 'search: call']);
    expect(outcomes).toEqual(Array(2).fill('search: failure, network'));
    expect(session.view().step).toBe(3);
  });

  test('count steps once if one is registered and the other prepares the steps', async () => {
    const { box, session } = watchedBox();
    const copy = await copyOf();
    registerTelemetry(breakerTelemetry(box));
    const prepareStep = copy.breakerPrepareStep(session);
    expect(copy.breakerPrepareStep).not.toBe(breakerPrepareStep);
    await withSession(session, () => run({ search: broken }, threeTurns, { prepareStep }));
    expect(session.view().step).toBe(3);
  });
});
