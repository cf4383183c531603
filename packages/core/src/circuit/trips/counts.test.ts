import { describe, expect, test } from 'vitest';
import type { Moment } from '../../clock.ts';
import type { ErrorCategory } from '../../outcome/taxonomy.ts';
import { admit, type Circuit, closedCircuit, fail, release, succeed, type Ticket } from '../circuit.ts';
import { type CircuitConfig, resolvePolicy } from '../policy.ts';
import { recordCall, trippedBy } from './counts.ts';

const at = (ms: number): Moment => ({ ms, step: 0, stepMs: 0 });

interface Call {
  readonly ms?: number;
  readonly category?: ErrorCategory;
  readonly durationMs?: number;
  readonly tokens?: number;
  readonly retryAfterMs?: number;
}

const ok: Call = {};
const bad: Call = { category: 'server' };

/** What comes of calls that were all let through by `from`; they settle at 0 unless they say when. */
const after = (config: CircuitConfig, calls: readonly Call[], from: Circuit = closedCircuit()): Circuit => {
  const policy = resolvePolicy({ failureThreshold: false, ...config });
  return calls.reduce((circuit, { ms = 0, category, durationMs = 1, tokens = 0, retryAfterMs }) => {
    const facts = { durationMs, tokens };
    return category === undefined
      ? succeed(circuit, from, facts, policy, at(ms))
      : fail(circuit, from, { ...facts, category, retryAfterMs }, policy, at(ms));
  }, from);
};

const times = (count: number, call: Call): Call[] => Array.from({ length: count }, () => call);

