import { describe, expect, test } from 'vitest';
import { type Circuit, closedCircuit, type Failure, fail, succeed } from '../circuit.ts';
import {
  type CircuitConfig,
  type CircuitPolicy,
  resolveGroupPolicy,
  resolveKeyPolicy,
  resolvePolicy,
} from '../policy.ts';
import { at } from '../test-support.circuit.ts';

/** A call and when it ended; a success without a category. */
interface Call extends Partial<Failure> {
  readonly ms?: number;
}

const start = closedCircuit();

const step = (circuit: Circuit, { ms = 0, category, ...facts }: Call, policy: CircuitPolicy): Circuit =>
  category === undefined
    ? succeed(circuit, start, facts, policy, at(ms))
    : fail(circuit, start, { category, ...facts }, policy, at(ms));

const after = (policy: CircuitPolicy, calls: readonly Call[], from: Circuit = start): Circuit =>
  calls.reduce((circuit, call) => step(circuit, call, policy), from);

/** Which call opens the circuit, by which trip policy, and with which category. */
const opening = (policy: CircuitPolicy, calls: readonly Call[], from: Circuit = start): string => {
  let circuit = from;
  for (const [index, call] of calls.entries()) {
    circuit = step(circuit, call, policy);
    if (circuit.state === 'open') return `${index + 1} ${circuit.outage.trip} ${circuit.outage.category}`;
  }
  return 'closed';
};

const ok: Call = {};
const bad: Call = { category: 'server' };
const net: Call = { category: 'network' };
const weak: Call = { category: 'unknown' };
const degraded = (call: Call): Call => ({ ...call, degraded: true });
const late = (call: Call, ms: number): Call => ({ ...call, ms });
const of = (tools: string): Call[] => [...tools].map((tool) => ({ ...net, tool }));
const on = (...keys: (string | undefined)[]): Call[] => keys.map((key) => ({ ...net, key }));
const times = (count: number, call: Call): Call[] => Array.from({ length: count }, () => call);
const never = { failureThreshold: false } as const;

test.each<[CircuitConfig, readonly Call[], string]>([
  [{}, [bad, bad, net], '3 consecutive network'],
  [{}, [bad, bad, ok, bad, bad], 'closed'],
  [{ failureThreshold: 1 }, [ok, bad], '2 consecutive server'],
  [never, times(1_000, bad), 'closed'],
  // K1: one fewer for a failure of a degraded tool, but never less than one.
  [{}, [bad, degraded(bad)], '2 consecutive server'],
  [{}, [degraded(bad), bad], 'closed'],
  [{ failureThreshold: 1 }, [degraded(bad)], '1 consecutive server'],
  [{ failureThreshold: 1 }, [degraded(ok)], 'closed'],
  [never, [degraded(bad)], 'closed'],
  // O6: unknown failures count half.
  [{}, times(6, weak), '6 consecutive unknown'],
  [{}, [net, net, weak, weak], '4 consecutive unknown'],
  [{}, [weak, net, net, bad], '4 consecutive server'],
  [{}, [...times(5, weak), ok, ...times(5, weak)], 'closed'],
  [{ failureThreshold: 1 }, [weak, weak], '2 consecutive unknown'],
  [
    { failureThreshold: 2 },
    [
      { ...weak, full: true },
      { ...weak, full: true },
    ],
    '2 consecutive unknown',
  ], // C14
  [{}, [...times(3, weak), degraded(weak)], '4 consecutive unknown'],
  [{}, [net, degraded(weak)], 'closed'],
  [{ failureThreshold: 1 }, [degraded(weak)], 'closed'],
  [{ failureThreshold: 2 }, [degraded(weak), degraded(weak)], '2 consecutive unknown'],
  [never, times(100, weak), 'closed'],
])('C3, K1, O6: failures in a row: %j', (config, calls, opened) => {
  expect(opening(resolvePolicy(config), calls)).toBe(opened);
});

test.each([
  [{}, of('aba'), '3 consecutive network'],
  [{}, of('aab'), '3 consecutive network'],
  [{}, of('aaaaaaaaa'), 'closed'],
  [{}, of('aaaaaaaaab'), '10 consecutive network'],
  [{}, [...of('ab'), ok, ...of('bbb')], 'closed'],
  [{ failureThreshold: 1, groupThreshold: 3 }, of('abc'), '3 consecutive network'],
  [{ failureThreshold: 2, groupThreshold: 1 }, of('aa'), '2 consecutive network'],
  [{}, [{ ...net, tool: 'a', atOnce: 'transport' as const }], '1 transport network'],
])('C13: a group with %j opens after failures of %j', (config, calls, opened) => {
  expect(opening(resolveGroupPolicy(config), calls)).toBe(opened);
});

