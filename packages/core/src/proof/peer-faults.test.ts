import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { snapshot } from '../snapshot/snapshot.ts';
import { circuitsOf, newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, succeedOnce, trip, watchDiag } from '../test-support.ts';

/** What peers were seen to get wrong (facts.md, last part), each as a test of the public API. */

afterEach(() => metrics.disable());

describe('peer fault: results that come late', () => {
  test('peer fault: a late success closes a circuit that has moved on', () => {
    const { session } = bench();
    const slow = session.acquire('a');
    trip(session, 'a');
    slow.settle({ outcome: 'success' });
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'network' });
    steps(session, 3);
    session.acquire('a');
    slow.settle({ outcome: 'success' });
    expect(session.peek('a')?.state).toBe('half_open');
  });

  test('peer fault: a late success of the closed state counts as a probe', () => {
    const { session } = bench();
    const slow = session.acquire('a');
    trip(session, 'a');
    steps(session, 3);
    const probe = session.acquire('a');
    slow.settle({ outcome: 'success' });
    expect(session.peek('a')?.state).toBe('half_open');
    probe.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('a')?.state).toBe('open');
  });

  test('peer fault: a late failure reopens a circuit that has moved on', () => {
    const { session } = bench({ defaults: { failureThreshold: 1 } });
    const slow = session.acquire('a');
    failOnce(session, 'a');
    steps(session, 3);
    succeedOnce(session, 'a');
    slow.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
    expect(session.view().budget.consumed).toBe(1);
  });
});

describe('peer fault: probes that never settle', () => {
  const halfOpen = () => {
    const made = bench();
    trip(made.session, 'a');
    steps(made.session, 3);
    return { ...made, probe: made.session.acquire('a') };
  };

  test('peer fault: a hung probe blocks half-open permanently', () => {
    const { session, clock, probe } = halfOpen();
    expect(probe.decision).toBe('probe');
    clock.advance(60_000);
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
    steps(session, 3);
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('a')?.state).toBe('closed');
    probe.settle({ outcome: 'failure' });
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
  });

  test.each([
    ['a denied', { outcome: 'ignored', category: 'denied' }],
    ['a cancelled', { error: new DOMException('the caller left', 'AbortError') }],
  ] as const)('peer fault: %s probe leaks its slot or closes the circuit', (_, settlement) => {
    const { session, probe } = halfOpen();
    probe.settle(settlement);
    expect(session.peek('a')?.state).toBe('half_open');
    for (let i = 0; i < 5; i += 1) {
      const again = session.acquire('a');
      expect(again.decision).toBe('probe');
      expect(session.acquire('a').reason).toBe('probe_in_flight');
      again.settle(settlement);
    }
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('peer fault: a queue in half-open that grows without bound', () => {
    const { session, probe } = halfOpen();
    const before = JSON.stringify(snapshot(session)).length;
    for (let i = 0; i < 1_000; i += 1) {
      expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'probe_in_flight' });
    }
    expect(JSON.stringify(snapshot(session)).length).toBe(before);
    probe.settle({ outcome: 'success' });
    expect(succeedOnce(session, 'a')).toBe('call');
  });
});

describe('peer fault: counts that are wrong', () => {
  test('peer fault: an idle window with stale buckets', () => {
    const failureRate = { rate: 0.5, minimumCalls: 2, windowMs: 10_000 };
    const { session, clock } = bench({ tools: { a: { failureThreshold: false, failureRate } } });
    failOnce(session, 'a');
    for (const idle of [10_000, 25_000, 1e9]) {
      clock.advance(idle);
      failOnce(session, 'a');
      expect(session.peek('a')?.state).toBe('closed');
      session.resume();
    }
    clock.advance(9_999);
    failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('open');
  });

  test('peer fault: rejections in the denominator', () => {
    const failureRate = { rate: 0.5, minimumCalls: 4, windowCalls: 4 };
    const { session } = bench({ tools: { a: { failureThreshold: false, failureRate, probeAfterSteps: 1 } } });
    for (let i = 0; i < 4; i += 1) failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('open');
    for (let i = 0; i < 100; i += 1) session.acquire('a').settle({ outcome: 'success' });
    session.step();
    session.acquire('a').settle({ outcome: 'success' });
    session.resume();
    for (let i = 0; i < 3; i += 1) failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('closed'); // Three calls in the window: neither rejections nor the probe.
    failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('open');
  });

  test.each([
    ['failures in a row', {}],
    ['a rate', { failureThreshold: false, failureRate: { rate: 0.5, minimumCalls: 3, windowCalls: 10 } }],
  ] as const)('peer fault: one failure re-trips after closing, with %s', (_, config) => {
    const { session } = bench({ tools: { a: config } });
    trip(session, 'a');
    steps(session, 3);
    expect(succeedOnce(session, 'a')).toBe('probe');
    failOnce(session, 'a');
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 1 });
    failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('peer fault: mistakes of the model are counted as outages', () => {
    const { session } = bench();
    const mistakes = [
      { outcome: 'ignored', category: 'invalid_input' },
      { outcome: 'ignored', category: 'tool_error' },
      { result: { isError: true, content: [{ type: 'text', text: 'unknown order id 4711' }] } },
      { error: Object.assign(new Error('no such user'), { status: 404 }) },
    ] as const;
    for (let i = 0; i < 20; i += 1) for (const one of mistakes) session.acquire('a').settle(one);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
    expect(session.view().budget.consumed).toBe(0);
  });
});