describe('C3: failure rate', () => {
  const failureRate = { rate: 0.5, minimumCalls: 4, windowCalls: 6 };

  test('C3: opens at the rate exactly, and says so', () => {
    expect(after({ failureRate }, [bad, ok, ok, ok])).toMatchObject({ state: 'closed' });
    expect(after({ failureRate }, [bad, ok, ok, bad])).toMatchObject({
      state: 'open',
      generation: 1,
      outage: { category: 'server', trip: 'failure_rate', openedAt: at(0), waitMs: 60_000 },
    });
  });

  test('C3: not with fewer calls than the minimum', () => {
    expect(after({ failureRate }, [bad, bad, bad])).toMatchObject({ state: 'closed', failures: 3 });
    expect(after({ failureRate }, [bad, bad, bad, bad])).toMatchObject({ state: 'open' });
  });

  test('C3: is judged at a success too, with the category of the latest failure', () => {
    const calls = [bad, { category: 'network' }, ok] as const;
    expect(after({ failureRate }, calls)).toMatchObject({ state: 'closed', failures: 0 });
    expect(after({ failureRate }, [...calls, ok])).toMatchObject({
      state: 'open',
      outage: { category: 'network', trip: 'failure_rate' },
    });
  });

  test('C3: by default over the last 100 calls, with at least 10', () => {
    const byDefault = { failureRate: { rate: 0.2 } };
    expect(after(byDefault, times(9, bad))).toMatchObject({ state: 'closed' });
    expect(after(byDefault, times(10, bad))).toMatchObject({ state: 'open' });
    const mixed = [...times(90, ok), ...times(19, bad)];
    expect(after(byDefault, mixed)).toMatchObject({ state: 'closed', failures: 19 });
    expect(after(byDefault, [...mixed, bad])).toMatchObject({ state: 'open' });
  });

  test('C3: a window shorter than the default minimum is judged when it is full', () => {
    const short = { failureRate: { rate: 0.5, windowCalls: 2 } };
    expect(after(short, [bad])).toMatchObject({ state: 'closed' });
    expect(after(short, [bad, ok])).toMatchObject({ state: 'open' });
  });

  test('C3: an idle time window is empty again', () => {
    const byTime = { failureRate: { rate: 0.5, minimumCalls: 2, windowMs: 1_000 } };
    expect(after(byTime, [bad, { ...bad, ms: 1_000 }])).toMatchObject({ state: 'closed' });
    expect(after(byTime, [bad, { ...bad, ms: 999 }])).toMatchObject({ state: 'open' });
    const least = { failureRate: { rate: 0.5, windowMs: 1_000 } };
    expect(after(least, times(9, bad))).toMatchObject({ state: 'closed' });
    expect(after(least, times(10, bad))).toMatchObject({ state: 'open' });
  });

  test('C3: stands beside failures in a row, whichever is first', () => {
    expect(after({ failureThreshold: 2, failureRate }, [bad, bad])).toMatchObject({ outage: { trip: 'consecutive' } });
    const alternating = [bad, ok, bad, ok];
    expect(after({ failureThreshold: 2, failureRate }, alternating)).toMatchObject({
      outage: { trip: 'failure_rate' },
    });
  });

  test('C3: late and ignored results are in no window', () => {
    const policy = resolvePolicy({ failureThreshold: false, failureRate });
    const start = closedCircuit(5);
    const late: Ticket = { generation: 4 };
    expect(fail(start, late, { category: 'server', durationMs: 1, tokens: 1 }, policy, at(0))).toBe(start);
    expect(succeed(start, late, { durationMs: 1, tokens: 0 }, policy, at(0))).toBe(start);
    expect(release(start, start)).toBe(start);
  });

  test('C3: rejections are in no window, and closing clears all counts', () => {
    const policy = resolvePolicy({ failureThreshold: false, failureRate, cooldownMs: 100 });
    const open = after({ failureRate, cooldownMs: 100 }, times(4, bad));
    expect(admit(open, policy, at(1))).toEqual({ verdict: 'reject', circuit: open });
    const probe = admit(open, policy, at(100));
    if (probe.verdict !== 'probe') throw new Error('expected a probe');
    const { generation } = probe.circuit;
    const ticket = { generation, lease: probe.lease };
    const closed = succeed(probe.circuit, ticket, { durationMs: 1, tokens: 0 }, policy, at(101));
    expect(closed).toEqual(closedCircuit(3));
    expect(after({ failureRate }, times(3, bad), closed)).toMatchObject({ state: 'closed', failures: 3 });
  });

  test('O3: a Retry-After of a failure in the window holds, though calls succeeded since', () => {
    const calls = [{ ...bad, retryAfterMs: 90_000 }, ok, ok, { ...bad, ms: 10 }];
    expect(after({ failureRate }, calls)).toMatchObject({ state: 'open', outage: { notBeforeMs: 90_000 } });
    expect(after({ failureRate }, [bad, { ...bad, retryAfterMs: 90_000 }, ok, ok])).toMatchObject({
      outage: { notBeforeMs: 90_000 },
    });
  });

  test('C3: an opening whose failure is not known is of category unknown', () => {
    const kept = after({ failureRate }, times(3, bad));
    if (kept.state !== 'closed' || kept.counts === undefined) throw new Error('expected a circuit with counts');
    const forgotten: Circuit = { ...kept, counts: { ...kept.counts, category: undefined } };
    expect(after({ failureRate }, [ok], forgotten)).toMatchObject({ state: 'open', outage: { category: 'unknown' } });
  });

  test('C3: a window that was kept from another configuration begins again', () => {
    const kept = after({ failureRate: { rate: 1, minimumCalls: 6, windowCalls: 6 } }, times(5, bad));
    const fresh = { calls: 1, hits: 1 };
    const sized = { failureRate: { rate: 1, windowCalls: 7 } };
    expect(after(sized, [bad], kept)).toMatchObject({ counts: { failureRate: { size: 7, ...fresh } } });
    const timed = { failureRate: { rate: 1, windowMs: 50 } };
    const byTime = after(timed, [bad], kept);
    expect(byTime).toMatchObject({ counts: { failureRate: { spanMs: 50, buckets: [{ calls: 1 }] } } });
    const longer = { failureRate: { rate: 1, windowMs: 51 } };
    expect(after(longer, [bad], byTime)).toMatchObject({
      counts: { failureRate: { spanMs: 51, buckets: [{ calls: 1 }] } },
    });
    expect(after(sized, [bad], byTime)).toMatchObject({ counts: { failureRate: { size: 7, ...fresh } } });
    expect(after(timed, [bad], byTime)).toMatchObject({ counts: { failureRate: { buckets: [{ calls: 2 }] } } });
  });
});

