import { describe, expect, test } from 'vitest';
import { CIRCUIT_MODES } from '../circuit/circuit.ts';
import type { BreakerboxConfig } from '../config/config.ts';
import { REASONS } from '../reasons.ts';
import { bench, failOnce, steps, trip } from '../test-support.ts';
import { bringDown, callWith } from './test-support.rules.ts';

/** Where the parts of the engine meet. */

describe('order of the checks in a decision', () => {
  /** Everything that may hold up a call of `a` at once; each test takes away what goes before. */
  const all = {
    tools: { a: { precheck: () => 'unavailable' as const }, b: {}, c: {}, d: {} },
    allowedTools: ['b', 'c', 'd'],
    budget: { failures: 50 },
  };

  test('S2: a pause has priority over the operator, the allowed list and the pre-call check', () => {
    const { session } = bench(all);
    session.control('a', 'forced_open');
    bringDown(session, 'b', 'c');
    expect(session.acquire('a').reason).toBe('systemic');
    session.control('a', 'disabled');
    expect(session.acquire('a').reason).toBe('systemic');
    session.confirmRecovered();
    for (const mode of ['disabled', 'forced_open', 'automatic'] as const) {
      session.control('a', mode);
      expect(session.acquire('a').reason).toBe('not_allowed');
    }
  });

  test('C1, K2: a tool outside the list is not called in any mode; an observed one would not be', () => {
    const { session } = bench({ allowedTools: ['b'] });
    session.control('a', 'disabled');
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'not_allowed' });
    session.control('a', 'observe_only');
    expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'would_skip' });
  });

  test('B1, S2: systemic has priority over a spent budget', () => {
    const { session } = bench({ budget: { failures: 1 } });
    const calls = ['a', 'a', 'a', 'b', 'b', 'b'].map((tool) => session.acquire(tool));
    for (const call of calls) call.settle({ outcome: 'failure', category: 'network' });
    expect(session.acquire('c').reason).toBe('systemic');
    session.resume();
    expect(session.acquire('c').reason).toBe('systemic');
  });

  test('K1, K2, O5: the list comes first, then the check, then the loop guard', () => {
    const { box } = bench({ ...all, loopGuard: { repeats: 1 } });
    expect(box.session().acquire('a', { input: 1 }).reason).toBe('not_allowed');
    const session = box.session({ allowedTools: ['a'] });
    expect(session.acquire('a', { input: 1 }).reason).toBe('unavailable');
    session.control('a', 'disabled');
    callWith(session, 'a', 1);
    session.control('a', 'automatic');
    expect(session.acquire('a', { input: 1 }).reason).toBe('unavailable');
  });

  test('E2, R2: every skip and pause has a route and a message, other decisions have neither', () => {
    for (const mode of CIRCUIT_MODES) {
      for (const scope of ['session', 'process', 'none'] as const) {
        const config: Partial<BreakerboxConfig> = {
          scope,
          tools: { a: { mode }, b: {}, c: {} },
          allowedTools: ['a', 'b'],
        };
        const { session } = bench(config);
        for (let i = 0; i < 12; i += 1) {
          for (const tool of ['a', 'b', 'c', 'made_up']) {
            const permit = session.acquire(tool, { input: 1 });
            const isRejected = permit.decision === 'skip' || permit.decision === 'pause';
            const decides = permit.reason === 'systemic' && scope === 'process' ? 'skip' : REASONS[permit.reason];
            expect(permit.decision).toBe(decides);
            expect([permit.route !== undefined, permit.message !== '']).toEqual([isRejected, isRejected]);
            permit.settle({ outcome: 'failure', category: tool === 'a' ? 'network' : 'server' });
            session.step();
          }
          if (i === 8) session.resume();
        }
      }
    }
  });
});

