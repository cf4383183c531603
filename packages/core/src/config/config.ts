import type { BudgetOptions } from '../budget/budget.ts';
import type { RecoveryPolicy } from '../budget/recovery.ts';
import type { SystemicPolicy } from '../budget/systemic.ts';
import type { CircuitMode } from '../circuit/circuit.ts';
import type { CircuitConfig, GroupPolicyConfig, Profile } from '../circuit/policy.ts';
import type { Classification } from '../classify/classify.ts';
import type { ErrorCategory, Judgement } from '../classify/taxonomy.ts';
import type { Clock } from '../clock.ts';
import type { LimitsOptions } from '../limits/limits.ts';
import type { Precheck } from '../precheck.ts';
import type { Capability } from '../routing/capability.ts';
import type { TelemetryLevel } from '../telemetry/semconv.ts';
import type { ModelPrice } from './model-price.ts';

/** Who shares a circuit: all processes of the fleet, or the sessions of one box (G2). */
export type Share = 'fleet' | 'box';

/** The processes that share circuits. `createFleet` of `@breakerbox/fleet` makes one. */
export interface BoxFleet {
  /** Called once with each new box, as `createBreakerbox` returns it. An error goes to OpenTelemetry's `diag` (E5). */
  join(box: object): void;
}

/** Settings of one tool. */
export interface ToolConfig extends CircuitConfig, Capability {
  /**
   * The circuit's mode: who decides (C1). Default `automatic`. With `defaults: { mode: 'observe_only' }` you can try the whole box
   * in production without rejecting a call.
   */
  readonly mode?: CircuitMode;
  /**
   * Who shares the tool's circuit (G2): all processes of the `fleet`, or only the sessions of this box (`box`). `fleet` needs the option
   * `fleet`. Openings by failures that belong to one user or one machine are not shared: `permission`, `filesystem`,
   * `invalid_input`, `denied`, `cancelled` and `unusable`. Default `box`.
   */
  readonly share?: Share;
  /**
   * How many series the tool exports, because each one costs money. `state`: its circuits by state, changes from `closed` to `open`,
   * decisions to call and to skip without reasons, and failures; no durations and no categories. `none`: nothing. Spans, events and
   * reports do not change. Default: that of its group, else `full`.
   */
  readonly telemetry?: TelemetryLevel;
  /**
   * The group that this tool belongs to, such as its MCP server (C13). Failures of the group's tools open one circuit for all of
   * them. `false` means no group, even if an adapter names one. Default: the group that the adapter names. Not allowed in
   * `defaults`.
   */
  readonly group?: string | false;
  /** Error categories that count as failures of this tool. Categories that are not listed keep their defaults (O1). */
  readonly outcomes?: Partial<Readonly<Record<ErrorCategory, Judgement>>>;
  /** Your own classifier. It sees each error that the tool throws and each result, before the built-in classifier does (O2). */
  readonly classify?: Classifier;
  /**
   * Your own test for failed results (O7). It runs before `classify`. `true` means a failure of category `server`, a category means
   * a failure of that category, `false` means a success, and `undefined` leaves the result to the classifier.
   */
  readonly isFailure?: ResultJudge;
  /**
   * The one host, account or file that a call is about, such as {@link byHost} (C14). Failures that blame the key open a circuit
   * for calls with that key alone. `false` means no keys, even if an adapter names them: then all failures count for the tool. Default:
   * the key that the adapter names. Not allowed in `defaults`.
   */
  readonly key?: KeyOf | false;
  /**
   * A check that scores the tool before it is called. If it answers `unavailable`, calls are skipped and get a fallback (K1).
   * Default: none.
   */
  readonly precheck?: Precheck;
  /** Whether results that may not be current get a label, `permit.freshness` (F1). Default false. */
  readonly labelFreshness?: boolean;
  /**
   * Maximum age of a last good result that may answer a skipped call (F2). Milliseconds > 0. Default: no such result is used. If
   * set, the session keeps results of calls with an `input` in memory, at most 200: plain objects, lists, dates and primitives.
   */
  readonly serveStaleMs?: number;
}

/**
 * Settings of a tool for one session (C18): thresholds and waits, the mode, and the keys. Each replaces that of the box. The group of the
 * tool, who shares its circuit, and all else stay those of the box. In scope `process`, where sessions share circuits, only `key` is
 * allowed.
 */
export interface SessionToolConfig extends CircuitConfig, Pick<ToolConfig, 'mode' | 'key'> {}

/** Settings of a group's circuit (C13). A group takes nothing from `defaults` except `mode: 'observe_only'`. */
export interface GroupConfig extends GroupPolicyConfig {
  /** The circuit's mode: who decides (C1). Default `automatic`. */
  readonly mode?: CircuitMode;
  /** Who shares the group's circuit, as for a tool (G2). Default `box`. */
  readonly share?: Share;
  /** How many series the group exports, and each of its tools that does not set it (`full`, `state` or `none`). Default: that of `defaults`. */
  readonly telemetry?: TelemetryLevel;
}