describe('peer fault: clocks and listeners', () => {
  test('peer fault: wall-clock steps freeze the breaker, or open the gates early', () => {
    let ms = 5_000;
    let unixMs = 1_700_000_000_000;
    const clock = { now: () => ms, unixNow: () => unixMs };
    const { session } = bench({ clock, tools: { a: { cooldownMs: 60_000 } } });
    trip(session, 'a');
    unixMs -= 10 * 365 * 86_400_000; // Ten years back.
    ms += 59_999;
    expect(session.acquire('a').decision).toBe('skip');
    unixMs += 20 * 365 * 86_400_000; // And ten years ahead.
    expect(session.acquire('a').decision).toBe('skip');
    ms += 1;
    expect(session.acquire('a').decision).toBe('probe');
  });

  test('peer fault: a throwing listener turns a success into a rejection', () => {
    const reported = watchDiag();
    const { box, session } = bench();
    const boom = (): never => {
      throw new Error('listener');
    };
    for (const name of ['decision', 'outcome', 'circuit.transition'] as const) box.on(name, boom);
    expect(succeedOnce(session, 'a')).toBe('call');
    expect(() => trip(session, 'a')).not.toThrow();
    expect(session.peek('a')?.state).toBe('open');
    expect(reported).toHaveBeenCalled();
  });
});

describe('peer fault: unbounded growth, and missing data', () => {
  test('peer fault: latency arrays that make a failure cost more with every call', () => {
    const rates = {
      failureRate: { rate: 1, windowCalls: 50 },
      slowCallRate: { rate: 1, slowerThanMs: 1_000, windowMs: 60_000 },
      wastedTokens: { tokens: 1e9 },
    };
    const { session, clock } = bench({ tools: { a: rates } });
    const sizeAfter = (calls: number): number => {
      for (let i = 0; i < calls; i += 1) {
        session
          .acquire('a')
          .settle(i % 2 === 0 ? { outcome: 'failure', category: 'network', tokens: 1 } : { outcome: 'success' });
        clock.advance(10);
        session.resume(); // Each cycle has its own bill.
      }
      expect(session.peek('a')?.state).toBe('closed');
      return JSON.stringify(snapshot(session)).length;
    };
    const full = sizeAfter(10_000);
    // The same but for the digits of counters.
    expect(Math.abs(sizeAfter(20_000) - full)).toBeLessThan(full / 10);
  });

  test('peer fault: global registries that never forget', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { box, clock } = bench({ agent, sessionIdleMs: 1_000 });
    for (let i = 0; i < 100; i += 1) {
      const ended = box.session();
      trip(ended, 'a');
      ended.end();
      trip(box.session(), 'b'); // Never ended: its holder is gone.
    }
    const made = box.session();
    for (let i = 0; i < 100; i += 1) made.acquire(`made-up-${i}`);
    made.end();
    expect(circuitsOf(agent, await scrape())).toEqual({ open: 100 });
    clock.advance(1_000);
    const lines = await scrape();
    expect(circuitsOf(agent, lines)).toEqual({});
    expect(lines.filter((line) => line.includes('made-up'))).toEqual([]);
  });

  test('peer fault: the gauge is absent until the first change', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    bench({ agent, tools: { a: {} } });
    const lines = await scrape();
    for (const state of ['closed', 'open', 'half_open']) {
      const line = `breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="${state}"} 0`;
      expect(seriesOf(agent, lines, 'breakerbox_circuits').map((one) => one.replace(/ \d+$/, ' 0'))).toContain(line);
    }
  });
});
