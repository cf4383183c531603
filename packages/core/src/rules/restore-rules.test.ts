import { describe, expect, test } from 'vitest';
import { restore } from '../snapshot/restore.ts';
import { snapshot as snapshotOf } from '../snapshot/snapshot.ts';
import { bench, trip } from '../test-support.ts';

describe('C11: an impossible snapshot is rejected, one of another policy is adapted', () => {
  /** A snapshot of a session in a systemic event, with another value at a path. */
  const restoreWith = (path: string, value: unknown) => {
    const { box, session } = bench();
    trip(session, 'a');
    trip(session, 'b');
    const snapshot = JSON.parse(JSON.stringify(snapshotOf(session)));
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    keys.reduce((place, key) => place[key], snapshot)[last] = value;
    return () => restore(box, snapshot);
  };

  test.each([
    [
      'a step beyond all lives',
      'step',
      2 ** 53,
      /snapshot\.step: is 9007199254740992\. Set .* at most 1125899906842624/,
    ],
    ['a generation that can not grow', 'circuits.0.generation', 2 ** 53, /circuits\[0\]\.generation/],
    ['a wait of ages', 'circuits.0.outage.waitMs', 2e15, /circuits\[0\]\.outage\.waitMs/],
    ['an event that is gone, and paid', 'ledger.event', null, /ledger\.paid: is true, but event is null/],
    [
      'a circuit that opened twice',
      'ledger.openings.1.tool',
      'a',
      /openings\[1\]\.tool: is 'a', which is in the list twice/,
    ],
  ])('C11: %s', (_, path, value, message) => {
    expect(restoreWith(path, value)).toThrow(message);
  });

  test('C11: the time between the processes counts by the wall clock, never below zero, or as elapsedMs says', () => {
    const config = { tools: { a: { cooldownMs: 60_000 } } };
    const { session, clock } = bench(config);
    trip(session, 'a');
    clock.advance(10_000);
    const snapshot = JSON.parse(JSON.stringify(snapshotOf(session)));
    /** How long the first probe is away in a process whose wall clock is so much later. */
    const waitIn = (laterMs: number, options = {}) => {
      const other = { now: () => 5, unixNow: () => snapshot.unixMs + laterMs };
      return restore(bench({ ...config, clock: other }).box, snapshot, options).peek('a')?.nextProbe?.ms;
    };
    expect([0, 20_000, 50_000].map((ms) => waitIn(ms))).toEqual([50_000, 30_000, 0]);
    expect(waitIn(-3_600_000)).toBe(50_000);
    expect([0, 1_000].map((elapsedMs) => waitIn(20_000, { elapsedMs }))).toEqual([50_000, 49_000]);
  });

  test('C11, P1: no steps pass, and a probe that was under way may start again', () => {
    const { session, box } = bench();
    trip(session, 'a');
    session.step();
    session.step();
    const restored = restore(box, JSON.parse(JSON.stringify(snapshotOf(session))), { elapsedMs: 1_000 });
    expect(restored.peek('a')?.nextProbe?.steps).toBe(1);
    restored.step();
    expect(restored.acquire('a').decision).toBe('probe');
    const again = restore(box, JSON.parse(JSON.stringify(snapshotOf(restored))));
    expect(again.acquire('a').decision).toBe('probe');
  });

  test('C11, E6: elapsedMs cannot be negative', () => {
    const { box, session } = bench();
    for (const elapsedMs of [-1, Number.NaN, '7']) {
      expect(() => restore(box, snapshotOf(session), { elapsedMs } as never)).toThrow(/restore\.elapsedMs/);
    }
  });

  test('C11, P2, O3: waits are no longer than the new policy allows', () => {
    const long = bench({ tools: { a: { cooldownMs: 3_600_000 } } });
    trip(long.session, 'a');
    const { box, clock } = bench({ tools: { a: { cooldownMs: 1_000, maxCooldownMs: 2_000 } } });
    const restored = restore(box, JSON.parse(JSON.stringify(snapshotOf(long.session))));
    clock.advance(2_000);
    expect(restored.acquire('a').decision).toBe('probe');
  });

  test('C11, S5: the time until the end of an event continues in a process that has just started', () => {
    const systemic = { recovery: { afterMs: 60_000 } };
    const { session, clock } = bench({ systemic });
    trip(session, 'a');
    trip(session, 'b');
    clock.advance(50_000);
    let ms = 100;
    const { box } = bench({ systemic, clock: { now: () => ms, unixNow: () => 1e12 + ms } });
    const restored = restore(box, JSON.parse(JSON.stringify(snapshotOf(session))));
    expect(restored.acquire('c').reason).toBe('systemic');
    ms += 10_000;
    expect(restored.acquire('c').reason).toBe('closed');
  });
});
