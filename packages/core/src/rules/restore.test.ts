import { describe, expect, test } from 'vitest';
import { bench, trip } from '../test-support.ts';

describe('C11: a snapshot that can not be is refused, one of another policy fits in', () => {
  /** A snapshot of a session in a systemic event, with another value at a path. */
  const restoreWith = (path: string, value: unknown) => {
    const { box, session } = bench();
    trip(session, 'a');
    trip(session, 'b');
    const snapshot = JSON.parse(JSON.stringify(session.snapshot()));
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    keys.reduce((place, key) => place[key], snapshot)[last] = value;
    return () => box.restore(snapshot);
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
    ['an event that is gone, and paid', 'ledger.event', null, /ledger\.paid: is true, and there is no event/],
    ['a circuit that opened twice', 'ledger.openings.1.tool', 'a', /openings\[1\]\.tool: is 'a' for a second time/],
  ])('C11: %s', (_, path, value, message) => {
    expect(restoreWith(path, value)).toThrow(message);
  });

  test('C11, P2, O3: waits are no longer than the policy here lets them be', () => {
    const long = bench({ tools: { a: { cooldownMs: 3_600_000 } } });
    trip(long.session, 'a');
    const { box, clock } = bench({ tools: { a: { cooldownMs: 1_000, maxCooldownMs: 2_000 } } });
    const restored = box.restore(JSON.parse(JSON.stringify(long.session.snapshot())));
    clock.advance(2_000);
    expect(restored.acquire('a').decision).toBe('probe');
  });

  test('C11, S5: the time until an event is over goes on in a process that has just begun', () => {
    const systemic = { recovery: { afterMs: 60_000 } };
    const { session, clock } = bench({ systemic });
    trip(session, 'a');
    trip(session, 'b');
    clock.advance(50_000);
    let ms = 100;
    const { box } = bench({ systemic, clock: { now: () => ms, unixNow: () => 1e12 + ms } });
    const restored = box.restore(JSON.parse(JSON.stringify(session.snapshot())));
    expect(restored.acquire('c').reason).toBe('systemic');
    ms += 10_000;
    expect(restored.acquire('c').reason).toBe('closed');
  });
});
