import { diag } from '@opentelemetry/api';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { BreakerboxConfigError } from './errors.ts';
import type { Session } from './session.ts';
import type { SessionSnapshot } from './snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from './test-support.ts';

afterEach(() => diag.disable());

const throughJson = (snapshot: SessionSnapshot): SessionSnapshot => JSON.parse(JSON.stringify(snapshot));

/** The same box in another process, whose clock began long before, and the session restored there. */
const elsewhere = (session: Session, config: Parameters<typeof bench>[0] = {}) => {
  const { box, clock } = bench(config);
  clock.advance(1e9);
  return { box, clock, session: box.restore(throughJson(session.snapshot())) };
};

describe('C11: snapshot and restore', () => {
  test('C11: a session that begins, to the letter', () => {
    const { session } = bench();
    expect(session.snapshot()).toEqual({
      version: 1,
      agent: 'tester',
      id: 'run-1',
      step: 0,
      stepAgeMs: 0,
      ledger: {
        limit: 5,
        tokenLimit: null,
        cycle: 1,
        granted: 5,
        consumed: 0,
        charges: [],
        provisional: [],
        openings: [],
        event: null,
        paid: false,
      },
      shadow: null,
      circuits: [],
    });
  });

  test('C11, B1: failures that are not kept one by one go along as a sum, which an older snapshot has not', () => {
    const config = { budget: { failures: 1_000, tokens: 10_000 } };
    const { session } = bench(config);
    for (let call = 0; call < 300; call += 1)
      session.acquire(`made up ${call}`).settle({ outcome: 'failure', tokens: 10 });
    const { ledger } = session.snapshot();
    expect([ledger.charges.length, ledger.earlier]).toEqual([200, { failures: 100, tokens: 1_000, priced: 100 }]);
    const restored = elsewhere(session, config).session;
    expect(restored.report().budget).toEqual(session.report().budget);
    expect(restored.snapshot()).toEqual(session.snapshot());
    const { earlier, ...rest } = ledger;
    const older = {
      ...session.snapshot(),
      ledger: { ...rest, charges: [...ledger.charges.slice(0, 100), ...ledger.charges] },
    };
    expect(bench(config).box.restore(older).snapshot().ledger).toEqual(ledger);
  });

  test('C11: an open circuit: ages and waits, never points in time but for display', () => {
    const { session, clock } = bench({ defaults: { failureThreshold: 1 } });
    session.step();
    failOnce(session, 'a', 'rate_limit', 90_000);
    clock.advance(30_000);
    const { circuits, ledger, stepAgeMs } = session.snapshot();
    expect(stepAgeMs).toBe(30_000);
    expect(circuits).toEqual([
      {
        tool: 'a',
        mode: 'automatic',
        state: 'open',
        generation: 1,
        failures: 0,
        succeeded: 0,
        retryAfterMs: 60_000,
        counts: null,
        outage: {
          category: 'rate_limit',
          trip: 'consecutive',
          opened: { step: 1, ageMs: 30_000 },
          waitMs: 60_000,
          waitFrom: null,
          ladder: null,
        },
        openedBy: null,
      },
    ]);
    expect(ledger.openings).toEqual([
      { tool: 'a', category: 'rate_limit', at: { step: 1, ageMs: 30_000 }, unixMs: 1_700_000_001_000 },
    ]);
    expect(ledger.charges).toEqual([
      { tool: 'a', category: 'rate_limit', tokens: 0, at: { step: 1, ageMs: 30_000 }, event: false },
    ]);
  });

  test('C11, C10: waits go on where they stopped; the time in between and the wall clock count for nothing', () => {
    const { session, clock } = bench();
    trip(session, 'a');
    clock.advance(45_000);
    const other = elsewhere(session);
    expect(other.session.acquire('a').message).toContain('in 3 steps or in 15 s');
    other.clock.advance(14_999);
    expect(other.session.acquire('a').decision).toBe('skip');
    other.clock.advance(1);
    expect(other.session.acquire('a').decision).toBe('probe');
  });

  test('C8: probes under way are given back: a new one may go at once', () => {
    const { session } = bench({ defaults: { probes: 2 } });
    trip(session, 'a');
    steps(session, 3);
    succeedOnce(session, 'a');
    session.acquire('a');
    const other = elsewhere(session, { defaults: { probes: 2 } });
    expect(other.session.peek('a')?.state).toBe('half_open');
    expect(succeedOnce(other.session, 'a')).toBe('probe');
    expect(other.session.peek('a')?.state).toBe('closed');
  });

  test('C6: a half-open circuit is not wedged where the box wants fewer probes now', () => {
    const { session } = bench({ defaults: { probes: 3 } });
    trip(session, 'a');
    steps(session, 3);
    for (let i = 0; i < 2; i += 1) succeedOnce(session, 'a');
    const other = elsewhere(session);
    expect(succeedOnce(other.session, 'a')).toBe('probe');
    expect(other.session.peek('a')?.state).toBe('closed');
  });

  test('S2, B1: pauses are restored, and end as they would have', () => {
    const { session } = bench();
    trip(session, 'a');
    trip(session, 'b');
    const other = elsewhere(session);
    expect(other.session.acquire('c').message).toBe(session.acquire('c').message);
    other.session.confirmRecovered();
    for (let i = 0; i < 2; i += 1) for (const tool of ['c', 'd'] as const) failOnce(other.session, tool, 'server');
    expect(other.session.view()).toMatchObject({ state: 'paused_budget', budget: { cycle: 1, remaining: 0 } });
    const { session: third } = elsewhere(other.session);
    third.resume();
    expect(third.view()).toMatchObject({ state: 'active', budget: { cycle: 2, remaining: 5 } });
  });

  test('S3: what was charged provisionally goes on waiting beside its opening', () => {
    const { session, clock } = bench();
    trip(session, 'a');
    clock.advance(100_000);
    failOnce(session, 'b');
    const other = elsewhere(session);
    expect(other.session.view().budget).toMatchObject({ consumed: 3, provisional: 1 });
    other.clock.advance(20_001);
    other.session.acquire('c');
    expect(other.session.view().budget).toMatchObject({ consumed: 4, provisional: 0 });
  });

  test('C1: modes by hand, and the shadow, are restored', () => {
    const { session } = bench();
    session.control('a', 'forced_open');
    session.control('b', 'observe_only');
    trip(session, 'b');
    const other = elsewhere(session);
    expect(other.session.acquire('a').reason).toBe('forced_open');
    expect(other.session.acquire('b').reason).toBe('would_skip');
  });

  test('C11: the circuit of a tool that is declared later waits for it, through a second snapshot too', () => {
    const { session } = bench();
    trip(session, 'a');
    const second = elsewhere(session, { tools: {} });
    expect(second.session.view().circuits).toEqual([]);
    const third = elsewhere(second.session, { tools: {} });
    third.session.declare('a');
    expect(third.session.view().circuits).toMatchObject([{ tool: 'a', state: 'open' }]);
    expect(third.session.acquire('a').decision).toBe('skip');
  });

  test('Q2: no arguments, results, messages of errors or ids of calls', () => {
    const { session } = bench({ defaults: { failureThreshold: 1 } });
    session.acquire('a', { callId: 'sk-secret' }).settle({ error: new Error('token sk-secret refused') });
    session.acquire('b').settle({ result: { isError: true, content: [{ type: 'text', text: 'sk-secret' }] } });
    expect(JSON.stringify(session.snapshot())).not.toContain('sk-secret');
  });
});

