import { BreakerboxUsageError } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Kitchen, type Manners, runInPlace, runTool } from './run-tool.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { watchedSession } from './test-support/watched-session.ts';

const down = async (): Promise<string> => {
  throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
};
const manners: Manners<string> = { refuse: ({ message }) => `REFUSED ${message}` };
const request = { tool: 'search', input: { q: 'x' }, callId: 'call-1' };

const setUp = (config: Parameters<typeof watchedSession>[0] = {}, timeoutMs?: number) => {
  const watched = watchedSession(config);
  const kitchen: Kitchen = { findSession: () => watched.session, where: 'guardTools()', timeoutMs };
  return { ...watched, kitchen };
};

/** A session whose `search` is out. */
const out = (config: Parameters<typeof watchedSession>[0] = {}) => {
  const made = setUp(config);
  made.session.declare('search');
  made.session.control('search', 'forced_open');
  return made;
};

afterEach(() => {
  diag.disable();
});

describe('runTool', () => {
  test('a session function that finds none rejects the call, of which frameworks tell the model alone: diag hears of it', async () => {
    const diagnosed = listenToDiag();
    const error = new BreakerboxUsageError('no session here');
    const findSession = () => {
      throw error;
    };
    const cook = vi.fn(down);
    await expect(runTool({ findSession, where: 'guardTools()' }, request, cook, manners)).rejects.toBe(error);
    expect(cook).not.toHaveBeenCalled();
    expect(diagnosed).toEqual([['Breakerbox: guardTools(): there is no session, so the tool was not run.', error]]);
  });

  test('declares the tool, runs it with a signal and its permit, and gives the very result', async () => {
    const { kitchen, box, session, outcomes } = setUp();
    const result = { rows: [] };
    const cook = vi.fn(({ signal, permit }) => {
      expect(signal).toBeInstanceOf(AbortSignal);
      expect(permit).toMatchObject({ tool: 'search', decision: 'call' });
      return result;
    });
    await expect(runTool<unknown>(kitchen, request, cook, manners as Manners<unknown>)).resolves.toBe(result);
    expect(box.tools).toContain('search');
    expect(session.view().budget.consumed).toBe(0);
    expect(outcomes).toEqual(['search: success']);
  });

  test('E3: an error reaches the caller as it is, one that is thrown at once too', async () => {
    const { kitchen, outcomes } = setUp();
    const error = Object.assign(new Error('no'), { status: 503 });
    const atOnce = (): never => {
      throw error;
    };
    await expect(runTool(kitchen, request, atOnce, manners)).rejects.toBe(error);
    await expect(runTool(kitchen, request, () => Promise.reject(error), manners)).rejects.toBe(error);
    expect(outcomes).toEqual(['search: failure, server', 'search: failure, server']);
  });

  test('who cooks may settle the call; the end of it changes nothing then', async () => {
    const { kitchen, outcomes } = setUp();
    const cook = ({ permit }: { permit: { settle(how: object): void } }) => {
      permit.settle({ outcome: 'ignored', category: 'denied' });
      return 'refused by a person';
    };
    await expect(runTool(kitchen, request, cook, manners)).resolves.toBe('refused by a person');
    expect(outcomes).toEqual(['search: ignored, denied']);
  });

  test('O1: a time-out rejects at once and fires the signal; what comes late is dropped', async () => {
    const { kitchen, outcomes } = setUp({}, 5);
    let stopped: AbortSignal | undefined;
    const cook = ({ signal }: { signal: AbortSignal }): Promise<string> => {
      stopped = signal;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('late'))));
    };
    await expect(runTool(kitchen, request, cook, manners)).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(stopped?.aborted).toBe(true);
    expect(outcomes).toEqual(['search: failure, timeout']);
  });

  test("O1: the caller's abort costs nothing; one that has left before is not decided about", async () => {
    const { kitchen, decisions, outcomes } = setUp();
    const caller = new AbortController();
    const leave = (): Promise<string> => {
      caller.abort();
      return new Promise(() => {});
    };
    const given = { ...request, signal: caller.signal };
    await expect(runTool(kitchen, given, leave, manners)).rejects.toBe(caller.signal.reason);
    await expect(runTool(kitchen, given, leave, manners)).rejects.toBe(caller.signal.reason);
    expect(decisions).toEqual(['search: call']);
    expect(outcomes).toEqual(['search: ignored, cancelled']);
  });

  test('a signal that is none is refused, with the name of the tool, and nobody is asked', async () => {
    const { kitchen, decisions } = setUp();
    const given = { ...request, signal: { aborted: false } as AbortSignal };
    const call = runTool(kitchen, given, () => 'found', manners);
    await expect(call).rejects.toThrow(BreakerboxUsageError);
    await expect(call).rejects.toThrow(/guardTools\(\), tool 'search'/);
    expect(decisions).toEqual([]);
  });

  test('R3: a refusal is what the framework makes of it, thrown ones too', async () => {
    const { kitchen, decisions } = out();
    const cook = vi.fn(() => 'found');
    await expect(runTool(kitchen, request, cook, manners)).resolves.toMatch(/^REFUSED Tool 'search' is unavailable/);
    const refuse = (): never => {
      throw new TypeError('unavailable');
    };
    await expect(runTool(kitchen, request, cook, { refuse })).rejects.toThrow(TypeError);
    expect(cook).not.toHaveBeenCalled();
    expect(decisions).toEqual(['search: skip', 'search: skip']);
  });

  test('F2: the last good result is labelled in the way of the framework', async () => {
    const { kitchen, session } = setUp({ tools: { search: { serveStaleMs: 60_000 } } });
    const label = vi.fn((result: unknown) => `LABELLED ${result}`);
    await runTool(kitchen, request, () => 'found', { ...manners, label });
    expect(label).not.toHaveBeenCalled();
    session.control('search', 'forced_open');
    await expect(runTool(kitchen, request, down, { ...manners, label })).resolves.toBe('LABELLED found');
  });

  test('O4: what it cost is read at its end', async () => {
    const { kitchen, box } = setUp();
    const spent: unknown[] = [];
    box.on('outcome', ({ tokens }) => spent.push(tokens));
    const tokens = ({ error }: { error?: unknown }) => (error === undefined ? 3 : 5);
    await runTool(kitchen, request, () => 'found', { ...manners, tokens });
    await runTool(kitchen, request, down, { ...manners, tokens }).catch(() => {});
    expect(spent).toEqual([3, 5]);
  });
});

