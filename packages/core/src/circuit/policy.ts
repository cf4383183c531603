import type { ErrorCategory } from '../classify/taxonomy.ts';
import { GROUP_PREFIX } from '../telemetry/semconv.ts';
import type { CustomTripPolicy } from './trip-policies/custom.ts';
import type { FailureRateConfig, SlowCallRateConfig } from './trip-policies/rate.ts';
import { countsSuccesses, type ResolvedTrips, resolveTrips, TRIP_CHECKS } from './trip-policies/trip-policies.ts';
import type { WastedTokensConfig } from './trip-policies/wasted-tokens.ts';

/** When a circuit opens and when it probes, with every default filled in. Times in milliseconds. */
export interface CircuitPolicy
  extends ResolvedTrips,
    Required<Pick<CircuitConfig, Exclude<Probing, 'probeAfterSteps' | 'maxInFlight'>>> {
  /** The waits by steps after the opening and after each failed probe. The last one repeats (P1). */
  readonly probeAfterSteps: readonly [number, ...number[]];
  /** Whether successes count too, because a rate or tokens are configured (C3). */
  readonly countsSuccesses: boolean;
  /** `auto`: by steps while the session's steps advance, otherwise by time. `either`: whichever is due first (P1). */
  readonly schedule: 'auto' | 'steps' | 'time' | 'either';
  /** Calls that may be under way at once (C17); undefined: any number. */
  readonly maxInFlight: number | undefined;
  /** Whether another tool probes next after a failed probe (C15). For circuits that several tools share. */
  readonly prefersOthers: boolean;
}

type Probing =
  | 'probes'
  | 'probeAfterSteps'
  | 'cooldownMs'
  | 'maxCooldownMs'
  | 'probeLeaseMs'
  | 'maxRetryAfterMs'
  | 'maxInFlight';

/** Names of the ready-made thresholds (C4). */
export type Profile = 'default' | 'fast' | 'slow' | 'provider';

/** C4: failures in a row, and cooldown. `provider` is for model and API providers, which often recover by themselves. */
export const PROFILES: Readonly<Record<Profile, Pick<CircuitPolicy, 'failureThreshold' | 'cooldownMs'>>> = {
  default: { failureThreshold: 3, cooldownMs: 60_000 },
  fast: { failureThreshold: 3, cooldownMs: 30_000 },
  slow: { failureThreshold: 2, cooldownMs: 120_000 },
  provider: { failureThreshold: 5, cooldownMs: 60_000 },
};

/**
 * Settings of a circuit's policy. Failures in a row, rates and tokens work side by side: the first limit that is reached opens the
 * circuit (C3).
 */
export interface CircuitConfig {
  /** Ready-made thresholds. Single settings beside the profile override it. Default `default`. */
  readonly profile?: Profile;
  /**
   * Failures in a row that open the circuit. Whole number ≥ 1. `false`: failures in a row alone never open it. Default 3, or the
   * profile's number.
   */
  readonly failureThreshold?: number | false;
  /**
   * Keys that fail in a row, without a success of any key in between, and open the circuit of their tool (C14). Keys that cannot be
   * reached and keys that turn the tool away (401, 403, 429) are counted apart, and it takes twice as many of these. Whole number from 1 to 100. `false`: failures that blame their keys never open it. Default 8, or 5 before the first success of the tool.
   */
  readonly keysThreshold?: number | false;
  /** Share of failed calls that opens the circuit. Default: not used. */
  readonly failureRate?: FailureRateConfig;
  /** Share of slow calls that opens the circuit. Default: not used. */
  readonly slowCallRate?: SlowCallRateConfig;
  /** Tokens of failed calls that open the circuit. Default: not used. */
  readonly wastedTokens?: WastedTokensConfig;
  /** A trip policy of your own, beside the others. Not in files. Default: none. */
  readonly trip?: CustomTripPolicy;
  /** Probes let through at once; all must succeed to close the circuit. Whole number ≥ 1. Default 1. */
  readonly probes?: number;
  /**
   * Steps from opening to the first probe. Whole number ≥ 1. The waits grow while probes fail: with 3, they are 3, 3, 3, 6, 6, 12, 12,
   * 20, 20 … steps. Or a list of your own waits, whose last one repeats. None takes longer than `maxCooldownMs`. If you set only this,
   * the cooldown does not count. Default 3, beside the cooldown.
   */
  readonly probeAfterSteps?: number | readonly number[];
  /**
   * Wait from opening to the first probe. Milliseconds > 0. If you set only this, the circuit probes by time alone. Default 60,000,
   * or the profile's cooldown, beside the steps.
   */
  readonly cooldownMs?: number;
  /** Longest wait that failed probes can reach. Milliseconds ≥ cooldownMs. Default 300,000, or cooldownMs if that is longer. */
  readonly maxCooldownMs?: number;
  /**
   * Time after which a probe that has not settled counts as failed. Milliseconds > 0; choose more than the slowest call that may
   * still succeed. Default 60,000.
   */
  readonly probeLeaseMs?: number;
  /** Longest Retry-After that is accepted. Milliseconds ≥ 0. Default 3,600,000 (an hour). */
  readonly maxRetryAfterMs?: number;
  /**
   * Calls that may be under way at once (C17): of one session with its sub-agents, or of all sessions in scope `process`. A further call
   * is skipped with the reason `busy`. A call that does not settle within `probeLeaseMs` counts as over. Whole number ≥ 1. Default: any number.
   */
  readonly maxInFlight?: number;
}