/** A snapshot with something in each of its places. */
const rich = (): SessionSnapshot => {
  const { session, clock } = bench({ tools: { a: {}, b: {}, c: { mode: 'observe_only' }, d: {} } });
  trip(session, 'a');
  clock.advance(1_000);
  failOnce(session, 'b');
  for (let i = 0; i < 4; i += 1) failOnce(session, 'c');
  session.control('d', 'disabled');
  failOnce(session, '');
  steps(session, 3);
  session.acquire('a');
  return throughJson(session.snapshot());
};

const issuesOf = (snapshot: unknown) => {
  try {
    bench().box.restore(snapshot);
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
};

/** The snapshot with something else at a path. */
const changed = (path: readonly (string | number)[], value: unknown): unknown => {
  const snapshot: unknown = rich();
  let holder = snapshot as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) holder = holder[key] as typeof holder;
  const last = path.at(-1) ?? '';
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return snapshot;
};

describe('C11: what is refused', () => {
  test('C11: a rich snapshot is not', () => {
    expect(issuesOf(rich())).toEqual([]);
  });

  test.each([
    [['version'], 2, 'snapshot.version: is 2, and this version of Breakerbox reads 1. Restore it with the version'],
    [['version'], undefined, 'snapshot.version: is undefined. Set one of 1, as session.snapshot() wrote it.'],
    [
      ['agent'],
      'other',
      "snapshot.agent: is 'other', and this box is 'tester'. Restore it with the box of that agent.",
    ],
    [['id'], '', "snapshot.id: is ''. Set a name that isn't empty"],
    [['step'], -1, 'snapshot.step: is -1. Set a whole number of at least 0, as session.snapshot() wrote it.'],
    [['stepAgeMs'], null, 'snapshot.stepAgeMs: is null. Set a finite number of at least 0'],
    [['extra'], 1, 'snapshot.extra: has no place here. Known here: version, agent, id'],
    [['circuits'], {}, 'snapshot.circuits: is an object. Give a list.'],
    [['circuits', 0, 'state'], 'ajar', "snapshot.circuits[0].state: is 'ajar'. Set one of closed, open, half_open"],
    [['circuits', 0, 'mode'], 'off', "snapshot.circuits[0].mode: is 'off'. Set one of automatic, forced_open"],
    [['circuits', 0, 'outage'], null, 'snapshot.circuits[0].outage: is null in state half_open. Only a closed circuit'],
    [
      ['circuits', 0, 'outage', 'category'],
      'fire',
      "snapshot.circuits[0].outage.category: is 'fire'. Set one of network",
    ],
    [['circuits', 0, 'openedBy'], { traceId: 'x', spanId: 'y', traceFlags: 1 }, 'openedBy.traceId: is '],
    [
      ['circuits', 1, 'tool'],
      'a',
      "snapshot.circuits[1].tool: is 'a' for a second time. Keep one circuit for each tool.",
    ],
    [['ledger', 'granted'], 99, 'snapshot.ledger.granted: is 99, which leaves 95 failures of a budget of 5.'],
    [['ledger', 'event'], [], 'snapshot.ledger.event: is empty. Give its openings, or null.'],
    [['ledger', 'openings', 0], 3, 'snapshot.ledger.openings[0]: is 3. Give an object.'],
    [
      ['ledger', 'provisional', 0, 'beside'],
      7,
      'provisional[0].beside: is 7, and there are 1 openings. Give the index',
    ],
    [['shadow', 'charges', 0, 'event'], 'yes', "snapshot.shadow.charges[0].event: is 'yes'. Set one of true, false"],
  ])('C11: %j = %j', (path, value, message) => {
    expect(issuesOf(changed(path, value)).some((issue) => issue.includes(message))).toBe(true);
  });

  test.each([undefined, null, 3, 'snapshot', [], {}])('C11: %j in place of a snapshot', (value) => {
    expect(issuesOf(value).join('\n')).toContain('snapshot');
  });

  test('C11: the error says that it is about a snapshot', () => {
    expect(() => bench().box.restore(null)).toThrow(
      "Breakerbox can't use this snapshot:\n  snapshot: is null. Give an object.",
    );
  });

  test('C11: whatever is changed in it, it is refused or it works', () => {
    const paths: (string | number)[][] = [];
    const walk = (value: unknown, path: (string | number)[]): void => {
      if (path.length > 0) paths.push(path);
      if (typeof value !== 'object' || value === null) return;
      for (const [key, one] of Object.entries(value)) walk(one, [...path, Array.isArray(value) ? Number(key) : key]);
    };
    walk(rich(), []);
    const value = fc.oneof(
      fc.constantFrom(undefined, null, 0, 1, -1, 0.5, 1e308, '', 'a', true, [], {}, '__proto__', 'open', 'closed'),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const mutation = fc.tuple(fc.constantFrom(...paths), value);
    let accepted = 0;
    const property = fc.property(mutation, ([path, other]) => {
      const snapshot = changed(path, other);
      const { box, clock } = bench();
      let session: Session;
      try {
        session = box.restore(snapshot);
      } catch (error) {
        expect(error).toBeInstanceOf(BreakerboxConfigError);
        return;
      }
      accepted += 1;
      for (const tool of ['a', 'b', 'c', 'd', 'e', 'a', 'b']) {
        expect(typeof session.acquire(tool).message).toBe('string');
        failOnce(session, tool);
        clock.advance(50_000);
        session.step();
      }
      session.confirmRecovered();
      session.resume();
      session.view();
      box.restore(throughJson(session.snapshot())).acquire('a');
    });
    fc.assert(property, { numRuns: 3_000 });
    expect(accepted).toBeGreaterThan(100);
  });
});
