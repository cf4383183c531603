import type { BreakerboxConfig, CircuitMode, ToolConfig } from '../index.ts';

/**
 * The configuration of the model, with the defaults of behaviour.md filled in anew: what the engine takes for a default is
 * not asked.
 */
export interface Rules {
  readonly mode: CircuitMode;
  /** Infinity where failures in a row alone open nothing. */
  readonly failureThreshold: number;
  /** C3, over a count window. */
  readonly failureRate:
    | { readonly rate: number; readonly minimumCalls: number; readonly windowCalls: number }
    | undefined;
  readonly probes: number;
  readonly probeAfterSteps: number;
  readonly cooldownMs: number;
  readonly maxCooldownMs: number;
  readonly probeLeaseMs: number;
  readonly maxRetryAfterMs: number;
  /** Whether steps count, and whether time does; `while_steps_stand` where nobody set either (P1). */
  readonly bySteps: boolean;
  readonly byTime: boolean | 'while_steps_stand';
}

/** C4. */
const PROFILES = {
  default: { failureThreshold: 3, cooldownMs: 60_000 },
  fast: { failureThreshold: 3, cooldownMs: 30_000 },
  slow: { failureThreshold: 2, cooldownMs: 120_000 },
  provider: { failureThreshold: 5, cooldownMs: 60_000 },
};

/** The rules of a tool. */
export const rulesOf = (
  config: ToolConfig,
  defaultMode: CircuitMode,
  scope: BreakerboxConfig['scope'] = 'session',
): Rules => {
  const profile = PROFILES[config.profile ?? 'default'];
  const cooldownMs = config.cooldownMs ?? profile.cooldownMs;
  const neither = config.cooldownMs === undefined && config.probeAfterSteps === undefined;
  return {
    mode: config.mode ?? defaultMode,
    failureThreshold:
      config.failureThreshold === false ? Infinity : (config.failureThreshold ?? profile.failureThreshold),
    failureRate: config.failureRate && rateOf(config.failureRate),
    probes: config.probes ?? 1,
    probeAfterSteps: config.probeAfterSteps ?? 3,
    cooldownMs,
    maxCooldownMs: config.maxCooldownMs ?? Math.max(300_000, cooldownMs),
    probeLeaseMs: config.probeLeaseMs ?? 60_000,
    maxRetryAfterMs: config.maxRetryAfterMs ?? 3_600_000,
    // C12: steps of many sessions together say nothing of the time that has passed; who sets them knows what they count.
    bySteps: (neither && scope !== 'process') || config.probeAfterSteps !== undefined,
    byTime: neither ? scope === 'process' || 'while_steps_stand' : config.cooldownMs !== undefined,
  };
};

const rateOf = ({ rate, minimumCalls, windowCalls = 100 }: NonNullable<ToolConfig['failureRate']>) => ({
  rate,
  minimumCalls: minimumCalls ?? Math.min(10, windowCalls),
  windowCalls,
});

/** S1, with its defaults. */
export interface SystemicRules {
  readonly sameCategory: number;
  readonly anyCategory: number;
  readonly windowSteps: number;
  readonly windowMs: number;
  readonly recovery?: { readonly afterMs?: number };
}

export const systemicRulesOf = (config: BreakerboxConfig['systemic'] = {}): SystemicRules | undefined =>
  config === false ? undefined : { sameCategory: 2, anyCategory: 3, windowSteps: 10, windowMs: 120_000, ...config };

/** A point in the life of a session. */
export interface When {
  readonly ms: number;
  readonly step: number;
}

/** Recorded in the decisions on S1: by steps if any lie between the two, else by time. */
export const inOneWindow = (rules: SystemicRules, from: When, to: When): boolean =>
  to.step > from.step ? to.step - from.step <= rules.windowSteps : to.ms - from.ms <= rules.windowMs;
