import { describe, expect, test } from 'vitest';
import { gatePolicy, resolveGroupPolicy, resolvePolicy } from './policy.ts';

describe('C3, P1: the defaults of a policy', () => {
  test('C3: failures in a row alone, unless something else is set', () => {
    expect(resolvePolicy({})).toEqual({
      failureThreshold: 3,
      failureRate: undefined,
      slowCallRate: undefined,
      wastedTokens: undefined,
      probes: 1,
      schedule: 'auto',
      probeAfterSteps: 3,
      cooldownMs: 60_000,
      maxCooldownMs: 300_000,
      probeLeaseMs: 60_000,
      maxRetryAfterMs: 3_600_000,
      distinctTools: 1,
      prefersOthers: false,
    });
  });

  test('C3: what is left out of a trip policy', () => {
    const trips = {
      failureRate: { rate: 0.5 },
      slowCallRate: { rate: 0.5, slowerThanMs: 9 },
      wastedTokens: { tokens: 5 },
    };
    expect(resolvePolicy(trips)).toMatchObject({
      failureThreshold: 3,
      failureRate: { rate: 0.5, minimumCalls: 10, window: { calls: 100 } },
      slowCallRate: { rate: 0.5, slowerThanMs: 9, minimumCalls: 10, window: { calls: 100 } },
      wastedTokens: { tokens: 5, windowMs: 600_000 },
    });
  });

  test('C3: a window of time has no number of calls', () => {
    const { failureRate } = resolvePolicy({ failureRate: { rate: 0.5, windowMs: 1_000 } });
    expect(failureRate).toEqual({ rate: 0.5, minimumCalls: 10, window: { ms: 1_000 } });
  });

  test('C3: failureThreshold false is out of reach, with a profile too', () => {
    expect(resolvePolicy({ profile: 'slow', failureThreshold: false }).failureThreshold).toBe(Number.POSITIVE_INFINITY);
  });

  test.each([
    [{ probeAfterSteps: 1 }, 'steps'],
    [{ cooldownMs: 1 }, 'time'],
    [{ probeAfterSteps: 1, cooldownMs: 1 }, 'either'],
  ])('P1: %j makes the schedule %s', (config, schedule) => {
    expect(resolvePolicy(config).schedule).toBe(schedule);
  });

  test("P2: a cooldown longer than the default maximum raises it; settings of one's own stand", () => {
    expect(resolvePolicy({ cooldownMs: 400_000 }).maxCooldownMs).toBe(400_000);
    const own = { probes: 2, maxCooldownMs: 70_000, probeLeaseMs: 5, maxRetryAfterMs: 0 };
    expect(resolvePolicy(own)).toMatchObject(own);
  });
});

describe('C4: profiles', () => {
  test.each([
    ['default', 3, 60_000],
    ['fast', 3, 30_000],
    ['slow', 2, 120_000],
    ['provider', 5, 60_000],
  ] as const)('C4: %s opens after %i failures and waits %i ms', (profile, failureThreshold, cooldownMs) => {
    expect(resolvePolicy({ profile })).toMatchObject({ failureThreshold, cooldownMs, maxCooldownMs: 300_000 });
  });

  test('C4: a single setting beside the profile wins', () => {
    expect(resolvePolicy({ profile: 'slow', failureThreshold: 7 })).toMatchObject({
      failureThreshold: 7,
      cooldownMs: 120_000,
    });
  });
});

describe('C13: the policy of a group', () => {
  test('C13: 3 failures in a row of 2 different tools, and the profile default', () => {
    expect(resolveGroupPolicy({})).toEqual({ ...resolvePolicy({}), distinctTools: 2, prefersOthers: true });
  });

  test('C13: settings of its own', () => {
    const own = { profile: 'slow', groupThreshold: 1, failureThreshold: 4, probes: 2, probeLeaseMs: 5 } as const;
    expect(resolveGroupPolicy(own)).toEqual({
      ...resolvePolicy({ profile: 'slow', failureThreshold: 4, probes: 2, probeLeaseMs: 5 }),
      distinctTools: 1,
      prefersOthers: true,
    });
    expect(resolveGroupPolicy({ profile: 'slow' })).toMatchObject({ failureThreshold: 2, cooldownMs: 120_000 });
  });
});

describe('S5: the policy of the probe that says whether an event is over', () => {
  test('S5: by time alone, one probe, of another tool after each that fails', () => {
    expect(gatePolicy({ probeAfterMs: 300_000, maxProbeAfterMs: 1_200_000 })).toMatchObject({
      schedule: 'time',
      probes: 1,
      failureThreshold: 1,
      cooldownMs: 300_000,
      maxCooldownMs: 1_200_000,
      prefersOthers: true,
    });
  });

  test('S5: the longest wait is 20 minutes by default, and never less than the first', () => {
    expect(gatePolicy({ probeAfterMs: 1 }).maxCooldownMs).toBe(1_200_000);
    expect(gatePolicy({ probeAfterMs: 2_000_000 }).maxCooldownMs).toBe(2_000_000);
  });
});
