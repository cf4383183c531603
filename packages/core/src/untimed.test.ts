import { afterEach, describe, expect, test, vi } from 'vitest';
import type { BreakerboxConfig } from './config.ts';
import { openCells } from './telemetry/reading.ts';
import { METRIC } from './telemetry/semconv.ts';
import { bench, failOnce, succeedOnce, trip } from './test-support.ts';

/** How often the clock is read for one successful call of `a`, after `before`. */
const readsOf = (config: Partial<BreakerboxConfig>, before: (made: ReturnType<typeof bench>) => void = () => {}) => {
  const made = bench(config);
  succeedOnce(made.session, 'a'); // Its first call makes the circuit.
  before(made);
  const now = vi.spyOn(made.clock, 'now');
  const unixNow = vi.spyOn(made.clock, 'unixNow');
  const permit = made.session.acquire('a', { input: { city: 'Oslo' } });
  permit.settle({ result: { celsius: 4 } });
  return now.mock.calls.length + unixNow.mock.calls.length;
};

describe('the clock is read where time has a say, and only there', () => {
  const readers: { close(): void }[] = [];
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
  });

  test('C10: not for a call that a closed circuit lets through, and that succeeds', () => {
    expect(readsOf({})).toBe(0);
    expect(readsOf({ scope: 'process' })).toBe(0);
    const failedAndWorks = ({ session }: ReturnType<typeof bench>) => {
      trip(session, 'b');
      failOnce(session, 'a', 'server');
      succeedOnce(session, 'c'); // No failure is left that may be part of an event.
    };
    expect(readsOf({ budget: 'strict' }, failedAndWorks)).toBe(0);
    expect(readsOf({}, failedAndWorks)).toBeGreaterThan(0); // B1: charges leave with time.
    expect(readsOf({}, (made) => failedAndWorks(made) ?? made.session.resume())).toBe(0);
  });

  test('C10: where durations are measured', () => {
    readers.push(openCells({ insteadOfSdk: true, exemplars: false }));
    expect(readsOf({})).toBe(2);
  });

  test.each<[string, Partial<BreakerboxConfig>]>([
    ['a window', { defaults: { failureRate: { rate: 0.5, windowMs: 1_000 } } }],
    ['a check', { defaults: { precheck: () => 'available' } }],
    ['labels', { defaults: { labelFreshness: true } }],
    ['last good results', { defaults: { serveStaleMs: 1_000 } }],
    ['a mode by hand', { defaults: { mode: 'disabled' } }],
  ])('C10: where the tool has %s', (_, config) => {
    expect(readsOf(config)).toBeGreaterThan(0);
  });

  test('C10: where a probe is under way, a charge waits, its group is open, or an event lasts', () => {
    expect(
      readsOf({}, ({ session, clock }) => {
        trip(session, 'b');
        clock.advance(60_000);
        expect(session.acquire('b').decision).toBe('probe');
      }),
    ).toBeGreaterThan(0);
    expect(
      readsOf({ budget: { rule: 'strict', failures: 9 } }, ({ session }) => {
        trip(session, 'b');
        succeedOnce(session, 'd');
        failOnce(session, 'c');
        expect(session.view().budget.provisional).toBe(1);
      }),
    ).toBeGreaterThan(0);
    expect(
      readsOf({ tools: { a: { group: 'g' }, b: { group: 'g' } } }, ({ session }) => {
        session.acquire('b').settle({ outcome: 'failure', category: 'network', blames: 'group' });
        session.resume();
      }),
    ).toBeGreaterThan(0);
    const paused = readsOf({}, ({ session }) => {
      trip(session, 'b');
      trip(session, 'c');
    });
    expect(paused).toBeGreaterThan(0);
  });

  test('C10: where a call fails: what it opens has its time', () => {
    const { session, clock } = bench();
    succeedOnce(session, 'a');
    const permits = [1, 2, 3].map(() => session.acquire('a'));
    clock.advance(500);
    for (const permit of permits) permit.settle({ outcome: 'failure', category: 'network' });
    clock.advance(70);
    expect(session.peek('a')).toMatchObject({ state: 'open', openForMs: 70, nextProbe: { ms: 59_930 } });
  });

  test('C12: where another session has moved what they share', () => {
    const { box, session } = bench({ scope: 'process' });
    const other = box.session();
    succeedOnce(session, 'a');
    const permit = session.acquire('a');
    trip(other, 'b');
    trip(other, 'c');
    permit.settle({ outcome: 'success' });
    expect(session.acquire('b')).toMatchObject({ decision: 'skip', reason: 'systemic' });
  });
});

test('C10: a session that was used untimed idles from the next look at it on', () => {
  const { session, clock } = bench({ agent: 'idler', sessionIdleMs: 1_000 });
  const reader = openCells({ insteadOfSdk: false, exemplars: false });
  reader.close(); // Sessions are looked at, and nothing is measured.
  const active = () => {
    reader.retireIdle();
    for (const { attributes, value } of reader.numbers(METRIC.sessions)) {
      if (attributes['gen_ai.agent.name'] === 'idler' && attributes['breakerbox.session.state'] === 'active')
        return value;
    }
    return undefined;
  };
  succeedOnce(session, 'a');
  clock.advance(900);
  succeedOnce(session, 'a');
  clock.advance(900);
  expect(active()).toBe(1);
  clock.advance(999);
  expect(active()).toBe(1);
  clock.advance(1);
  expect(active()).toBe(0);
  succeedOnce(session, 'a');
  expect(active()).toBe(1);
});
