import type { FailureRateConfig } from './trips/failure-rate.ts';
import { type RatePolicy, resolveRate } from './trips/rate.ts';
import { resolveSlowCallRate, type SlowCallRateConfig, type SlowCallRatePolicy } from './trips/slow-call-rate.ts';
import { resolveWastedTokens, type WastedTokensConfig, type WastedTokensPolicy } from './trips/wasted-tokens.ts';

/** When a circuit opens and when it probes, with every default filled in. Times in milliseconds. */
export interface CircuitPolicy {
  /** Consecutive failures that open the circuit (C3); `Infinity`: they alone never do. */
  readonly failureThreshold: number;
  /** Share of failed calls that opens the circuit (C3). */
  readonly failureRate: RatePolicy | undefined;
  /** Share of slow calls that opens the circuit (C3). */
  readonly slowCallRate: SlowCallRatePolicy | undefined;
  /** Tokens of failed calls that open the circuit (C3). */
  readonly wastedTokens: WastedTokensPolicy | undefined;
  /** Probes let through at once in half-open; all must succeed to close (C6). */
  readonly probes: number;
  /** `auto`: by steps while the session's steps advance, else by time. `either`: whichever is due first (P1). */
  readonly schedule: 'auto' | 'steps' | 'time' | 'either';
  /** Steps from opening to the first probe, and between probes (P1); after a systemic event the first rung of a ladder (P3). */
  readonly probeAfterSteps: number;
  /** Wait from opening to the first probe; each failed probe doubles it (P2). */
  readonly cooldownMs: number;
  /** The longest that doubling makes the wait (P2). */
  readonly maxCooldownMs: number;
  /** A probe that hasn't settled by then counts as failed (C9). */
  readonly probeLeaseMs: number;
  /** The longest Retry-After that is believed (O3): a tool can't lock itself out for a year. */
  readonly maxRetryAfterMs: number;
  /** How many different tools must have failed in a row (C13): 1 where one tool has the circuit. */
  readonly distinctTools: number;
  /** After a failed probe, the next probe is that of another tool (C15): for circuits that tools have in common. */
  readonly prefersOthers: boolean;
}

/** Names of the ready-made thresholds (C4). */
export type Profile = 'default' | 'fast' | 'slow' | 'provider';

/** C4: failures in a row, and cooldown. `provider` is for model and API providers, which recover by themselves and often. */
export const PROFILES: Readonly<Record<Profile, Pick<CircuitPolicy, 'failureThreshold' | 'cooldownMs'>>> = {
  default: { failureThreshold: 3, cooldownMs: 60_000 },
  fast: { failureThreshold: 3, cooldownMs: 30_000 },
  slow: { failureThreshold: 2, cooldownMs: 120_000 },
  provider: { failureThreshold: 5, cooldownMs: 60_000 },
};

/**
 * What a user may set of a policy; see {@link CircuitPolicy} for what each means. Failures in a row, rates and tokens stand
 * side by side: whichever is reached first opens the circuit (C3).
 */
export interface CircuitConfig {
  /** Ready-made thresholds; single settings beside it win. Default `default`. */
  readonly profile?: Profile;
  /** Failures in a row. Whole number ≥ 1; `false`: they alone open nothing. Default 3, or as the profile has it. */
  readonly failureThreshold?: number | false;
  /** Share of the calls that fail. Default: not looked at. */
  readonly failureRate?: FailureRateConfig;
  /** Share of the calls that are slow. Default: not looked at. */
  readonly slowCallRate?: SlowCallRateConfig;
  /** Tokens that failed calls cost. Default: not looked at. */
  readonly wastedTokens?: WastedTokensConfig;
  /** Whole number ≥ 1. Default 1. */
  readonly probes?: number;
  /** Whole number ≥ 1. Setting this alone probes by steps only. Default 3, beside the cooldown. */
  readonly probeAfterSteps?: number;
  /** Milliseconds > 0. Setting this alone probes by time only. Default 60,000, or as the profile has it, beside the steps. */
  readonly cooldownMs?: number;
  /** Milliseconds ≥ cooldownMs. Default 300,000, or cooldownMs if that is longer. */
  readonly maxCooldownMs?: number;
  /** Milliseconds > 0; more than the slowest call that may still succeed. Default 60,000. */
  readonly probeLeaseMs?: number;
  /** Milliseconds ≥ 0. Default 3,600,000 (an hour). */
  readonly maxRetryAfterMs?: number;
}