/** Settings of a model's circuit (L2). A model takes nothing from `defaults`. */
export interface ModelConfig extends Pick<CircuitConfig, 'probes' | 'maxCooldownMs'> {
  /** Ready-made thresholds. Single settings beside the profile override it. Default `provider`. */
  readonly profile?: Profile;
  /** Wait from opening to the first probe. Milliseconds > 0. Default 60,000, or the profile's cooldown. */
  readonly cooldownMs?: number;
  /**
   * Time after which a probe that has not settled counts as failed. Milliseconds > 0. The limits of `guardModels` make it longer where
   * they need it. Default 60,000.
   */
  readonly probeLeaseMs?: number;
  /** Longest wait that a provider can ask for. Milliseconds ≥ 0. Default 86,400,000 (a day). */
  readonly maxRetryAfterMs?: number;
  /** The circuit's mode: who decides (C1). Default `automatic`. */
  readonly mode?: CircuitMode;
  /**
   * Failures in a row that open the circuit. Whole number ≥ 1. Default 2 for a model that has another one behind it, otherwise 5.
   */
  readonly failureThreshold?: number;
  /**
   * Who shares the model's circuit, as for a tool (G2), in any scope: `fleet` needs the option `fleet`. For the circuit of a provider, set
   * `share` of `groups['model:openai']`. Default `box`.
   */
  readonly share?: Share;
  /** What its tokens cost, for the metric `breakerbox.model.cost` and limits of cost. Default: none, and no such metric. */
  readonly price?: ModelPrice;
}

/** Options of `createBreakerbox`. */
export interface BreakerboxConfig {
  /**
   * The agent's name. It is exported as `gen_ai.agent.name` on all telemetry. Use one of a few fixed names, never an id; at most
   * 256 characters.
   */
  readonly agent: string;
  /** The agent's tools by name. You need not list tools that an adapter wraps. */
  readonly tools?: Readonly<Record<string, ToolConfig>>;
  /** Settings for every tool. A tool's own settings override them. */
  readonly defaults?: ToolConfig;
  /** Settings of groups by name, as tools or adapters name them (C13). */
  readonly groups?: Readonly<Record<string, GroupConfig>>;
  /**
   * Settings of models by name, `PROVIDER/MODEL`, as `guardModels` of `@breakerbox/instrumentation` names them (L2). You need not list
   * the models that it guards.
   */
  readonly models?: Readonly<Record<string, ModelConfig>>;
  /**
   * Number of failures that a session may have before it pauses (B1). `'strict'` is short for `{ rule: 'strict' }`.
   * Default: 5 failures in a sliding window of 20 steps. In a session that never calls `step()`: of 20 calls, at most 10 minutes.
   * `false`: failures never pause a session. Circuits and systemic failures still protect it.
   */
  readonly budget?: 'strict' | false | BudgetOptions;
  /**
   * Limits of each run, for all of its calls, successful ones too (D2). At 80 % the model reads what is left, at 100 % all calls are paused.
   * Default: no limits.
   */
  readonly limits?: LimitsOptions;
  /**
   * When failures of several tools count as one systemic (correlated) failure (S1). `false` turns this off. Default: on, with the
   * settings below.
   */
  readonly systemic?:
    | false
    | (Partial<SystemicPolicy> & {
        /**
         * What a systemic event pauses (S2): all tools, or only the affected ones. Default `all` in scope `session`, `affected` in
         * scope `process`. `affected` needs scope `process`.
         */
        readonly pause?: 'all' | 'affected';
        /**
         * How an event ends without a person (S5). Default: it ends only by `confirmRecovered()`; in scope `process` also by a
         * probe after 5 minutes.
         */
        readonly recovery?: RecoveryPolicy;
      });
  /**
   * Who owns the circuits (C12): each session (`session`), or all sessions of the box together (`process`). With `none` there
   * are no circuits, and only the budget counts. Default `session`.
   */
  readonly scope?: 'session' | 'process' | 'none';
  /**
   * The processes that share circuits through a store, such as `createFleet({ client })` of `@breakerbox/fleet` (G1). Circuits with
   * `share: 'fleet'` are theirs. Needs scope `process`, except for models. Default: none.
   */
  readonly fleet?: BoxFleet;
  /**
   * Skips a call that fails again and again with the same arguments (O5). `false` turns this off. Default: on, with the settings
   * below.
   */
  readonly loopGuard?:
    | false
    | {
        /** Number of equal calls in a row after which the next one is skipped. Whole number ≥ 1. Default 3. */
        readonly repeats?: number;
        /**
         * Tells the model once if it goes in circles: the same call, or 2 to 4 calls in turns, with the same results three times over (D5).
         * Nothing is skipped. A digest is made of each result. Default false.
         */
        readonly circles?: boolean;
      };
  /** Tools that may be called. Calls of other tools are skipped (K2). Default: all. */
  readonly allowedTools?: readonly string[];
  /** Maximum age of a pre-call check's answer, after which the check runs again (K3). Milliseconds > 0. Default 30,000. */
  readonly precheckMaxAgeMs?: number;
  /**
   * Maximum total wait along a chain of tools that depend on one another by `dependsOn` (P4). Milliseconds > 0. Default 300,000.
   */
  readonly chainBackoffMs?: number;
  /** Children of one session that may be alive at a time (D1). Whole number ≥ 1. Default 50. */
  readonly maxChildren?: number;
  /** Levels of children beneath a session (D1). Whole number ≥ 1. Default 5. */
  readonly maxDepth?: number;
  /**
   * Number of tools with series of their own. All other tools are counted together as `_OTHER`. `telemetry` of a tool limits its series. A tool that is only seen, by
   * `session.declare()` or an adapter, gets a circuit while the box has fewer than 2,000 tools, or ten times `maxTools` if that is
   * more. Whole number ≥ 1. Default 200.
   */
  readonly maxTools?: number;
  /**
   * Idle time in milliseconds after which a session leaves the gauges, until it is used again. If durations are not measured, the
   * idle time begins when the box first looks at the session after its last use. The box looks when new sessions begin. Default
   * 1,800,000.
   */
  readonly sessionIdleMs?: number;
  /** The clock, for tests. Default: the system's monotonic clock. */
  readonly clock?: Clock;
}

