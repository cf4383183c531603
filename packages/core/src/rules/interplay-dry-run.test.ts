import { describe, expect, test } from 'vitest';
import { restore } from '../snapshot/restore.ts';
import { snapshot as snapshotOf } from '../snapshot/snapshot.ts';
import { bench, failOnce, succeedOnce, trip } from '../test-support.ts';
import { bringDown, hear, inAnotherProcess, waste } from './test-support.rules.ts';

/** Where dry runs, snapshots and the newer parts of the engine meet. */

describe('dry runs', () => {
  test('B4, C1: tokens of an observed tool cost nothing, and would have paused the session', () => {
    const { session } = bench({ defaults: { mode: 'observe_only' }, budget: { failures: 50, tokens: 100 } });
    waste(session, 'a', 150);
    expect(session.acquire('b')).toMatchObject({ decision: 'call', reason: 'would_pause', wouldDecide: 'pause' });
    expect(session.view()).toMatchObject({ state: 'active', budget: { tokensRemaining: 100 } });
  });

  test('C1, S5: an observed event ends by time too, and is not emitted', () => {
    const { session, box, clock } = bench({
      defaults: { mode: 'observe_only' },
      systemic: { recovery: { afterMs: 1_000 } },
    });
    const resolved = hear(box, 'systemic.resolved');
    bringDown(session);
    expect(session.acquire('c').reason).toBe('would_pause');
    clock.advance(1_000);
    expect(session.acquire('c').reason).toBe('closed');
    expect(resolved).toEqual([]);
  });

  test('C1, C12: a dry run of the whole box pauses no session', () => {
    const { session, box } = bench({ defaults: { mode: 'observe_only' }, scope: 'process' });
    const other = box.session();
    bringDown(session);
    expect([succeedOnce(other, 'a'), succeedOnce(session, 'c'), other.view().state]).toEqual([
      'call',
      'call',
      'active',
    ]);
  });

  test('C1, C3: an observed circuit opens by its failure rate, and says so', () => {
    const { session } = bench({ tools: { a: { mode: 'observe_only', failureRate: { rate: 0.5, minimumCalls: 2 } } } });
    succeedOnce(session, 'a');
    failOnce(session, 'a');
    expect(session.peek('a')).toMatchObject({ state: 'observe_only', trip: 'failure_rate' });
    expect(session.acquire('a').reason).toBe('would_skip');
  });
});

describe('snapshots during a run', () => {
  test('C11, S4: an event with its shared dependency continues', () => {
    const tools = { a: { dependsOn: ['gateway'] }, b: { dependsOn: ['gateway'] }, c: {} };
    const { session, box } = bench({ tools });
    bringDown(session);
    const restored = inAnotherProcess(session, box);
    expect(restored.view().systemic).toMatchObject({ layer: 'dependency', dependency: 'gateway' });
    restored.confirmRecovered();
    expect(restored.acquire('c').decision).toBe('call');
  });

  test('C11, S5: time in which no process ran counts for the end of an event, unless elapsedMs says otherwise', () => {
    const { session, box, clock } = bench({ systemic: { recovery: { afterMs: 60_000 } } });
    bringDown(session);
    clock.advance(20_000);
    const snapshot = JSON.parse(JSON.stringify(snapshotOf(session)));
    clock.advance(39_999);
    const restored = restore(box, snapshot);
    const frozen = restore(box, snapshot, { elapsedMs: 0 });
    expect(restored.acquire('c').decision).toBe('pause');
    clock.advance(1);
    expect([restored.acquire('c').decision, frozen.acquire('c').decision]).toEqual(['call', 'pause']);
    clock.advance(39_999);
    expect(frozen.acquire('c').decision).toBe('call');
  });

  test('C11, C12: shared state is not in a snapshot, even of a session that saw the event', () => {
    const { session, box } = bench({ scope: 'process' });
    trip(box.session(), 'a');
    trip(box.session(), 'b');
    expect(session.acquire('a').reason).toBe('systemic');
    const elsewhere = inAnotherProcess(session, bench({ scope: 'process' }).box);
    expect(elsewhere.view()).toMatchObject({ state: 'active', circuits: [] });
    expect(elsewhere.acquire('a').decision).toBe('call');
  });
});