/** Settings of a group's policy (C13). */
export interface GroupPolicyConfig extends Pick<CircuitConfig, 'profile' | Probing> {
  /**
   * Failures in a row, of all tools of the group together, that open the circuit. Whole number ≥ 1. Default 3, or the profile's
   * number.
   */
  readonly failureThreshold?: number;
  /** Number of different tools of the group that must be among those failures. Whole number ≥ 1. Default 2. */
  readonly groupThreshold?: number;
}

/** When a probe tests whether a systemic event is over (S5). */
export interface GatePolicyConfig {
  /** Milliseconds from the event's latest opening to the probe. */
  readonly probeAfterMs: number;
  /** Longest wait that failed probes can reach, in milliseconds. Default 1,200,000, or probeAfterMs if that is longer. */
  readonly maxProbeAfterMs?: number;
}

/** Fills in the profile and the defaults. `config` must have been validated. */
export const resolvePolicy = (config: CircuitConfig): CircuitPolicy => {
  const base = PROFILES[config.profile ?? 'default'];
  const cooldownMs = config.cooldownMs ?? base.cooldownMs;
  const trips = resolveTrips({ ...config, failureThreshold: config.failureThreshold ?? base.failureThreshold });
  return {
    ...trips,
    countsSuccesses: countsSuccesses(trips),
    probes: config.probes ?? 1,
    schedule: schedule(config),
    probeAfterSteps: stepWaits(config.probeAfterSteps ?? 3),
    cooldownMs,
    maxCooldownMs: config.maxCooldownMs ?? Math.max(300_000, cooldownMs),
    probeLeaseMs: config.probeLeaseMs ?? 60_000,
    maxRetryAfterMs: config.maxRetryAfterMs ?? 3_600_000,
    maxInFlight: config.maxInFlight,
    prefersOthers: false,
  };
};

/** C14: the same for the circuits of a tool's keys, which open by failures in a row alone. */
export const resolveKeyPolicy = ({ failureThreshold, ...config }: CircuitConfig): CircuitPolicy => {
  const others = Object.entries(config).filter(([setting]) => !Object.hasOwn(TRIP_CHECKS, setting));
  return resolvePolicy({ ...Object.fromEntries(others), ...(failureThreshold && { failureThreshold }) });
};

/** C13: the same for the circuit of a group. */
export const resolveGroupPolicy = ({ groupThreshold = 2, ...config }: GroupPolicyConfig): CircuitPolicy => ({
  ...resolvePolicy(config),
  distinctTools: groupThreshold,
  prefersOthers: true,
});

/** S5: the policy of the gate, the circuit that all tools of an event must pass while the event lasts. */
export const gatePolicy = ({
  probeAfterMs,
  maxProbeAfterMs = Math.max(1_200_000, probeAfterMs),
}: GatePolicyConfig): CircuitPolicy => ({
  ...resolvePolicy({ failureThreshold: 1, cooldownMs: probeAfterMs, maxCooldownMs: maxProbeAfterMs }),
  prefersOthers: true,
});

/** P1: how the waits by steps grow while probes fail, in times of the first wait. */
const GROWTH = [1, 1, 1, 2, 2, 4, 4, 20 / 3] as const;

const stepWaits = (config: number | readonly number[]): CircuitPolicy['probeAfterSteps'] => {
  const waits = typeof config === 'number' ? GROWTH.map((times) => Math.ceil(config * times)) : [...config];
  return waits as readonly number[] as CircuitPolicy['probeAfterSteps']; // A list has been checked: it is not empty.
};

const schedule = ({ probeAfterSteps, cooldownMs }: CircuitConfig): CircuitPolicy['schedule'] => {
  if (probeAfterSteps !== undefined && cooldownMs !== undefined) return 'either';
  if (probeAfterSteps !== undefined) return 'steps';
  if (cooldownMs !== undefined) return 'time';
  return 'auto';
};

/** The name of a group's circuit among those of tools. */
export const circuitNameOf = (group: string): string => `${GROUP_PREFIX}${group}`;

/** The name of a group without the prefix; undefined for the name of a tool. */
export const groupNameOf = (circuit: string | undefined): string | undefined =>
  circuit?.startsWith(GROUP_PREFIX) ? circuit.slice(GROUP_PREFIX.length) : undefined;

const OF_GROUP: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['network', 'timeout', 'server', 'resource']);

/** C13: the failures that a closed group counts. Other failures show that its server answers, or say nothing about it. */
export const countsForGroup = (category: ErrorCategory): boolean => OF_GROUP.has(category);
