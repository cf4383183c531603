import type { BreakerboxConfig, BudgetOptions, CircuitMode, ModelConfig, ToolConfig } from '../index.ts';

/**
 * The configuration of the model, with the defaults of behaviour.md filled in here: the model does not ask the engine for its
 * defaults. Frozen, so that copies of the model share it.
 */
export interface Rules {
  readonly mode: CircuitMode;
  /** Infinity where failures in a row alone open nothing. */
  readonly failureThreshold: number;
  /** C3, over a count window. */
  readonly failureRate:
    | { readonly rate: number; readonly minimumCalls: number; readonly windowCalls: number }
    | undefined;
  /** C14: of the circuits of its keys; undefined for one of those, and for a group. */
  readonly keys: Rules | undefined;
  /** C14: how many keys in a row open the tool, before its first success and later. */
  readonly keysThreshold: { readonly first: number; readonly later: number };
  /** C14: of a key: each failure counts full. */
  readonly isKey: boolean;
  /** L3: so many refusals in a row open it, whatever its threshold. Infinity for what is not a model. */
  readonly refusals: number;
  /** C13: over how many tools; undefined for the circuit of a tool. */
  readonly groupThreshold: number | undefined;
  readonly probes: number;
  /** P1: the waits by steps; the last one repeats. */
  readonly probeAfterSteps: readonly number[];
  readonly cooldownMs: number;
  readonly maxCooldownMs: number;
  readonly probeLeaseMs: number;
  readonly maxRetryAfterMs: number;
  /** C17: Infinity where it is not limited. */
  readonly maxInFlight: number;
  /** Whether steps count, and whether time does; `while_steps_stand` where the configuration sets neither (P1). */
  readonly bySteps: boolean;
  readonly byTime: boolean | 'while_steps_stand';
}

type Scope = BreakerboxConfig['scope'];
type GroupConfig = NonNullable<BreakerboxConfig['groups']>[string];

/** C4. */
const PROFILES = {
  default: { failureThreshold: 3, cooldownMs: 60_000 },
  fast: { failureThreshold: 3, cooldownMs: 30_000 },
  slow: { failureThreshold: 2, cooldownMs: 120_000 },
  provider: { failureThreshold: 5, cooldownMs: 60_000 },
};

const NO_KEYS = { first: Infinity, later: Infinity };

/** The rules of a tool. */
export const rulesOf = (config: ToolConfig, defaultMode: CircuitMode, scope: Scope = 'session'): Rules => {
  const { mode = defaultMode, failureRate, keysThreshold, ...rest } = config;
  const keys = keysThreshold === false ? Infinity : keysThreshold;
  return Object.freeze({
    ...waitingRules(rest, scope),
    mode,
    failureRate: failureRate && Object.freeze(rateOf(failureRate)),
    groupThreshold: undefined,
    isKey: false,
    refusals: Infinity,
    keys: keyRulesOf(rest, mode, scope),
    keysThreshold: { first: keys ?? 5, later: keys ?? 8 },
  });
};

/** C14: failures in a row alone open a key: as many as the tool's, or its profile's where those open nothing. */
const keyRulesOf = ({ failureThreshold, ...rest }: Waiting, mode: CircuitMode, scope: Scope): Rules =>
  Object.freeze({
    ...waitingRules(
      failureThreshold === false ? rest : { ...rest, ...(failureThreshold && { failureThreshold }) },
      scope,
    ),
    mode,
    failureRate: undefined,
    groupThreshold: undefined,
    isKey: true,
    refusals: Infinity,
    keys: undefined,
    keysThreshold: NO_KEYS,
  });

/** C13: the rules of a group. It has no settings of `defaults`, but a box that only observes only observes its groups. */
export const groupRulesOf = (config: GroupConfig, defaultMode: CircuitMode, scope: Scope = 'session'): Rules => {
  const { mode = defaultMode === 'observe_only' ? defaultMode : 'automatic', groupThreshold = 2, ...rest } = config;
  return Object.freeze({
    ...waitingRules(rest, scope),
    mode,
    failureRate: undefined,
    groupThreshold,
    isKey: false,
    refusals: Infinity,
    keys: undefined,
    keysThreshold: NO_KEYS,
  });
};

/** L2, L3: the rules of a model. It takes nothing from the defaults of tools, and waits by time in any scope. */
export const modelRulesOf = (own: ModelConfig, hasFallback: boolean): Rules => {
  const { price: _, share: __, ...settings } = own;
  const config = { profile: 'provider', failureThreshold: hasFallback ? 2 : 5, maxRetryAfterMs: 86_400_000 } as const;
  return Object.freeze({ ...rulesOf({ ...config, ...settings }, 'automatic', 'process'), refusals: 2 });
};

type Waiting = Pick<
  ToolConfig,
  | 'profile'
  | 'failureThreshold'
  | 'probes'
  | 'probeAfterSteps'
  | 'cooldownMs'
  | 'maxCooldownMs'
  | 'probeLeaseMs'
  | 'maxRetryAfterMs'
  | 'maxInFlight'
>;