describe('loop guard and probes', () => {
  test('O5, R3: while the circuit is open, the message says so, and the same call may be the probe', () => {
    const { session } = bench();
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1);
    expect(session.acquire('a', { input: 1 })).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(session.acquire('a', { input: 2 })).toMatchObject({ decision: 'skip', reason: 'open' });
    steps(session, 3);
    expect(session.unavailable()).toEqual([]);
    const probe = session.acquire('a', { input: 1 });
    expect(probe.reason).toBe('probe_due');
    expect(session.acquire('a', { input: 1 }).reason).toBe('probe_in_flight');
    probe.settle({ outcome: 'success' });
    expect(session.acquire('a', { input: 1 }).reason).toBe('closed');
  });

  test('E4, O5: an agent with one call to make gets through once its tool works again', () => {
    const { session } = bench({ budget: { failures: 50 } });
    const run = Array.from({ length: 12 }, (_, turn) => {
      session.step();
      return callWith(
        session,
        'a',
        'same',
        turn < 6 ? { outcome: 'failure', category: 'network' } : { outcome: 'success' },
      );
    });
    expect(run.at(-1)).toBe('closed');
  });

  test('O5: a probe with other arguments passes, and its success lifts the block', () => {
    const { session } = bench();
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1);
    steps(session, 3);
    expect(callWith(session, 'a', 2, { outcome: 'success' })).toBe('probe_due');
    expect(session.acquire('a', { input: 1 }).reason).toBe('closed');
  });

  test('O5: a probe of another tool counts as another call, too', () => {
    const { session } = bench({ budget: { failures: 50 } });
    trip(session, 'b', 'server');
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1, { outcome: 'ignored', category: 'tool_error' });
    steps(session, 3);
    expect(session.acquire('a', { input: 1 }).reason).toBe('repeat');
    expect(failOnce(session, 'b')).toBe('probe');
    expect(session.acquire('a', { input: 1 }).reason).toBe('closed');
  });

  test('O5, C9: a probe that hung counts as a failed call', () => {
    const { session, clock } = bench({ loopGuard: { repeats: 1 } });
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a', { input: 'x' });
    clock.advance(60_000);
    session.step();
    session.control('a', 'disabled');
    session.control('a', 'automatic');
    expect(session.acquire('a', { input: 'x' }).reason).toBe('repeat');
  });
});

describe('alternatives and last good results', () => {
  test('F2, K1: if a check rejects the call, the last good result comes before an alternative', () => {
    let fit = true;
    const { session, clock } = bench({
      tools: {
        a: {
          precheck: () => (fit ? 'available' : 'unavailable'),
          serveStaleMs: 600_000,
          alternatives: [{ tool: 'b' }],
        },
        b: {},
      },
    });
    callWith(session, 'a', 1, { outcome: 'success', result: 'kept' });
    fit = false;
    clock.advance(30_001);
    expect(session.acquire('a', { input: 1 }).route).toMatchObject({ kind: 'stale', result: 'kept' });
    expect(session.acquire('a', { input: 2 }).route).toMatchObject({ kind: 'alternative', tool: 'b' });
  });

  test('F2, O5: a repeated call is not answered with the last good result', () => {
    const { session } = bench({ tools: { a: { serveStaleMs: 600_000, failureThreshold: 9 } } });
    callWith(session, 'a', 1, { outcome: 'success', result: 'kept' });
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1);
    expect(session.acquire('a', { input: 1 })).toMatchObject({ reason: 'repeat', route: { kind: 'defer' } });
  });

  test('C7, F2: a success that is too late for the circuit is still a good result', () => {
    const { session } = bench({ tools: { a: { serveStaleMs: 600_000 } } });
    const slow = session.acquire('a', { input: 1 });
    trip(session, 'a');
    slow.settle({ outcome: 'success', result: 'late' });
    expect(session.acquire('a', { input: 1 }).route).toMatchObject({ kind: 'stale', result: 'late' });
  });

  test('F2: results of a disabled tool are stored', () => {
    const { session } = bench({ tools: { a: { serveStaleMs: 600_000, labelFreshness: true } } });
    session.control('a', 'disabled');
    callWith(session, 'a', 1, { outcome: 'success', result: 'kept' });
    session.control('a', 'forced_open');
    expect(session.acquire('a', { input: 1 }).route).toMatchObject({ kind: 'stale', result: 'kept' });
  });

  test('E7, F1, F2: results that arrive after the end are stored and labelled as before', () => {
    const { session } = bench({ tools: { a: { serveStaleMs: 600_000, labelFreshness: true } } });
    const permit = session.acquire('a', { input: 1 });
    session.end();
    permit.settle({ outcome: 'success', result: 'late', freshness: { verified: false } });
    expect(permit.freshness?.kind).toBe('unverified');
    session.control('a', 'forced_open');
    expect(session.acquire('a', { input: 1 }).route).toMatchObject({ kind: 'stale', result: 'late' });
  });

  test('K2, R2: an alternative that is not allowed in one session may be allowed in another', () => {
    const { session, box } = bench({
      tools: { a: { mode: 'forced_open', alternatives: [{ tool: 'b' }], fallback: 'wait' }, b: {} },
      scope: 'process',
    });
    expect(session.acquire('a').route).toMatchObject({ tool: 'b' });
    expect(box.session({ allowedTools: ['a'] }).acquire('a').route).toEqual({ kind: 'manual', fallback: 'wait' });
  });
});