describe('R4: runInPlace', () => {
  const adapt = ({ q }: { q: string }) => ({ topic: q });
  const config = { tools: { search: { alternatives: [{ tool: 'news', adapt }] }, news: {} } } as const;

  test('runs the alternative under a decision of its own, with what adapt gives', async () => {
    const { kitchen, decisions, outcomes } = out(config);
    const cook = vi.fn(async () => 'the news');
    const find = (tool: string) => (input: unknown) => runInPlace(kitchen, { tool, input }, cook, {});
    await expect(runTool(kitchen, request, down, { ...manners, find })).resolves.toMatch(
      /^\[answered by 'news' in place of 'search'.*\nthe news$/s,
    );
    expect(cook).toHaveBeenCalledOnce();
    expect(decisions).toEqual(['search: skip', 'news: call']);
    expect(outcomes).toEqual(['news: success']);
  });

  test('runs nothing where the decision is against it: the first refusal stands', async () => {
    const { kitchen, session, decisions } = out(config);
    const cook = vi.fn(async () => 'the news');
    const find = (tool: string) => (input: unknown) => {
      session.control(tool, 'forced_open'); // Between the two decisions.
      return runInPlace(kitchen, { tool, input }, cook, {});
    };
    session.declare('news');
    await expect(runTool(kitchen, request, down, { ...manners, find })).resolves.toMatch(/^REFUSED Tool 'search'/);
    expect(cook).not.toHaveBeenCalled();
    expect(decisions).toEqual(['search: skip', 'news: skip']);
  });

  test('its error reaches the caller, and counts as its own', async () => {
    const { kitchen, outcomes } = out(config);
    const find = (tool: string) => (input: unknown) => runInPlace(kitchen, { tool, input }, down, {});
    await expect(runTool(kitchen, request, down, { ...manners, find })).rejects.toThrow('ECONNREFUSED');
    expect(outcomes).toEqual(['news: failure, network']);
  });

  test('without a way to call another tool, the model is told where to go', async () => {
    const { kitchen } = out(config);
    await expect(runTool(kitchen, request, down, manners)).resolves.toMatch(/^REFUSED.*Use 'news' instead/s);
  });
});