const waitingRules = (config: Waiting, scope: Scope) => {
  const profile = PROFILES[config.profile ?? 'default'];
  const cooldownMs = config.cooldownMs ?? profile.cooldownMs;
  const neither = config.cooldownMs === undefined && config.probeAfterSteps === undefined;
  return {
    failureThreshold:
      config.failureThreshold === false ? Infinity : (config.failureThreshold ?? profile.failureThreshold),
    probes: config.probes ?? 1,
    probeAfterSteps: stepWaits(config.probeAfterSteps ?? 3),
    cooldownMs,
    maxCooldownMs: config.maxCooldownMs ?? Math.max(300_000, cooldownMs),
    probeLeaseMs: config.probeLeaseMs ?? 60_000,
    maxRetryAfterMs: config.maxRetryAfterMs ?? 3_600_000,
    maxInFlight: config.maxInFlight ?? Infinity,
    // C12: steps of many sessions together say nothing of the time that has passed, unless the configuration sets them.
    bySteps: (neither && scope !== 'process') || config.probeAfterSteps !== undefined,
    byTime: neither ? scope === 'process' || ('while_steps_stand' as const) : config.cooldownMs !== undefined,
  };
};

/** P1. */
const stepWaits = (first: number | readonly number[]): readonly number[] =>
  typeof first === 'number'
    ? Object.freeze([first, first, first, 2 * first, 2 * first, 4 * first, 4 * first, Math.ceil((first * 20) / 3)])
    : first;

const rateOf = ({ rate, minimumCalls, windowCalls = 100 }: NonNullable<ToolConfig['failureRate']>) => ({
  rate,
  minimumCalls: minimumCalls ?? Math.min(10, windowCalls),
  windowCalls,
});

/** S1, S2 and S5, with their defaults. */
export interface SystemicRules {
  readonly sameCategory: number;
  readonly sameCategorySteps: number;
  readonly anyCategory: number;
  readonly sharedFailures: number;
  readonly sharedTools: number;
  readonly mixedFailures: number;
  readonly windowSteps: number;
  readonly windowMs: number;
  readonly pause: 'all' | 'affected';
  readonly recovery: {
    readonly afterMs?: number;
    readonly probeAfterMs?: number;
    readonly maxProbeAfterMs?: number;
  };
}

/** S5: the rules of the circuit around an event; undefined where no probe ends it. */
export const gateRulesOf = ({ recovery }: SystemicRules): Rules | undefined => {
  const { probeAfterMs, maxProbeAfterMs } = recovery;
  if (probeAfterMs === undefined) return undefined;
  const maxCooldownMs = maxProbeAfterMs ?? Math.max(1_200_000, probeAfterMs);
  return rulesOf({ cooldownMs: probeAfterMs, maxCooldownMs }, 'automatic');
};

/** S5: where sessions share their circuits, one call is a probe of the event unless the configuration says otherwise. */
const SHARED_RECOVERY = { probeAfterMs: 300_000 };

export const systemicRulesOf = (config: BreakerboxConfig['systemic'], scope: Scope): SystemicRules | undefined =>
  config === false
    ? undefined
    : Object.freeze({
        sameCategory: 3,
        sameCategorySteps: 20,
        anyCategory: 3,
        sharedFailures: 5,
        sharedTools: 3,
        mixedFailures: 7,
        windowSteps: 10,
        windowMs: 120_000,
        pause: scope === 'process' ? 'affected' : 'all',
        recovery: scope === 'process' ? SHARED_RECOVERY : {},
        ...config,
      });

/** B1, B4, B6, with their defaults. */
export interface BudgetRules {
  readonly rule: 'window' | 'strict';
  readonly limit: number;
  /** B4; undefined for no such limit. */
  readonly tokenLimit: number | undefined;
  readonly windowSteps: number;
  readonly windowMs: number;
  readonly windowCalls: number;
}

export const budgetRulesOf = (config: BreakerboxConfig['budget'] = {}): BudgetRules => {
  const settings: BudgetOptions =
    config === 'strict' ? { rule: config } : config === false ? { failures: 1_000_000_000 } : config;
  const { rule, failures, tokens, windowSteps, windowMs, windowCalls } = settings;
  return Object.freeze({
    rule: rule ?? 'window',
    limit: failures ?? 5,
    tokenLimit: tokens,
    windowSteps: windowSteps ?? 20,
    windowMs: windowMs ?? 600_000,
    windowCalls: windowCalls ?? 20,
  });
};

/** A point in the life of a session. */
export interface When {
  readonly ms: number;
  readonly step: number;
  /** B1: how many calls the session had settled; undefined where that decides nothing. */
  readonly calls?: number;
}

/** Whether the first moment lies in the window of the second, as S1 has it. */
export type Within = (from: When, to: When) => boolean;

/** S1: by steps if any lie between the two, else by time. What comes after `to` is in its window. */
export const inOneWindow = (rules: Pick<SystemicRules, 'windowSteps' | 'windowMs'>, from: When, to: When): boolean =>
  to.step > from.step ? to.step - from.step <= rules.windowSteps : to.ms - from.ms <= rules.windowMs;
