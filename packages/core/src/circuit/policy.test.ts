import { expect, test } from 'vitest';
import { type CircuitConfig, type CircuitPolicy, gatePolicy, resolveGroupPolicy, resolvePolicy } from './policy.ts';

const RATE = { rate: 0.5, minimumCalls: 10, window: { calls: 100 } };

test('C3, P1: the defaults', () => {
  expect(resolvePolicy({})).toEqual({
    failureThreshold: 3,
    distinctTools: 1,
    keysThreshold: 8,
    firstKeysThreshold: 5,
    failureRate: undefined,
    slowCallRate: undefined,
    wastedTokens: undefined,
    countsSuccesses: false,
    probes: 1,
    schedule: 'auto',
    probeAfterSteps: [3, 3, 3, 6, 6, 12, 12, 20],
    cooldownMs: 60_000,
    maxCooldownMs: 300_000,
    probeLeaseMs: 60_000,
    maxRetryAfterMs: 3_600_000,
    prefersOthers: false,
  });
});

test.each<[CircuitConfig, Partial<CircuitPolicy>]>([
  [{ failureRate: { rate: 0.5 } }, { failureRate: RATE, countsSuccesses: true }],
  [{ failureRate: { rate: 0.5, windowMs: 9 } }, { failureRate: { ...RATE, window: { ms: 9 } } }],
  [
    { failureRate: { rate: 0.5, windowCalls: 5 } },
    { failureRate: { rate: 0.5, minimumCalls: 5, window: { calls: 5 } } },
  ],
  [
    { slowCallRate: { rate: 0.5, slowerThanMs: 9 } },
    { slowCallRate: { ...RATE, slowerThanMs: 9 }, countsSuccesses: true },
  ],
  [{ wastedTokens: { tokens: 5 } }, { wastedTokens: { tokens: 5, windowMs: 600_000 }, countsSuccesses: true }],
  [
    { profile: 'slow', failureThreshold: false },
    { failureThreshold: Number.POSITIVE_INFINITY, countsSuccesses: false },
  ],
  [{ probeAfterSteps: 1 }, { schedule: 'steps' }],
  [{ cooldownMs: 1 }, { schedule: 'time' }],
  [{ probeAfterSteps: 1, cooldownMs: 1 }, { schedule: 'either' }],
  [{ cooldownMs: 400_000 }, { maxCooldownMs: 400_000 }],
  [
    { probes: 2, maxCooldownMs: 70_000, probeLeaseMs: 5, maxRetryAfterMs: 0 },
    { probes: 2, maxRetryAfterMs: 0, probeLeaseMs: 5 },
  ],
  [{ profile: 'default' }, { failureThreshold: 3, cooldownMs: 60_000 }],
  [{ profile: 'fast' }, { failureThreshold: 3, cooldownMs: 30_000 }],
  [{ profile: 'slow' }, { failureThreshold: 2, cooldownMs: 120_000, schedule: 'auto' }],
  [{ profile: 'provider' }, { failureThreshold: 5, cooldownMs: 60_000, maxCooldownMs: 300_000 }],
  [
    { profile: 'slow', failureThreshold: 7 },
    { failureThreshold: 7, cooldownMs: 120_000 },
  ],
])('C3, C4, P1, P2: %j gives %j', (config, policy) => {
  expect(resolvePolicy(config)).toMatchObject(policy);
});

test('C13: a group needs failures of 2 tools by default, and prefers others for the next probe', () => {
  expect(resolveGroupPolicy({})).toEqual({ ...resolvePolicy({}), distinctTools: 2, prefersOthers: true });
  const own = { profile: 'slow', failureThreshold: 4, probes: 2 } as const;
  expect(resolveGroupPolicy({ ...own, groupThreshold: 1 })).toEqual({ ...resolvePolicy(own), prefersOthers: true });
});

test('S5: the gate waits by time alone; its longest wait is 20 minutes, and never less than the first', () => {
  const gate = { schedule: 'time', probes: 1, failureThreshold: 1, prefersOthers: true };
  expect(gatePolicy({ probeAfterMs: 5, maxProbeAfterMs: 9 })).toMatchObject({
    ...gate,
    cooldownMs: 5,
    maxCooldownMs: 9,
  });
  expect([1, 2_000_000].map((probeAfterMs) => gatePolicy({ probeAfterMs }).maxCooldownMs)).toEqual([
    1_200_000, 2_000_000,
  ]);
});
