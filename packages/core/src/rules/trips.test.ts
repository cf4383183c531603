import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { report } from '../report/report.ts';
import type { Session } from '../session-api.ts';
import { newAgent, registerMetrics, registerTraces, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, succeedOnce } from '../test-support.ts';
import { hear, inAnotherProcess, takeLong, waste } from './test-support.rules.ts';

afterEach(() => metrics.disable());

describe('C3: conditions that open a circuit', () => {
  test('B3, C3: a failure rate opens it, with successes between the failures; the outage costs one', () => {
    const { session, box } = bench({ tools: { a: { failureRate: { rate: 0.5, minimumCalls: 4 } } } });
    const transitions = hear(box, 'circuit.transition');
    failOnce(session, 'a', 'server');
    succeedOnce(session, 'a');
    succeedOnce(session, 'a');
    expect(session.peek('a')).toMatchObject({ state: 'closed', trip: undefined });
    failOnce(session, 'a', 'server');
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'failure_rate', category: 'server' });
    expect(session.view().budget.remaining).toBe(4);
    expect(report(session).tools[0]).toMatchObject({ state: 'open', trip: 'failure_rate', category: 'server' });
    expect(transitions).toMatchObject([{ from: 'closed', to: 'open', category: 'server' }]);
  });

  test('C3: slow calls that succeed open it, as a timeout, and cost no budget', () => {
    const slowCallRate = { rate: 0.5, slowerThanMs: 1_000, minimumCalls: 3 };
    const { session, clock } = bench({ tools: { a: { slowCallRate } } });
    takeLong(session, clock, 'a', 1_001);
    takeLong(session, clock, 'a', 1_000); // Exactly the limit is not slow.
    expect(session.peek('a')?.state).toBe('closed');
    takeLong(session, clock, 'a', 5_000);
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'slow_call_rate', category: 'timeout' });
    expect(session.view().budget.consumed).toBe(0);
    expect(session.acquire('a').decision).toBe('skip');
  });

  test('C3: wasted tokens open it; tokens of successes are not wasted', () => {
    const { session, clock } = bench({ tools: { a: { wastedTokens: { tokens: 1_000, windowMs: 60_000 } } } });
    waste(session, 'a', 600);
    session.acquire('a').settle({ outcome: 'success', tokens: 9_000 });
    clock.advance(60_000);
    waste(session, 'a', 600);
    expect(session.peek('a')?.state).toBe('closed'); // The first are forgotten.
    session.acquire('a').settle({ outcome: 'success' });
    waste(session, 'a', 400);
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'wasted_tokens', category: 'network' });
  });

  test('C3: skips and ignored outcomes enter no window; closing clears it', () => {
    const rate = { rate: 0.5, minimumCalls: 2 };
    const { session } = bench({ defaults: { failureRate: rate }, budget: { failures: 50 } });
    failOnce(session, 'a');
    session.acquire('a').settle({ outcome: 'ignored', category: 'denied' });
    expect(session.peek('a')?.state).toBe('closed');
    failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('open');
    for (let i = 0; i < 5; i += 1) session.acquire('a');
    steps(session, 3);
    expect(succeedOnce(session, 'a')).toBe('probe');
    failOnce(session, 'a');
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 1 });
  });

  test('C3: the reported duration decides whether a call is slow, without the time that a person took to approve it', () => {
    const slowCallRate = { rate: 0.5, slowerThanMs: 1_000, minimumCalls: 1 };
    const { session, clock } = bench({ tools: { a: { slowCallRate } } });
    const permit = session.acquire('a');
    clock.advance(3_600_000);
    permit.settle({ outcome: 'success', durationMs: 20 });
    expect(session.peek('a')?.state).toBe('closed');
    session.acquire('a').settle({ outcome: 'success', durationMs: 1_001 });
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'slow_call_rate' });
  });

  test('C3, S1, S3: three circuits that slow successes open make one event, which is free because no call failed', () => {
    const { session, clock } = bench({
      defaults: { slowCallRate: { rate: 1, slowerThanMs: 100, minimumCalls: 1 } },
    });
    takeLong(session, clock, 'a', 200);
    takeLong(session, clock, 'b', 200);
    expect(session.view().state).toBe('active'); // Two time-outs alone may have two causes.
    takeLong(session, clock, 'c', 200);
    expect(session.view()).toMatchObject({
      state: 'paused_systemic',
      systemic: { category: 'timeout', layer: 'network' },
      budget: { remaining: 5 },
    });
  });

  test('B1, C3, S3: a success that makes an event may take the last failure of the budget', () => {
    const slow = (minimumCalls: number) => ({ slowCallRate: { rate: 1, slowerThanMs: 100, minimumCalls } });
    const dependsOn = ['gateway'];
    const tools = { a: { ...slow(1), dependsOn }, b: { ...slow(2), dependsOn }, c: {} };
    const { session, clock, box } = bench({ tools, budget: { failures: 1 } });
    const exhausted = hear(box, 'budget.exhausted');
    takeLong(session, clock, 'a', 200);
    takeLong(session, clock, 'b', 200, { outcome: 'failure', category: 'timeout' });
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 0, provisional: 1 } });
    takeLong(session, clock, 'b', 200);
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 0, provisional: 0 } });
    expect(exhausted).toHaveLength(1);
    session.confirmRecovered();
    expect(session.acquire('c')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
  });

  test('C3: the opening of a slow success is in the metrics, and probes link to its span', async () => {
    const finished = registerTraces();
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, clock } = bench({
      agent,
      tools: { a: { slowCallRate: { rate: 1, slowerThanMs: 100, minimumCalls: 1 } } },
    });
    takeLong(session, clock, 'a', 200);
    session.acquire('a');
    const opened = seriesOf(agent, await scrape(), 'breakerbox_circuit_opened_time');
    expect(opened).toHaveLength(1);
    expect(opened[0]).toContain('error_type="timeout"');
    const [call, skip] = finished();
    expect(call?.attributes['error.type']).toBeUndefined();
    expect(skip?.links.map(({ context }) => context)).toEqual([call?.spanContext()]);
  });
});