test.each<[CircuitConfig, readonly Call[], string]>([
  [{ failureThreshold: 9 }, on('k', 'k', undefined, 'l', 'k', undefined, 'm'), '7 keys network'],
  [{ failureThreshold: 9 }, [...on('k', 'l'), ok, ...on('m', 'n')], 'closed'],
  [{ failureThreshold: 9, failureRate: { rate: 1 } }, [...on('k', 'l'), ok, ...on('m', 'n')], 'closed'],
  [{ failureThreshold: 3 }, on('k', 'l', 'm'), '3 consecutive network'],
  [{ ...never, failureRate: { rate: 1, minimumCalls: 3 } }, on('k', 'l', 'm'), '3 keys network'],
  [{ ...never, failureRate: { rate: 1, minimumCalls: 3 } }, on('k', 'l', 'k'), '3 failure_rate network'],
])('C14: failures on several keys: %j', (config, calls, opened) => {
  expect(opening(resolvePolicy(config), calls)).toBe(opened);
});

test.each<[CircuitConfig, number]>([
  [{}, 3],
  [{ failureThreshold: 1 }, 1],
  [{ profile: 'provider' }, 5],
  [{ profile: 'slow', failureThreshold: false }, 2],
])(
  'C14: the circuit of a key of %j opens at %i failures in a row, and for no other reason',
  (config, failureThreshold) => {
    const rates = {
      failureRate: { rate: 0.1 },
      slowCallRate: { rate: 0.1, slowerThanMs: 1 },
      wastedTokens: { tokens: 1 },
    };
    const { failureThreshold: _, ...rest } = config;
    expect(resolveKeyPolicy({ ...config, ...rates })).toEqual({ ...resolvePolicy(rest), failureThreshold });
  },
);

const rate = { rate: 0.5, minimumCalls: 4, windowCalls: 6 };
const byTime = { rate: 0.5, minimumCalls: 2, windowMs: 1_000 };
const slow: Call = { durationMs: 101 };
const slowerThanMs = 100;
const costly: Call = { ...bad, tokens: 500 };
const wasted = { tokens: 1_000 };

test.each<[CircuitConfig, readonly Call[], string]>([
  [{ failureRate: rate }, [bad, ok, ok, ok], 'closed'],
  [{ failureRate: rate }, [bad, ok, ok, bad], '4 failure_rate server'],
  [{ failureRate: rate }, [bad, net, ok, ok], '4 failure_rate network'],
  [{ failureRate: { rate: 0.2 } }, [...times(90, ok), ...times(20, bad)], '110 failure_rate server'],
  [{ failureRate: { rate: 0.2 } }, times(10, bad), '10 failure_rate server'],
  [{ failureRate: { rate: 0.5, windowCalls: 2 } }, [bad, ok], '2 failure_rate server'],
  [{ failureRate: { rate: 0.5, windowMs: 9 } }, times(10, bad), '10 failure_rate server'],
  [{ failureRate: byTime }, [bad, late(bad, 1_000)], 'closed'],
  [{ failureRate: byTime }, [bad, late(bad, 999)], '2 failure_rate server'],
  [{ failureThreshold: 2, failureRate: rate }, [ok, ok, bad, bad], '4 consecutive server'],
  [{ failureThreshold: 2, failureRate: rate }, [bad, ok, bad, ok], '4 failure_rate server'],
  // O6: unknown failures are in no rate, but rates are compared then too, because time has passed.
  [{ failureRate: rate }, [...times(50, weak), ...times(3, net), ...times(50, weak), bad], '104 failure_rate server'],
  [{ failureRate: byTime }, [bad, weak, ok], '3 failure_rate server'],
  [
    { failureRate: { ...byTime, rate: 1, minimumCalls: 1 } },
    [ok, late(bad, 150), late(weak, 1_000)],
    '3 failure_rate unknown',
  ],
  [
    { slowCallRate: { ...byTime, slowerThanMs } },
    [
      { ...slow, ...weak },
      { ...slow, ...weak },
    ],
    'closed',
  ],
  [{ slowCallRate: { rate: 0.5, minimumCalls: 2, slowerThanMs } }, [slow, ok], '2 slow_call_rate timeout'],
  [{ slowCallRate: { rate: 0.5, minimumCalls: 2, slowerThanMs } }, times(50, { durationMs: 100 }), 'closed'],
  [
    { slowCallRate: { rate: 0.5, minimumCalls: 2, slowerThanMs } },
    [ok, { ...slow, ...net }],
    '2 slow_call_rate network',
  ],
  [{ slowCallRate: { rate: 0.5, minimumCalls: 2, slowerThanMs } }, times(50, bad), 'closed'],
  [{ slowCallRate: { ...byTime, slowerThanMs } }, [slow, late(slow, 1_000)], 'closed'],
  [{ slowCallRate: { ...byTime, slowerThanMs } }, [slow, late(slow, 999)], '2 slow_call_rate timeout'],
  [{ wastedTokens: wasted }, [costly, ok, { ...costly, tokens: 499 }], 'closed'],
  [{ wastedTokens: wasted }, [costly, ok, costly], '3 wasted_tokens server'],
  [{ wastedTokens: wasted }, [{ ...weak, tokens: 1_000 }], '1 wasted_tokens unknown'], // O6
  [{ wastedTokens: wasted }, times(9, { tokens: 1_000 }), 'closed'], // O4
  [{ wastedTokens: wasted }, [costly, late(costly, 599_999)], '2 wasted_tokens server'],
  [{ wastedTokens: wasted }, [costly, late(costly, 600_000)], 'closed'],
  [{ wastedTokens: { ...wasted, windowMs: 100 } }, [costly, late(costly, 100)], 'closed'],
])('C3, O4: with %j the circuit opens after %j', (config, calls, opened) => {
  expect(opening(resolvePolicy({ ...never, ...config }), calls)).toBe(opened);
});