/** What a user may set of a group's policy (C13). */
export interface GroupPolicyConfig
  extends Pick<
    CircuitConfig,
    'profile' | 'probes' | 'probeAfterSteps' | 'cooldownMs' | 'maxCooldownMs' | 'probeLeaseMs' | 'maxRetryAfterMs'
  > {
  /** Failures in a row, of all tools of the group together. Whole number ≥ 1. Default 3, or as the profile has it. */
  readonly failureThreshold?: number;
  /** How many different tools of the group must be among those failures. Whole number ≥ 1. Default 2. */
  readonly groupThreshold?: number;
}

/** When one probe looks whether a systemic event is over (S5). */
export interface GatePolicyConfig {
  /** Milliseconds from the event's latest opening to the probe. */
  readonly probeAfterMs: number;
  /** The longest that failed probes make the wait, in milliseconds. Default 1,200,000, or probeAfterMs if that is longer. */
  readonly maxProbeAfterMs?: number;
}

/** Fills in profile and defaults. `config` must have been validated. */
export const resolvePolicy = (config: CircuitConfig): CircuitPolicy => {
  const base = PROFILES[config.profile ?? 'default'];
  const cooldownMs = config.cooldownMs ?? base.cooldownMs;
  const failureThreshold = config.failureThreshold ?? base.failureThreshold;
  return {
    failureThreshold: failureThreshold === false ? Number.POSITIVE_INFINITY : failureThreshold,
    failureRate: config.failureRate && resolveRate(config.failureRate),
    slowCallRate: config.slowCallRate && resolveSlowCallRate(config.slowCallRate),
    wastedTokens: config.wastedTokens && resolveWastedTokens(config.wastedTokens),
    probes: config.probes ?? 1,
    schedule: schedule(config),
    probeAfterSteps: config.probeAfterSteps ?? 3,
    cooldownMs,
    maxCooldownMs: config.maxCooldownMs ?? Math.max(300_000, cooldownMs),
    probeLeaseMs: config.probeLeaseMs ?? 60_000,
    maxRetryAfterMs: config.maxRetryAfterMs ?? 3_600_000,
    distinctTools: 1,
    prefersOthers: false,
  };
};

/** C14: the same for the circuits of a tool's keys, which go by failures in a row alone. */
export const resolveKeyPolicy = ({
  failureThreshold,
  failureRate,
  slowCallRate,
  wastedTokens,
  ...config
}: CircuitConfig): CircuitPolicy => resolvePolicy({ ...config, ...(failureThreshold && { failureThreshold }) });

/** C13, C15: the same for the circuit of a group. */
export const resolveGroupPolicy = ({ groupThreshold = 2, ...config }: GroupPolicyConfig): CircuitPolicy => ({
  ...resolvePolicy(config),
  distinctTools: groupThreshold,
  prefersOthers: true,
});

/** S5: the policy of the circuit that stands before all tools of an event while it lasts. */
export const gatePolicy = ({
  probeAfterMs,
  maxProbeAfterMs = Math.max(1_200_000, probeAfterMs),
}: GatePolicyConfig): CircuitPolicy => ({
  ...resolvePolicy({ failureThreshold: 1, cooldownMs: probeAfterMs, maxCooldownMs: maxProbeAfterMs }),
  prefersOthers: true,
});

const schedule = ({ probeAfterSteps, cooldownMs }: CircuitConfig): CircuitPolicy['schedule'] => {
  if (probeAfterSteps !== undefined && cooldownMs !== undefined) return 'either';
  if (probeAfterSteps !== undefined) return 'steps';
  if (cooldownMs !== undefined) return 'time';
  return 'auto';
};
