import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { report } from '../report/report.ts';
import type { Session } from '../session-api.ts';
import { bench, failOnce, steps, succeedOnce, trip, UNIX_START } from '../test-support.ts';
import { restore } from './restore.ts';
import type { SessionSnapshot } from './session-snapshot.ts';
import { snapshot as snapshotOf } from './snapshot.ts';

afterEach(() => diag.disable());

const throughJson = (snapshot: SessionSnapshot): SessionSnapshot => JSON.parse(JSON.stringify(snapshot));

/** The same box in another process, whose clock began long before, and the session restored there: at once, unless time is given. */
const elsewhere = (session: Session, config: Parameters<typeof bench>[0] = {}, elapsedMs = 0) => {
  const { box, clock } = bench(config);
  clock.advance(1e9);
  return { box, clock, session: restore(box, throughJson(snapshotOf(session)), { elapsedMs }) };
};

describe('C11: snapshot and restore', () => {
  test('C11: the exact snapshot of a new session', () => {
    const { session } = bench();
    expect(snapshotOf(session)).toEqual({
      version: 1,
      agent: 'tester',
      id: 'run-1',
      unixMs: UNIX_START + 1_000,
      step: 0,
      stepAgeMs: 0,
      ledger: {
        budget: {
          rule: 'window',
          limit: 5,
          tokenLimit: null,
          cycle: 1,
          consumed: 0,
          windowSteps: 20,
          windowMs: 600_000,
          windowCalls: 20,
          charges: [],
          spent: [],
        },
        exhausted: false,
        openings: [],
        failures: [],
        event: null,
        paid: false,
      },
      dryRun: null,
      circuits: [],
    });
  });

  test('C11, B6: a snapshot of a budget by the rule strict includes the sum of its older failures', () => {
    const config = { budget: { rule: 'strict', failures: 1_000, tokens: 10_000 } } as const;
    const { session } = bench(config);
    const budgetOf = (one: Session) => {
      const { budget } = snapshotOf(one).ledger;
      if (budget.rule !== 'strict') throw new Error('The rule was not kept.');
      return budget;
    };
    expect(Object.keys(budgetOf(session))).not.toContain('earlier');
    for (let call = 0; call < 300; call += 1)
      session.acquire(`made up ${call}`).settle({ outcome: 'failure', tokens: 10 });
    const budget = budgetOf(session);
    expect(budget).toMatchObject({
      earlier: { failures: 100, tokens: 1_000, priced: 100 },
      granted: 1_000,
      consumed: 300,
    });
    expect(budget.charges).toHaveLength(200);
    const restored = elsewhere(session, config).session;
    expect(report(restored).budget).toEqual(report(session).budget);
    expect(budgetOf(restored)).toEqual(budget);
  });

  test('C11, B1: it has the charges of the window, with all fields that merging needs', () => {
    const config = { budget: { failures: 9, tokens: 100 }, tools: { a: {}, b: {}, c: {}, d: {}, x: {}, y: {} } };
    const { session, clock } = bench(config);
    const fail = (tool: string, category: 'network' | 'server' | 'permission', tokens = 0) => {
      session.acquire(tool).settle({ outcome: 'failure', category, tokens });
      clock.advance(10);
    };
    fail('made up', 'server');
    for (const tool of ['a', 'b']) for (let call = 0; call < 3; call += 1) fail(tool, 'network', call);
    session.confirmRecovered();
    fail('c', 'permission');
    succeedOnce(session, 'c');
    session.control('d', 'disabled');
    fail('x', 'server');
    session.control('x', 'disabled'); // Closes what it was charged before.
    fail('y', 'server');
    const { ledger } = snapshotOf(session);
    const none = { provisional: false, event: false, since: null, uncapped: false, count: 1 };
    expect(ledger.budget).toMatchObject({
      charges: [
        { ...none, tool: 'made up', uncapped: true },
        { ...none, tool: 'a', event: true, at: { step: 0, ageMs: 40 } },
        { ...none, tool: 'c', since: 'success' },
        { ...none, tool: 'x', since: 'closing', provisional: true },
        { ...none, tool: 'y', provisional: true, at: { step: 0, ageMs: 10 } },
      ],
      spent: [{ tokens: 1 }, { tokens: 2 }, { tokens: 1 }, { tokens: 2 }],
    });
    expect(ledger.failures.map(({ tool }) => tool)).toEqual(['x', 'y']);
    const restored = elsewhere(session, config).session;
    expect(snapshotOf(restored).ledger).toEqual(ledger);
    expect(restored.view().budget).toEqual(session.view().budget);
  });

  test('C11: an open circuit has ages and waits, and points in time only for display', () => {
    const { session, clock } = bench({ defaults: { failureThreshold: 1 } });
    session.step();
    failOnce(session, 'a', 'rate_limit', 90_000);
    clock.advance(30_000);
    const { circuits, ledger, stepAgeMs } = snapshotOf(session);
    expect(stepAgeMs).toBe(30_000);
    expect(circuits).toEqual([
      {
        tool: 'a',
        mode: 'automatic',
        state: 'open',
        generation: 1,
        latest: null,
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
          probedBy: null,
        },
        openedBy: null,
      },
    ]);
    expect(ledger.openings).toEqual([
      { tool: 'a', category: 'rate_limit', at: { step: 1, ageMs: 30_000 }, unixMs: 1_700_000_001_000 },
    ]);
    expect(ledger.failures).toEqual(ledger.openings);
  });

  test('C11: the closed circuit of a group has its failures in a row, their tools, and the number of unknown ones', () => {
    const tools = { a: { group: 'g' }, b: { group: 'g' } };
    const { session } = bench({ tools });
    failOnce(session, 'a');
    failOnce(session, 'b', 'unknown');
    const { circuits } = snapshotOf(session);
    expect(circuits.map(({ tool, counts }) => [tool, counts])).toEqual([
      ['group:g', { consecutive: { failures: 1, weak: 0, tools: ['a'] } }],
      ['a', { consecutive: { failures: 1, weak: 0, tools: [] } }],
      ['b', { consecutive: { failures: 1, weak: 1, tools: [] } }],
    ]);
    expect(snapshotOf(elsewhere(session, { tools }).session).circuits).toEqual(circuits);
  });

  test('C11, C15: an open group remembers the tool of the failed probe', () => {
    const tools = { a: { group: 'g' }, b: { group: 'g' } };
    const { session } = bench({ tools });
    session.acquire('a').settle({ outcome: 'failure', category: 'network', blames: 'group' });
    steps(session, 3);
    failOnce(session, 'b');
    const { circuits } = snapshotOf(elsewhere(session, { tools }).session);
    expect(circuits[0]).toMatchObject({ tool: 'group:g', state: 'open', outage: { trip: 'probe', probedBy: 'b' } });
  });

  test('C8: probes under way are returned: a new one may start at once', () => {
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

  test('C6: a half-open circuit is not blocked if the box now requires fewer probes', () => {
    const { session } = bench({ defaults: { probes: 3 } });
    trip(session, 'a');
    steps(session, 3);
    for (let i = 0; i < 2; i += 1) succeedOnce(session, 'a');
    const other = elsewhere(session);
    expect(succeedOnce(other.session, 'a')).toBe('probe');
    expect(other.session.peek('a')?.state).toBe('closed');
  });

  test('S2, B1: pauses are restored, and end as they would have ended', () => {
    const { session } = bench();
    trip(session, 'a');
    trip(session, 'b');
    const other = elsewhere(session);
    expect(other.session.acquire('c').message).toBe(session.acquire('c').message);
    other.session.confirmRecovered();
    for (const tool of ['c', 'd', 'made up', 'made up'] as const) failOnce(other.session, tool, 'server');
    expect(other.session.view()).toMatchObject({ state: 'paused_budget', budget: { cycle: 1, remaining: 0 } });
    const { session: third } = elsewhere(other.session, {}, 1e9);
    expect(third.acquire('c').reason).toBe('budget_exhausted'); // While paused nothing leaves the window.
    third.resume();
    expect(third.view()).toMatchObject({ state: 'active', budget: { cycle: 2, remaining: 5 } });
  });

  test('B6, S3: by the rule strict a failure continues to wait beside its opening', () => {
    const { session, clock } = bench({ budget: 'strict' });
    trip(session, 'a');
    clock.advance(100_000);
    failOnce(session, 'b');
    const other = elsewhere(session, { budget: 'strict' });
    expect(other.session.view().budget).toMatchObject({ consumed: 3, provisional: 1 });
    other.clock.advance(20_001);
    other.session.acquire('c');
    expect(other.session.view().budget).toMatchObject({ consumed: 4, provisional: 0 });
  });

  test('C1: modes that an operator set, and the dry run, are restored', () => {
    const { session } = bench();
    session.control('a', 'forced_open');
    session.control('b', 'observe_only');
    trip(session, 'b');
    const other = elsewhere(session);
    expect(other.session.acquire('a').reason).toBe('forced_open');
    expect(other.session.acquire('b').reason).toBe('would_skip');
  });

  test('C11: the circuit of a tool that is declared later waits for it, even through a second snapshot', () => {
    const { session } = bench();
    trip(session, 'a');
    const second = elsewhere(session, { tools: {} });
    expect(second.session.view().circuits).toEqual([]);
    const third = elsewhere(second.session, { tools: {} });
    third.session.declare('a');
    expect(third.session.view().circuits).toMatchObject([{ tool: 'a', state: 'open' }]);
    expect(third.session.acquire('a').decision).toBe('skip');
  });

  test('Q2: it has no arguments, results, error messages or call ids', () => {
    const { session } = bench({ defaults: { failureThreshold: 1 } });
    session.acquire('a', { callId: 'sk-secret' }).settle({ error: new Error('token sk-secret refused') });
    session.acquire('b').settle({ result: { isError: true, content: [{ type: 'text', text: 'sk-secret' }] } });
    expect(JSON.stringify(snapshotOf(session))).not.toContain('sk-secret');
  });
});