describe('C3: slow-call rate', () => {
  const slowCallRate = { rate: 0.5, slowerThanMs: 100, minimumCalls: 2 };
  const slow: Call = { durationMs: 101 };

  test('C3: opens when enough calls took longer, and calls it a timeout where they succeeded', () => {
    expect(after({ slowCallRate }, [slow])).toMatchObject({ state: 'closed' });
    expect(after({ slowCallRate }, [slow, ok])).toMatchObject({
      state: 'open',
      outage: { category: 'timeout', trip: 'slow_call_rate' },
    });
  });

  test('C3: a call that took just so long is not slow', () => {
    expect(after({ slowCallRate }, times(50, { durationMs: 100 }))).toMatchObject({ state: 'closed' });
  });

  test('C3: a slow failure counts, and opens with its own category', () => {
    expect(after({ slowCallRate }, [ok, { ...slow, category: 'network' }])).toMatchObject({
      outage: { category: 'network', trip: 'slow_call_rate' },
    });
  });

  test('C3: fast failures are not slow calls', () => {
    expect(after({ slowCallRate }, times(50, bad))).toMatchObject({ state: 'closed' });
  });

  test('C3: over a time window', () => {
    const byTime = { slowCallRate: { ...slowCallRate, windowMs: 1_000 } };
    expect(after(byTime, [slow, { ...slow, ms: 1_000 }])).toMatchObject({ state: 'closed' });
    expect(after(byTime, [slow, { ...slow, ms: 999 }])).toMatchObject({ state: 'open' });
  });
});

describe('C3, O4: wasted tokens', () => {
  const wastedTokens = { tokens: 1_000 };
  const costly: Call = { category: 'server', tokens: 500 };

  test('C3: opens when failed calls have cost so many, however many succeed between', () => {
    expect(after({ wastedTokens }, [costly, ok, { ...costly, tokens: 499 }])).toMatchObject({ state: 'closed' });
    expect(after({ wastedTokens }, [costly, ok, costly])).toMatchObject({
      state: 'open',
      outage: { category: 'server', trip: 'wasted_tokens' },
    });
  });

  test('O4: what a call cost that succeeded is not wasted', () => {
    expect(after({ wastedTokens }, times(9, { tokens: 1_000 }))).toMatchObject({ state: 'closed' });
  });

  test('C3: by default within ten minutes', () => {
    expect(after({ wastedTokens }, [costly, { ...costly, ms: 599_999 }])).toMatchObject({ state: 'open' });
    expect(after({ wastedTokens }, [costly, { ...costly, ms: 600_000 }])).toMatchObject({ state: 'closed' });
  });

  test('C3: within a time of its own', () => {
    const short = { wastedTokens: { tokens: 1_000, windowMs: 100 } };
    expect(after(short, [costly, { ...costly, ms: 99 }])).toMatchObject({ state: 'open' });
    expect(after(short, [costly, { ...costly, ms: 100 }])).toMatchObject({ state: 'closed' });
  });

  test('C3: a failure of unknown cost leaves the window as it is', () => {
    const once = after({ wastedTokens }, [costly]);
    const twice = after({ wastedTokens }, [bad], once);
    if (once.state !== 'closed' || twice.state !== 'closed') throw new Error('expected closed circuits');
    expect(twice.counts?.wastedTokens).toBe(once.counts?.wastedTokens);
  });

  test('C3: a window that was kept from another configuration begins again', () => {
    const kept = after({ wastedTokens: { tokens: 1_000, windowMs: 50 } }, [costly]);
    expect(after({ wastedTokens }, [costly], kept)).toMatchObject({ state: 'closed' });
  });
});

test.each<CircuitConfig>([
  { failureRate: { rate: 0.5, minimumCalls: 1 } },
  { slowCallRate: { rate: 0.5, slowerThanMs: 1, minimumCalls: 1 } },
  { wastedTokens: { tokens: 1 } },
])('C3: a window that is configured no more, or was not yet, opens nothing: %j', (config) => {
  const counting = resolvePolicy(config);
  const silent = resolvePolicy({});
  const call = { category: 'server', durationMs: 5, tokens: 5 } as const;
  const counts = recordCall(undefined, call, counting, 0);
  expect(trippedBy(counts, counting, 0)).toBe(Object.keys(config)[0]?.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
  expect(trippedBy(counts, silent, 0)).toBeUndefined();
  expect(trippedBy(recordCall(undefined, call, silent, 0), counting, 0)).toBeUndefined();
});