describe('C3: windows', () => {
  const policyOf = (config: CircuitConfig) => resolvePolicy({ ...never, ...config });

  test('O3: a Retry-After of a failure in the window applies, even if later calls succeeded', () => {
    const calls = [{ ...bad, retryAfterMs: 90_000 }, ok, ok, late(bad, 10)];
    expect(after(policyOf({ failureRate: rate }), calls)).toMatchObject({ outage: { notBeforeMs: 90_000 } });
  });

  test('C11: a window under another configuration begins again', () => {
    const six = policyOf({ failureRate: { rate: 1, minimumCalls: 6, windowCalls: 6 }, wastedTokens: wasted });
    const kept = after(
      six,
      times(5, costly).map((one) => ({ ...one, tokens: 1 })),
    );
    expect(opening(six, [bad], kept)).toBe('1 failure_rate server');
    for (const failureRate of [
      { rate: 1, minimumCalls: 6, windowCalls: 7 },
      { rate: 1, minimumCalls: 6, windowMs: 50 },
    ]) {
      expect(opening(policyOf({ failureRate }), times(9, bad), kept)).toBe('6 failure_rate server');
      const other = after(policyOf({ failureRate }), times(5, bad));
      expect(opening(six, times(9, bad), other)).toBe('6 failure_rate server');
    }
    const shorter = after(policyOf({ failureRate: { rate: 1, minimumCalls: 6, windowMs: 51 } }), times(5, bad));
    expect(opening(policyOf({ failureRate: { rate: 1, minimumCalls: 6, windowMs: 50 } }), [bad], shorter)).toBe(
      'closed',
    );
    const spent = after(policyOf({ wastedTokens: { ...wasted, windowMs: 50 } }), [costly]);
    expect(opening(policyOf({ wastedTokens: wasted }), [costly], spent)).toBe('closed');
  });

  test('C11: a window that is no longer configured opens no circuit', () => {
    const policy = policyOf({ failureRate: rate, slowCallRate: { ...rate, slowerThanMs }, wastedTokens: wasted });
    const kept = after(policy, times(3, { ...costly, ...slow, tokens: 300 }));
    expect(opening(policyOf({}), times(9, { ...costly, ...slow }), kept)).toBe('closed');
  });

  test('C11: an opening without a known failure has the category unknown', () => {
    const kept = after(policyOf({ failureRate: rate }), times(3, bad));
    expect(opening(policyOf({ failureRate: rate }), [ok], { ...kept, latest: undefined } as Circuit)).toBe(
      '1 failure_rate unknown',
    );
  });
});
