import { getEventListeners } from 'node:events';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { expect, test, vi } from 'vitest';
import { watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { ask, asking, failing, HANGING_MS, hanging, refusedConnection, type Suite } from './contract-suite.ts';
import type { ToolBody } from './harness.ts';

/** How one call of a tool ends. */
export const calls = ({ harness, run, testIf }: Suite): void => {
  test('calls a tool that works, and the model reads its result', async () => {
    const watched = watchedSession();
    const search = vi.fn(async ({ q }: { q: string }) => `found ${q}`);
    const { text, heard } = await run({ session: watched.session, tools: { search }, script: [[ask('x')], 'Done.'] });
    expect(text).toBe('Done.');
    expect(heard).toEqual([expect.stringContaining('found x')]);
    expect(search).toHaveBeenCalledOnce();
    expect(watched.decisions).toEqual(['search: call']);
    expect(watched.outcomes).toEqual(['search: success']);
  });

  test('E3: falsy results and objects are successes too', async () => {
    const watched = watchedSession();
    const answers: unknown[] = [0, '', false, { rows: [] }];
    const search = async () => answers.shift();
    const { text, heard } = await run({
      session: watched.session,
      tools: { search },
      script: [...asking(4), 'Done.'],
    });
    expect(text).toBe('Done.');
    expect(heard).toHaveLength(4);
    expect(watched.outcomes).toEqual(Array(4).fill('search: success'));
  });

  test('a tool that throws is a failure, and the loop continues', async () => {
    const watched = watchedSession();
    const { text, heard } = await run({
      session: watched.session,
      tools: { search: failing },
      script: [[ask('x')], 'Done.'],
    });
    expect(text).toBe('Done.');
    expect(heard).toHaveLength(1);
    if (harness.lacks.errorText === undefined) expect(heard[0]).toContain('ECONNREFUSED');
    expect(watched.outcomes).toEqual(['search: failure, network']);
  });

  test('a tool that throws synchronously is a failure too', async () => {
    const watched = watchedSession();
    const search = () => {
      throw refusedConnection();
    };
    const { text } = await run({ session: watched.session, tools: { search }, script: [[ask('x')], 'Done.'] });
    expect(text).toBe('Done.');
    expect(watched.outcomes).toEqual(['search: failure, network']);
  });

  test('O2: a thrown HTTP error is classified by its status', async () => {
    const watched = watchedSession();
    const search = async () => {
      throw Object.assign(new Error('Too many requests'), { status: 429 });
    };
    const { text } = await run({ session: watched.session, tools: { search }, script: [[ask('x')], 'Done.'] });
    expect(text).toBe('Done.');
    expect(watched.outcomes).toEqual(['search: failure, rate_limit']);
  });

  testIf(['inBandErrors'], 'O2: a returned error is classified by its text', async () => {
    const watched = watchedSession();
    const answers = [harness.inBand('HTTP 503 Service Unavailable'), harness.inBand('unknown order id')];
    const search = async () => answers.shift();
    const { heard } = await run({ session: watched.session, tools: { search }, script: [...asking(2), 'Done.'] });
    expect(heard).toEqual([expect.stringContaining('503'), expect.stringContaining('unknown order id')]);
    expect(watched.outcomes).toEqual(['search: failure, server', 'search: ignored, tool_error']);
  });

  testIf(['invalidInput'], 'O1: arguments that the schema rejects cost nothing, and never reach the tool', async () => {
    const watched = watchedSession();
    const search = vi.fn(async () => 'found');
    const { text } = await run({ session: watched.session, tools: { search }, script: [[ask(5)], 'Done.'] });
    expect(text).toBe('Done.');
    expect(search).not.toHaveBeenCalled();
    expect(watched.outcomes.filter((one) => one !== 'search: ignored, invalid_input')).toEqual([]);
    expect(watched.session.view().budget.consumed).toBe(0);
    expect(watched.session.acquire('search').decision).toBe('call');
  });

  testIf(['unknownTool'], 'a tool name that the model made up gets no circuit and costs nothing', async () => {
    const watched = watchedSession();
    const search = async () => 'found';
    const script = [[ask('x', 'made_up')], [ask('x')], 'Done.'];
    const { text } = await run({ session: watched.session, tools: { search }, script });
    expect(text).toBe('Done.');
    expect(watched.session.peek('made_up')).toBeUndefined();
    expect(watched.session.view().budget.consumed).toBe(0);
    expect(watched.outcomes).toContain('search: success');
  });

  testIf(['timeoutMs'], 'a tool that hangs fails at our timeout, and the loop continues', async () => {
    const watched = watchedSession();
    const signals: (AbortSignal | undefined)[] = [];
    const search: ToolBody = (_, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const { text } = await run({
      session: watched.session,
      tools: { search },
      script: [[ask('x')], 'Done.'],
      timeoutMs: HANGING_MS,
    });
    expect(text).toBe('Done.');
    expect(watched.outcomes).toEqual(['search: failure, timeout']);
    if (harness.lacks.toolSignal === undefined) expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  testIf(['frameworkTimeout'], "a tool that hangs fails at the framework's own timeout", async () => {
    const watched = watchedSession();
    await run({
      session: watched.session,
      tools: { search: hanging },
      script: [[ask('x')], 'Done.'],
      frameworkTimeoutMs: HANGING_MS,
    }).catch(() => {});
    await watched.settled(1);
    expect(watched.outcomes).toEqual(['search: failure, timeout']);
  });

  testIf(['abort'], "O1: the caller's abort costs nothing", async () => {
    const watched = watchedSession();
    const caller = new AbortController();
    const search: ToolBody = () => {
      setTimeout(() => caller.abort(), 1);
      return new Promise(() => {});
    };
    const script: readonly ScriptedStep[] = [[ask('x')], 'Done.'];
    await run({ session: watched.session, tools: { search }, script, signal: caller.signal }).catch(() => {});
    await watched.settled(1);
    expect(watched.outcomes).toEqual(['search: ignored, cancelled']);
    expect(watched.session.view().budget.consumed).toBe(0);
  });

  testIf(['callersSignal'], "leaves no listener on the caller's signal, which may outlive the run", async () => {
    const watched = watchedSession();
    const { signal } = new AbortController();
    const script: readonly ScriptedStep[] = [...asking(2), 'Done.'];
    const answers = [async () => 'found', failing];
    const search: ToolBody = (...call) => answers.shift()?.(...call);
    await run({ session: watched.session, tools: { search }, script, signal });
    expect(watched.outcomes).toEqual(['search: success', 'search: failure, network']);
    expect(getEventListeners(signal, 'abort').map(String)).toEqual([]);
  });

  testIf(['generators'], 'a tool that streams its result is followed to its end', async () => {
    const watched = watchedSession();
    let calls = 0;
    const search: ToolBody = async function* () {
      calls += 1;
      yield 'searching';
      if (calls > 1) throw refusedConnection();
      yield 'found';
    };
    const { text, heard } = await run({
      session: watched.session,
      tools: { search },
      script: [...asking(2), 'Done.'],
    });
    expect(text).toBe('Done.');
    expect(heard[0]).toContain('found');
    expect(watched.outcomes).toEqual(['search: success', 'search: failure, network']);
  });
};
