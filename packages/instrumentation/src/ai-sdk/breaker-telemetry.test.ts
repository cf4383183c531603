import { OpenTelemetry } from '@ai-sdk/otel';
import { BreakerboxUsageError, type Session } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { type ScriptedStep, scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { embed, generateText, isStepCount, registerTelemetry, streamText, ToolLoopAgent, type ToolSet } from 'ai';
import { MockEmbeddingModelV4 } from 'ai/test';
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { guard } from '../guard.ts';
import { currentSession, withSession } from '../session.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { ask, broken, failing, refused, search } from '../test-support/sdk-loops.ts';
import { startTracing, stopTracing } from '../test-support/tracing.ts';
import { watchedBox } from '../test-support/watched-box.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerTelemetry, guardTools } from './ai-sdk.ts';

const threeTimes: readonly ScriptedStep[] = [[ask('a')], [ask('b')], [ask('c')], [ask('d')], 'Done.'];
const stopWhen = isStepCount(20);

/** A run without a word of ours; what the model heard. */
const run = async (tools: ToolSet, steps: readonly ScriptedStep[] = threeTimes, more: object = {}) => {
  const { model, heard } = scriptedModel(steps);
  await generateText({ model, tools, prompt: 'go', stopWhen, ...more });
  return heard();
};

beforeEach(() => {
  globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined;
});

afterEach(() => {
  globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined;
  stopTracing();
  diag.disable();
});

describe('breakerTelemetry, registered once', () => {
  test('guards a run that does not use Breakerbox: it creates a session, counts steps and ends it', async () => {
    const { box, sessions, decisions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    const execute = vi.fn(() => Promise.reject(refused));
    const heard = await run({ search: search(execute) });
    expect(execute).toHaveBeenCalledTimes(3);
    expect(heard[3]).toMatch(
      /^ToolUnavailableError: Tool 'search' is unavailable: the last calls failed \(network\)\./,
    );
    expect(decisions).toEqual([...Array(3).fill('search: call'), 'search: skip']);
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.view().step).toBe(5);
    expect(sessions[0]?.end).toHaveBeenCalledOnce();
  });

  test('guards the next run too, in streams and agents', async () => {
    const { box, sessions, decisions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    await run({ search: broken });
    const { model } = scriptedModel(threeTimes);
    await streamText({ model, tools: { search: broken }, prompt: 'go', stopWhen }).consumeStream();
    await new ToolLoopAgent({ model: scriptedModel(threeTimes).model, tools: { search: broken } }).generate({
      prompt: 'go',
    });
    expect(decisions).toEqual(
      Array(3)
        .fill([...Array(3).fill('search: call'), 'search: skip'])
        .flat(),
    );
    expect(sessions).toHaveLength(3);
    for (const { end } of sessions) expect(end).toHaveBeenCalledOnce();
  });

  test('creates no session if no tool is called', async () => {
    const { box, sessions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    await run({ search: broken }, ['Done.']);
    const doEmbed = async () => ({ embeddings: [[1]], warnings: [] });
    await embed({ model: new MockEmbeddingModelV4({ doEmbed } as never), value: 'x' });
    expect(sessions).toEqual([]);
  });

  test('uses the session of withSession, counts its steps, and leaves it open', async () => {
    const { box, session, sessions, decisions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    await withSession(session, () => run({ search: broken }));
    expect(decisions).toHaveLength(4);
    expect(session.view().step).toBe(5);
    expect(session.peek('search')).toMatchObject({ state: 'open' });
    expect(sessions).toEqual([]);
  });

  test('accepts a session, or a function that returns one', async () => {
    const [one, two] = [watchedSession(), watchedSession()];
    await run({ search: broken }, threeTimes, { telemetry: { integrations: breakerTelemetry(one.session) } });
    await run({ search: broken }, threeTimes, { telemetry: { integrations: breakerTelemetry(() => two.session) } });
    for (const { decisions, session } of [one, two]) {
      expect(decisions).toHaveLength(4);
      expect(session.view().step).toBe(5);
      expect(session.peek('search')).toMatchObject({ state: 'open' });
    }
  });

  test('D1: a run inside a tool is a sub-agent of the session of that tool', async () => {
    const { box, sessions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    await run({ agent: search(() => run({ search: broken })) }, [[ask('x', 'agent')], 'Done.']);
    expect(sessions.map((session) => session.peek('search')?.state)).toEqual(['open']);
    expect(report(sessions[0] as Session).children).toMatchObject([{ name: 'agent', ended: true, used: { calls: 3 } }]);
    for (const { end } of sessions) expect(end).toHaveBeenCalledOnce();
  });

  describe('never decides twice', () => {
    test('if guardTools guards the tools', async () => {
      const { box, session, sessions, decisions } = watchedBox();
      registerTelemetry(breakerTelemetry(box));
      const guarded = guardTools({ search: broken }, session);
      await run({ search: { ...guarded.search } });
      expect(decisions).toHaveLength(4);
      expect(session.peek('search')).toMatchObject({ state: 'open' });
      expect(sessions).toEqual([]);
    });

    test('if the tools are guarded with currentSession: they use the session of the run', async () => {
      const { box, sessions, decisions } = watchedBox();
      registerTelemetry(breakerTelemetry(box));
      const tools = guardTools({ search: broken }, currentSession);
      await run(tools);
      const { model } = scriptedModel(threeTimes);
      await streamText({ model, tools, prompt: 'go', stopWhen }).consumeStream();
      expect(decisions).toEqual(
        Array(2)
          .fill([...Array(3).fill('search: call'), 'search: skip'])
          .flat(),
      );
      expect(sessions.map((session) => session.view().step)).toEqual([5, 5]);
    });

    test('if it is registered twice: the later registration follows the run', async () => {
      const [first, second] = [watchedBox(), watchedBox()];
      registerTelemetry(breakerTelemetry(first.box), breakerTelemetry(second.box));
      await run({ search: broken });
      expect([first.decisions.length, second.decisions.length]).toEqual([0, 4]);
      expect([first.sessions.length, second.sessions.length]).toEqual([0, 1]);
    });

    test('B3: a tool that failed because a call of guard in the same session was rejected costs nothing', async () => {
      const { box, outcomes } = watchedBox({ tools: { inner: { failureThreshold: 1 } } });
      registerTelemetry(breakerTelemetry(box));
      const inner = guard(currentSession, 'inner', () => Promise.reject(refused));
      await run({ search: search(() => inner(undefined)) }, [[ask('a')], [ask('b')], 'Done.']);
      const failed = ['inner: failure, network', 'search: ignored, network'];
      expect(outcomes).toEqual([...failed, 'search: ignored, denied']);
    });
  });

  test('F2: adds the last good result to the rejection', async () => {
    const { box } = watchedBox({ tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } });
    registerTelemetry(breakerTelemetry(box));
    const heard = await run({ search: search(failing({ hits: 1 })) }, [[ask('x')], [ask('y')], [ask('x')], 'Done.']);
    expect(heard[2]).toMatch(/Its last good result is given instead.*\n\{"hits":1,"freshness":"stale: retrieved/);
  });

  test.each([
    [new DOMException('over', 'TimeoutError'), 'search: failure, timeout'],
    [new DOMException('left', 'AbortError'), 'search: ignored, cancelled'],
  ])('O1: a tool that obeys its signal: %s', async (reason, expected) => {
    const { box, outcomes, sessions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    const caller = new AbortController();
    const heeding = search((_, { abortSignal }) => {
      queueMicrotask(() => caller.abort(reason));
      return new Promise((_resolve, reject) =>
        abortSignal?.addEventListener('abort', () => reject(abortSignal.reason)),
      );
    });
    await run({ search: heeding }, [[ask('x')], 'Done.'], { abortSignal: caller.signal }).catch(() => {});
    expect(outcomes).toEqual([expected]);
    expect(sessions[0]?.end).toHaveBeenCalledOnce();
  });

  test('an aborted run ends its session', async () => {
    const { box, sessions } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    const onEnd = () => {
      throw refused;
    };
    await run({ search: broken }, [[ask('x')], 'Done.'], {
      prepareStep: ({ stepNumber }: { stepNumber: number }) => (stepNumber ? onEnd() : {}),
    }).catch(() => {});
    expect(sessions[0]?.end).toHaveBeenCalledOnce();
  });

  test('O5, F2: without recorded inputs, calls cannot be told apart and are never treated as equal', async () => {
    const { box, decisions } = watchedBox({ defaults: { failureThreshold: 9 }, budget: { failures: 9 } });
    registerTelemetry(breakerTelemetry(box));
    await run({ search: broken }, threeTimes, { telemetry: { recordInputs: false } });
    expect(decisions).toEqual(Array(4).fill('search: call'));
  });

  test('O2: without recorded outputs, every returned result is a success', async () => {
    const { box, outcomes } = watchedBox();
    registerTelemetry(breakerTelemetry(box));
    const tools = { search: search(() => ({ error: 'HTTP 503' })) };
    await run(tools, [[ask('x')], 'Done.'], { telemetry: { recordOutputs: false } });
    await run(tools, [[ask('x')], 'Done.']);
    expect(outcomes).toEqual(['search: success', 'search: failure, server']);
  });

  test('F2: without recorded outputs, there is no last good result', async () => {
    const { box } = watchedBox({ tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } });
    registerTelemetry(breakerTelemetry(box));
    const steps = [[ask('x')], [ask('y')], [ask('x')], 'Done.'];
    const heard = await run({ search: search(failing('found')) }, steps, { telemetry: { recordOutputs: false } });
    expect(heard[2]).toMatch(/^ToolUnavailableError.*Continue without it/);
  });

  test('our span is a child of the span of @ai-sdk/otel that is registered later', async () => {
    const traced = startTracing();
    registerTelemetry(breakerTelemetry(watchedSession().box), new OpenTelemetry());
    await run({ search: search(() => 1) }, [[ask('x')], 'Done.']);
    expect(traced.paths()).toContainEqual(expect.stringMatching(/execute_tool search > breakerbox\.call search$/));
    expect(traced.attributes('execute_tool search')).toHaveLength(1);
  });

  test('E5: without a session, runs continue unguarded, and that is reported', async () => {
    const heard = listenToDiag();
    registerTelemetry(breakerTelemetry(currentSession));
    expect(await run({ search: broken })).toHaveLength(4);
    expect(heard[0]?.[0]).toContain('the session function given to breakerTelemetry()');
    const failing = {
      ...watchedSession().box,
      session: () => {
        throw refused;
      },
    };
    registerTelemetry(breakerTelemetry(failing));
    expect(await run({ search: broken })).toHaveLength(4);
    expect(heard.at(-1)).toEqual([expect.stringContaining('the box of breakerTelemetry()'), refused]);
  });

  test('warns once that it guards nothing with AI SDK 6', () => {
    const warnings: unknown[] = [];
    const ignore = (): void => {};
    const warn = (...said: unknown[]): void => void warnings.push(said);
    const logger = { error: ignore, warn, info: ignore, debug: ignore, verbose: ignore };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    const { onStart } = breakerTelemetry(watchedSession().box);
    onStart({ tools: {} });
    onStart({ tools: {} });
    expect(warnings).toEqual([[expect.stringContaining('an AI SDK before version 7')]]);
  });

  test('rejects invalid options', () => {
    for (const source of [undefined, null, {}, 'box']) {
      expect(() => breakerTelemetry(source as never)).toThrow(BreakerboxUsageError);
    }
    expectTypeOf(registerTelemetry).toBeCallableWith(breakerTelemetry(watchedSession().session));
  });
});