describe('C11: windows, ladder and tokens in a snapshot', () => {
  test('C3, C11: windows continue, and the time since the snapshot counts as passed', () => {
    const config = {
      tools: {
        rate: { failureRate: { rate: 0.5, minimumCalls: 4 } },
        slow: { slowCallRate: { rate: 0.5, slowerThanMs: 100, minimumCalls: 2, windowMs: 60_000 } },
        costly: { wastedTokens: { tokens: 1_000 } },
      },
      systemic: false,
    } as const;
    const { session, clock } = bench(config);
    failOnce(session, 'rate');
    succeedOnce(session, 'rate');
    succeedOnce(session, 'rate');
    takeLong(session, clock, 'slow', 200);
    waste(session, 'costly', 900);
    const other = bench(config);
    other.clock.advance(987_654); // Its clock has another origin.
    const goOn = (restored: Session) => {
      failOnce(restored, 'rate');
      takeLong(restored, other.clock, 'slow', 1);
      succeedOnce(restored, 'costly');
      waste(restored, 'costly', 100);
      return restored.view().circuits.map(({ tool, trip }) => `${tool} ${trip}`);
    };
    const all = ['rate failure_rate', 'slow slow_call_rate', 'costly wasted_tokens'];
    expect(goOn(inAnotherProcess(session, other.box, { elapsedMs: 0 }))).toEqual(all);
    expect(goOn(inAnotherProcess(session, other.box))).toEqual([
      'rate failure_rate', // Its window counts calls.
      'slow undefined',
      'costly undefined',
    ]);
  });

  test('C11, B4: spent tokens stay spent, and a spent budget pauses the session', () => {
    const budget = { failures: 50, tokens: 1_000 };
    const { session, box } = bench({ budget });
    waste(session, 'a', 900);
    const restored = inAnotherProcess(session, box);
    expect(restored.view().budget.tokensRemaining).toBe(100);
    waste(restored, 'a', 100);
    const again = inAnotherProcess(restored, box);
    expect(again.acquire('b')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
    again.resume();
    expect(again.view().budget.tokensRemaining).toBe(1_000);
  });

  test('C11, P3: the ladder continues from its rung', () => {
    const { session, box } = bench();
    for (const tool of ['a', 'b'] as const) for (let i = 0; i < 3; i += 1) failOnce(session, tool);
    session.confirmRecovered();
    steps(session, 3);
    failOnce(session, 'a');
    const restored = inAnotherProcess(session, box);
    for (const one of [session, restored]) {
      steps(one, 5);
      expect(one.acquire('a').decision).toBe('skip');
      one.step();
      expect(failOnce(one, 'a')).toBe('probe');
      expect(one.peek('a')?.nextProbe?.steps).toBe(12);
    }
  });
});
