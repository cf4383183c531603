import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Session } from '@breakerbox/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type GuardedCall, guard } from './index.ts';
import { watchedSession } from './test-support/watched-session.ts';

const LIMIT_MS = 60_000;
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

type End = 'gives' | 'throws' | 'hangs';

const ending = (end: End): Promise<string> => {
  if (end === 'hangs') return new Promise(() => {});
  return end === 'gives' ? Promise.resolve('found') : Promise.reject(refused);
};

/** Tools of all shapes, by how they end. */
const shapes: Record<string, (end: End) => unknown> = {
  'at once': (end) => {
    if (end === 'throws') throw refused;
    return 'found';
  },
  'a promise': ending,
  // biome-ignore lint/suspicious/noThenProperty: such as query builders are
  'a lazy promise': (end) => ({ then: (...how: Parameters<Promise<string>['then']>) => ending(end).then(...how) }),
  pieces: async function* (end) {
    yield 'first';
    yield await ending(end);
  },
};

/** Whether the tool looks at its signal, and listens to it. */
const listeners: Record<string, (call: GuardedCall) => void> = {
  deaf: () => {},
  listening: ({ signal }) => signal.addEventListener('abort', () => {}),
};

const bounds: Record<string, { readonly signal: boolean; readonly timeoutMs: number | undefined }> = {
  'no bounds': { signal: false, timeoutMs: undefined },
  'a signal': { signal: true, timeoutMs: undefined },
  'a time-out': { signal: false, timeoutMs: LIMIT_MS },
  both: { signal: true, timeoutMs: LIMIT_MS },
};

const product = Object.keys(shapes).flatMap((shape) =>
  Object.keys(bounds).flatMap((bound) => Object.keys(listeners).map((ear) => [shape, bound, ear] as const)),
);

/** A call of a tool, and what can be done to it from outside. */
const begin = (session: Session, [shape, bound, ear]: (typeof product)[number], end: End) => {
  const caller = new AbortController();
  const { signal, timeoutMs } = bounds[bound] ?? { signal: false, timeoutMs: undefined };
  const run = (_: unknown, call: GuardedCall): unknown => {
    listeners[ear]?.(call);
    return shapes[shape]?.(end);
  };
  const tool = guard(session, `${shape} that ${end}`, run, timeoutMs === undefined ? {} : { timeoutMs });
  return { caller, call: () => tool({}, { signal: signal ? caller.signal : undefined }) };
};

const isPieces = (value: unknown): value is AsyncGenerator<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** The end of a call, whatever it is, pieces read to theirs. */
const endOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    const result = await call;
    if (!isPieces(result)) return result;
    let last: unknown;
    for await (const piece of result) last = piece;
    return last;
  } catch (error) {
    return error;
  }
};

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Nothing of ours is left: no timer, and no listener on what others keep. */
const expectNothingLeft = (caller: AbortController): void => {
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
};

/** A session that no failure stops. */
const patient = () => watchedSession({ defaults: { failureThreshold: 1_000 }, budget: { failures: 1_000 } });

const all = 'by way of %s, with %s, %s';

describe('a call whose tool answers leaks nothing', () => {
  test.each(product)(all, async (...kind) => {
    const { session, outcomes } = patient();
    for (const [end, expected] of [['gives', 'found'] as const, ['throws', refused] as const]) {
      const { caller, call } = begin(session, kind, end);
      expect(await endOf(call())).toBe(expected);
      expectNothingLeft(caller);
    }
    expect(outcomes.map((outcome) => outcome.split(': ')[1])).toEqual(['success', 'failure, network']);
  });
});

describe('a rejected call leaks nothing', () => {
  test.each(product)(all, async (...kind) => {
    const { session } = patient();
    const { caller, call } = begin(session, kind, 'gives');
    session.control(`${kind[0]} that gives`, 'forced_open');
    expect(await endOf(call())).toMatchObject({ code: 'BREAKERBOX_TOOL_UNAVAILABLE' });
    expectNothingLeft(caller);
  });
});

describe('a stopped call leaks nothing', () => {
  const stoppable = product.filter(([shape, bound]) => shape !== 'at once' && bound !== 'no bounds');
  test.each(stoppable)(all, async (...kind) => {
    const { caller, call } = begin(patient().session, kind, 'hangs');
    const bySignal = bounds[kind[1]]?.signal === true;
    const end = endOf(call());
    await vi.advanceTimersByTimeAsync(1);
    if (bySignal) caller.abort(new Error('the user left'));
    else await vi.advanceTimersByTimeAsync(LIMIT_MS);
    expect(await end).toMatchObject(bySignal ? { message: 'the user left' } : { name: 'TimeoutError' });
    expectNothingLeft(caller);
  });
});

describe('a call whose reader leaves early leaks nothing', () => {
  test.each(product.filter(([shape]) => shape === 'pieces'))(all, async (...kind) => {
    const { session, outcomes } = patient();
    for (const leave of ['return', 'throw'] as const) {
      const { caller, call } = begin(session, kind, 'gives');
      const pieces = (await call()) as AsyncGenerator<unknown>;
      expect(await pieces.next()).toEqual({ done: false, value: 'first' });
      await pieces[leave]('enough').catch(() => {});
      expectNothingLeft(caller);
    }
    expect(outcomes).toEqual(Array(2).fill('pieces that gives: ignored, cancelled'));
  });
});

test('inputs and results of calls can be collected while session, function and signal live', async () => {
  vi.useRealTimers();
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const { session } = patient();
  const { signal } = new AbortController();
  const made: WeakRef<object>[] = [];
  const noted = <Value extends object>(value: Value): Value => {
    made.push(new WeakRef(value));
    return value;
  };
  const search = guard(
    session,
    'search',
    async ({ call }: { call: number }, given) => {
      noted(given);
      if (call % 2 === 1) throw noted(Object.assign(new Error(`no answer to ${call}`), { code: 'ECONNREFUSED' }));
      return noted({ call });
    },
    { timeoutMs: LIMIT_MS },
  );
  for (let call = 0; call < 100; call += 1) await search(noted({ call }), { signal }).catch(() => {});
  session.control('search', 'forced_open');
  for (let call = 0; call < 10; call += 1)
    await search({ call }, { signal }).catch((error) => void noted(error as Error));
  // What a WeakRef has shown is kept until the task ends.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  // The last few may still stand in a register or on the stack.
  expect(made.length).toBe(310);
  expect(made.filter((one) => one.deref() !== undefined).length).toBeLessThan(10);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
