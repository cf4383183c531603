import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { guard } from './index.ts';
import { watchedSession } from './test-support/watched-session.ts';

/** What peers were seen to get wrong on the executor's side (the rest: core's proof/peer-faults.test.ts). */
describe('peer fault: stops', () => {
  test('peer fault: one timeout aborts all calls', async () => {
    const { session, outcomes } = watchedSession();
    const caller = new AbortController();
    const signals: AbortSignal[] = [];
    let finish: (answer: string) => void = () => {};
    const keep = (signal: AbortSignal) => void signals.push(signal);
    const hangs = guard(session, 'search', (_: string, { signal }) => new Promise(() => keep(signal)), {
      timeoutMs: 5,
    });
    const waits = guard(session, 'search', (_: string, { signal }) => {
      keep(signal);
      return new Promise<string>((resolve) => {
        finish = resolve;
      });
    });
    const other = waits('q', { signal: caller.signal });
    await expect(hangs('q', { signal: caller.signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    expect(caller.signal.aborted).toBe(false);
    finish('answer');
    expect(await other).toBe('answer');
    expect(outcomes).toEqual(['search: failure, timeout', 'search: success']);
  });

  test('peer fault: abort listeners leak on a signal that all calls of a run share', async () => {
    const { session } = watchedSession();
    const { signal } = new AbortController();
    const good = guard(session, 'good', () => 1, { timeoutMs: 1_000 });
    const bad = guard(session, 'bad', () => Promise.reject(new Error('no')), { timeoutMs: 1_000 });
    const hung = guard(session, 'hung', () => new Promise(() => {}), { timeoutMs: 1 });
    for (let i = 0; i < 20; i += 1) await good(i, { signal });
    for (const one of [bad, bad, hung]) await expect(one(0, { signal })).rejects.toThrow();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