/** Options of `box.session`. */
export interface SessionOptions {
  /** The conversation's id, at most 256 characters. It is on spans and events, never on metrics. Default: a random id. */
  readonly id?: string;
  /** Failure budget of this session; default the box's. */
  readonly budget?: BreakerboxConfig['budget'];
  /** Limits of this session (D2). Each that is given replaces the box's. Default: the box's. */
  readonly limits?: LimitsOptions;
  /** Tools that this session may call; default the box's (K2). */
  readonly allowedTools?: readonly string[];
  /**
   * Settings of tools for this session alone, such as those of a tenant (C18). Snapshots have them, except functions. A change of the box's
   * settings leaves them as they are. Default: the box's.
   */
  readonly tools?: Readonly<Record<string, SessionToolConfig>>;
  /**
   * Opens a span `invoke_agent {agent}` for the run, as a child of the active span. The session's decision spans are its children,
   * unless a span of a framework is active. The span ends with `session.end()`, or when the session goes idle. Without an
   * OpenTelemetry SDK for traces this option does nothing. Default: false.
   */
  readonly span?: boolean;
}

/** Options of `restore`. */
export interface RestoreOptions extends Pick<SessionOptions, 'allowedTools' | 'span'> {
  /** Settings of tools for this session alone (C18). Default: those of the snapshot, which has no functions. */
  readonly tools?: SessionOptions['tools'];
  /** Time that counts as passed since the snapshot (C11). Milliseconds ≥ 0. Default: by the wall clock, never less than 0. */
  readonly elapsedMs?: number;
}

/** The settings that have a value: a key that is present but undefined is left out. */
export const settings = <T extends object>(value: T | undefined): T =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, one]) => one !== undefined)) as T;

/** A tool's own settings over the defaults. If the tool names a profile, it replaces thresholds from the defaults. */
export const mergeTool = (defaults: ToolConfig | undefined, tool: ToolConfig): ToolConfig => {
  const own = settings(tool);
  const { failureThreshold, cooldownMs, maxCooldownMs, ...rest } = settings(defaults);
  return {
    ...(own.profile === undefined ? settings(defaults) : rest),
    ...own,
    outcomes: { ...settings(defaults?.outcomes), ...settings(own.outcomes) },
  };
};

/**
 * Classifies an error that a tool threw, and each result (`returned: true`). `undefined` leaves it to the built-in classifier (O2).
 * Must answer synchronously.
 */
export type Classifier = (
  value: unknown,
  context: { readonly returned: boolean },
) => ErrorCategory | Classification | undefined;

/**
 * Decides whether a result is a failure (O7). `true` means a failure of category `server`, a category means a failure of that
 * category, `false` means a success. `undefined` leaves the result to the classifier. Must answer synchronously.
 */
export type ResultJudge = (result: unknown) => boolean | ErrorCategory | undefined;

/** Names the one host, account or file that a call is about (C14). `undefined`: the call has no key. Must answer synchronously. */
export type KeyOf = (input: unknown) => string | undefined;
