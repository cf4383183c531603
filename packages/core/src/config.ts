import type { BudgetOptions } from './budget/budget.ts';
import { type Capability, capabilityChecks, checkCapabilityMap } from './capability/map.ts';
import {
  type Check,
  functions,
  gather,
  isObject,
  list,
  name,
  number,
  object,
  oneOf,
  orLeaveOut,
  refuse,
  shortName,
  show,
  toolName,
} from './checks.ts';
import { CIRCUIT_MODES, type CircuitMode } from './circuit/mode.ts';
import { type CircuitConfig, type GroupPolicyConfig, PROFILES } from './circuit/policy.ts';
import { tripChecks } from './circuit/trips/checks.ts';
import type { Clock } from './clock.ts';
import type { ConfigIssue } from './errors.ts';
import { GROUP_PREFIX, groupNameOf } from './groups.ts';
import { ERROR_CATEGORIES, type ErrorCategory, type Judgement } from './outcome/taxonomy.ts';
import type { Precheck } from './precheck.ts';
import { type RecoveryPolicy, recoveryChecks } from './recovery.ts';
import type { SystemicPolicy } from './systemic.ts';
import type { Classifier, KeyOf, ResultJudge } from './tool.ts';

/** Settings of one tool. */
export interface ToolConfig extends CircuitConfig, Capability {
  /**
   * The circuit's mode: who decides (C1). Default `automatic`. With `defaults: { mode: 'observe_only' }` you can try the whole box
   * in production without rejecting a call.
   */
  readonly mode?: CircuitMode;
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
   * for calls with that key alone. `false` means no keys, even if an adapter names them. Default: the key that the adapter names.
   * Not allowed in `defaults`.
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
   * set, the session keeps results of calls with an `input` in memory, at most 200.
   */
  readonly serveStaleMs?: number;
}

/** Settings of a group's circuit (C13). A group takes nothing from `defaults` except `mode: 'observe_only'`. */
export interface GroupConfig extends GroupPolicyConfig {
  /** The circuit's mode: who decides (C1). Default `automatic`. */
  readonly mode?: CircuitMode;
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
   * Number of failures that a session may have before it pauses (B1 to B4). `'strict'` is short for `{ rule: 'strict' }` (B6).
   * Default: 5 failures in a sliding window of 20 steps, or of 10 minutes in a session that never calls `step()`.
   */
  readonly budget?: 'strict' | BudgetOptions;
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
   * Who owns the circuits (C12, B5): each session (`session`), or all sessions of the box together (`process`). With `none` there
   * are no circuits, and only the budget counts. Default `session`.
   */
  readonly scope?: 'session' | 'process' | 'none';
  /**
   * Skips a call that fails again and again with the same arguments (O5). `false` turns this off. Default: on, with the settings
   * below.
   */
  readonly loopGuard?:
    | false
    | {
        /** Number of equal calls in a row after which the next one is skipped. Whole number ≥ 1. Default 3. */
        readonly repeats?: number;
      };
  /** Tools that may be called. Calls of other tools are skipped (K2). Default: all. */
  readonly allowedTools?: readonly string[];
  /** Maximum age of a pre-call check's answer, after which the check runs again (K3). Milliseconds > 0. Default 30,000. */
  readonly precheckMaxAgeMs?: number;
  /**
   * Maximum total wait along a chain of tools that depend on one another by `dependsOn` (P4). Milliseconds > 0. Default 300,000.
   */
  readonly chainBackoffMs?: number;
  /**
   * Number of tools with series of their own. All other tools are counted together as `_OTHER`. A tool that is only seen, by
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
  /** Tools that this session may call; default the box's (K2). */
  readonly allowedTools?: readonly string[];
  /**
   * Opens a span `invoke_agent {agent}` for the run, as a child of the active span. The session's decision spans are its children,
   * unless a span of a framework is active. The span ends with `session.end()`, or when the session goes idle. Without an
   * OpenTelemetry SDK for traces this option does nothing. Default: false.
   */
  readonly span?: boolean;
}

/** Options of `box.restore`. */
export interface RestoreOptions extends Pick<SessionOptions, 'allowedTools' | 'span'> {
  /** Time that counts as passed since the snapshot (C11). Milliseconds ≥ 0. Default: by the wall clock, never less than 0. */
  readonly elapsedMs?: number;
}

/** Rejects a configuration that can't work. One error lists everything that is wrong (E6). */
export const validateConfig = (config: BreakerboxConfig): void => refuse(checkConfig('', config));

/** The same check for the options of one session. */
export const validateSessionOptions = (options: SessionOptions): void => refuse(sessionChecks('session', options));

/** The same check for the options of `box.restore`. */
export const validateRestoreOptions = (options: RestoreOptions): void =>
  refuse(object(restoreChecks, "{ allowedTools: ['web_search'] }")('restore', options));

/** The same check for a tool that is declared later, together with the tools that already exist. */
export const validateTool = (
  tool: string,
  config: ToolConfig,
  defaults: ToolConfig,
  others: () => Readonly<Record<string, Capability>>,
): void => {
  refuse([...name('tool', tool), ...notAGroup('tool', tool)]);
  refuse(checkTools(defaults)('tools', { [tool]: config }));
  // A tool that points to no other tool closes no cycle. This keeps declaring thousands of tools one by one fast.
  if (config.alternatives === undefined && config.dependsOn === undefined) return;
  refuse(checkCapabilityMap({ ...others(), [tool]: config }));
};

/** The settings that have a value: a key that is present but undefined is left out. */
export const settings = <T extends object>(value: T | undefined): T =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, one]) => one !== undefined)) as T;

/** A tool's own settings over the defaults. If the tool names a profile, it replaces thresholds from the defaults. */
export const mergeTool = (defaults: ToolConfig, tool: ToolConfig): ToolConfig => {
  const own = settings(tool);
  const { failureThreshold, cooldownMs, maxCooldownMs, ...rest } = settings(defaults);
  return {
    ...(own.profile === undefined ? settings(defaults) : rest),
    ...own,
    outcomes: { ...settings(defaults.outcomes), ...settings(own.outcomes) },
  };
};

const aFunction =
  (what: string): Check =>
  (path, value) =>
    typeof value === 'function'
      ? []
      : [{ path, message: `is ${show(value)}. Give a function ${what}, or leave it out.` }];

/** Names that begin with `group:` are reserved for groups (C13). */
const notAGroup: Check = (path, value) =>
  groupNameOf(typeof value === 'string' ? value : undefined) === undefined
    ? []
    : [
        {
          path,
          message: `is ${show(value)}. Names that begin with '${GROUP_PREFIX}' are reserved for the circuits of groups. Rename the tool.`,
        },
      ];

/** The group's name becomes a part of a longer name. */
const groupName: Check = (path, value) =>
  typeof value === 'string' && value.trim() !== '' ? shortName(path, `${GROUP_PREFIX}${value}`) : name(path, value);

const toolChecks: Readonly<Record<keyof ToolConfig, Check>> = {
  profile: oneOf(Object.keys(PROFILES), orLeaveOut('it stands for ready-made thresholds.')),
  mode: oneOf(CIRCUIT_MODES, orLeaveOut('the circuit decides.')),
  group: (path, value) => (value === false ? [] : groupName(path, value)),
  ...tripChecks,
  ...capabilityChecks,
  probes: number(1, orLeaveOut('with 0 an open circuit could never close.'), { whole: true }),
  probeAfterSteps: number(1, orLeaveOut('a probe in the same step would be a retry.'), { whole: true }),
  cooldownMs: number(0, orLeaveOut('a probe without a wait would be a retry.'), { above: true }),
  maxCooldownMs: number(0, orLeaveOut('it is the longest wait between probes.'), { above: true }),
  probeLeaseMs: number(0, orLeaveOut('a probe needs time to answer.'), { above: true }),
  maxRetryAfterMs: number(0, orLeaveOut('it is the longest Retry-After that is believed.')),
  outcomes: (path, value) => {
    const judgement = oneOf(['failure', 'ignored'], orLeaveOut("the category's default applies."));
    const checks = Object.fromEntries(ERROR_CATEGORIES.map((category) => [category, judgement]));
    return object(checks, "{ tool_error: 'failure' }")(path, value);
  },
  classify: aFunction('from what the tool threw or returned to a category'),
  isFailure: aFunction('from a result to true, false or a category'),
  key: (path, value) =>
    value === false ? [] : aFunction('from the arguments to a key, such as byHost(), or false')(path, value),
  precheck: aFunction("from the tool's name to available, degraded or unavailable"),
  labelFreshness: oneOf([true, false], orLeaveOut('results are not labelled then.')),
  serveStaleMs: number(0, orLeaveOut('no last good result stands in for a call then.'), { above: true }),
};

/** Checks a tool alone, and then together with the defaults. */
const checkTool =
  (defaults: ToolConfig): Check =>
  (path, value) => {
    const issues = object(toolChecks, "{ profile: 'fast' }")(path, value);
    if (issues.length > 0) return issues;
    const merged = mergeTool(defaults, value as ToolConfig);
    const { failureThreshold, failureRate, slowCallRate, wastedTokens } = merged;
    if (failureThreshold === false && !failureRate && !slowCallRate && !wastedTokens) {
      const message =
        "is false, and nothing else opens the circuit. Set failureRate, slowCallRate or wastedTokens, or mode: 'disabled' " +
        'for a circuit that never opens.';
      return [{ path: `${path}.failureThreshold`, message }];
    }
    return checkWaits(path, merged);
  };

/** The wait grows from `cooldownMs` to `maxCooldownMs`. */
const checkWaits = (
  path: string,
  { profile = 'default', cooldownMs, maxCooldownMs }: Pick<CircuitConfig, 'profile' | 'cooldownMs' | 'maxCooldownMs'>,
): readonly ConfigIssue[] => {
  const base = cooldownMs ?? PROFILES[profile].cooldownMs;
  if (maxCooldownMs === undefined || base <= maxCooldownMs) return [];
  const origin = cooldownMs === undefined ? ` by the profile '${profile}'` : '';
  const message =
    `is ${base}${origin}, more than maxCooldownMs (${maxCooldownMs}). The wait grows from the one to the other: raise ` +
    `maxCooldownMs or lower cooldownMs.`;
  return [{ path: `${path}.cooldownMs`, message }];
};

/**
 * Settings that are not allowed in `defaults`, because each belongs to one tool. From `defaults`, each tool would be its own
 * alternative.
 */
const OWN = ['provides', 'alternatives', 'dependsOn', 'group', 'key'] as const satisfies readonly (keyof ToolConfig)[];

const checkDefaults: Check = (path, value) => {
  const own = OWN.filter((key) => (value as ToolConfig | null)?.[key] !== undefined);
  if (own.length === 0) return checkTool({})(path, value);
  return own.map((key) => ({
    path: `${path}.${key}`,
    message: 'differs from tool to tool. Set it in the tools themselves.',
  }));
};

const checkTools =
  (defaults: ToolConfig): Check =>
  (path, value) => {
    if (!isObject(value)) return object({}, "{ web_search: { profile: 'fast' } }")(path, value);
    return gather(Object.entries(value), ([tool, config]) => [
      ...toolName(`${path}['${tool}']`, tool),
      ...notAGroup(`${path}['${tool}']`, tool),
      ...checkTool(defaults)(`${path}.${tool}`, config),
    ]);
  };

const budgetSettings = object(
  {
    rule: oneOf(['window', 'strict'], orLeaveOut('failures leave the budget after its window.')),
    failures: number(1, orLeaveOut('with 0 the session would pause before its first call.'), { whole: true }),
    tokens: number(1, orLeaveOut('failed calls may cost any number of tokens then.'), { whole: true }),
    windowSteps: number(1, orLeaveOut('a failure counts for that many steps.'), { whole: true }),
    windowMs: number(0, orLeaveOut('a failure counts for that long.'), { above: true }),
  } satisfies Record<keyof BudgetOptions, Check>,
  "{ failures: 5 }, or 'strict'",
);

const checkBudget: Check = (path, value) => {
  if (value === 'strict') return [];
  const issues = budgetSettings(path, value);
  if (issues.length > 0) return issues;
  const { rule, ...rest } = value as BudgetOptions;
  if (rule !== 'strict') return [];
  const useless = (['windowSteps', 'windowMs'] as const).filter((key) => rest[key] !== undefined);
  return useless.map((key) => ({
    path: `${path}.${key}`,
    message: "has no effect with rule 'strict', which has no window. Remove it, or set rule 'window'.",
  }));
};

const groupChecks = {
  profile: toolChecks.profile,
  mode: toolChecks.mode,
  failureThreshold: number(1, orLeaveOut('the group opens after that many failures in a row.'), { whole: true }),
  groupThreshold: number(1, orLeaveOut('that many tools of the group must be among the failures.'), { whole: true }),
  probes: toolChecks.probes,
  probeAfterSteps: toolChecks.probeAfterSteps,
  cooldownMs: toolChecks.cooldownMs,
  maxCooldownMs: toolChecks.maxCooldownMs,
  probeLeaseMs: toolChecks.probeLeaseMs,
  maxRetryAfterMs: toolChecks.maxRetryAfterMs,
} satisfies Record<keyof GroupConfig, Check>;

const checkGroups: Check = (path, value) => {
  if (!isObject(value)) return object({}, '{ github: { cooldownMs: 30000 } }')(path, value);
  return gather(Object.entries(value), ([group, config]) => {
    const at = `${path}.${group}`;
    const issues = [
      ...groupName(`${path}['${group}']`, group),
      ...object(groupChecks, "{ profile: 'fast' }")(at, config),
    ];
    return issues.length > 0 ? issues : checkWaits(at, config as GroupConfig);
  });
};

const allowedTools = list(toolName, "['web_search']");
const span = oneOf([true, false], orLeaveOut('the session has no span then.'));

const restoreChecks = {
  allowedTools,
  span,
  elapsedMs: number(0, orLeaveOut('the wall clock says how much time has passed.')),
} satisfies Record<keyof RestoreOptions, Check>;

const sessionChecks = object({ id: shortName, budget: checkBudget, allowedTools, span }, "{ id: 'conversation-7' }");

const checkLoopGuard = object(
  { repeats: number(1, orLeaveOut('a call is skipped after that many failures in a row.'), { whole: true }) },
  '{ repeats: 3 }, false for none, or leave it out',
);

const fewest = number(2, orLeaveOut('one circuit alone is never systemic.'), { whole: true });

const checkSystemic: Check = (path, value) =>
  value === false
    ? []
    : object(
        {
          sameCategory: fewest,
          anyCategory: fewest,
          sharedFailures: fewest,
          sharedTools: fewest,
          pause: oneOf(
            ['all', 'affected'],
            orLeaveOut("an event then pauses all tools, or with scope 'process' the affected ones."),
          ),
          windowSteps: number(1, orLeaveOut('openings so many steps apart belong together.'), { whole: true }),
          windowMs: number(0, orLeaveOut('openings so close in time belong together.'), { above: true }),
          recovery: recoveryChecks,
        },
        '{ sameCategory: 2 }, false for none, or leave it out',
      )(path, value);

/** Says where a misplaced key belongs. */
const unknownOption = (key: string): string =>
  key === 'capabilities' ? "is no setting: tools takes what loadCapabilities() gives as its 'tools'" : 'is no setting';

/** Checks the settings that only make sense if sessions share their circuits (S2, S5). */
const checkScope = ({ scope = 'session', systemic }: BreakerboxConfig): readonly ConfigIssue[] => {
  if (scope === 'process' || systemic === false || systemic === undefined) return [];
  const mend = "needs scope 'process', where sessions share their circuits. Set scope: 'process', or leave it out.";
  const issues: ConfigIssue[] = [];
  if (systemic.pause === 'affected') {
    issues.push({ path: 'systemic.pause', message: `is 'affected', which ${mend}` });
  }
  if (systemic.recovery?.probeAfterMs !== undefined) {
    issues.push({
      path: 'systemic.recovery.probeAfterMs',
      message: mend,
    });
  }
  return issues;
};

const checkConfig: Check = (path, value) => {
  const { agent, defaults } = (value ?? {}) as Partial<BreakerboxConfig>;
  const sound = defaults !== undefined && checkTool({})('', defaults).length === 0 ? defaults : {};
  const checks = {
    agent: shortName,
    tools: checkTools(sound),
    groups: checkGroups,
    defaults: checkDefaults,
    budget: checkBudget,
    systemic: checkSystemic,
    scope: oneOf(['session', 'process', 'none'], orLeaveOut('each session has circuits of its own then.')),
    loopGuard: (at, one) => (one === false ? [] : checkLoopGuard(at, one)),
    allowedTools,
    precheckMaxAgeMs: number(0, orLeaveOut('a pre-call check is asked again after that time.'), { above: true }),
    chainBackoffMs: number(0, orLeaveOut('it bounds the waits of tools that depend on one another.'), { above: true }),
    maxTools: number(1, orLeaveOut('it bounds how many series are exported.'), { whole: true }),
    sessionIdleMs: number(0, orLeaveOut('an idle session leaves the gauges after that time.'), { above: true }),
    clock: functions(['now', 'unixNow'], 'both give milliseconds.'),
  } satisfies Record<keyof BreakerboxConfig, Check>;
  const issues = object(checks, "{ agent: 'research-agent' }", unknownOption)(path, value);
  const { tools } = (value ?? {}) as Partial<BreakerboxConfig>;
  const scopeIssues = issues.length > 0 ? [] : checkScope(value as BreakerboxConfig);
  return [
    ...issues,
    ...scopeIssues,
    ...(agent === undefined ? shortName('agent', agent) : []),
    ...checkCapabilityMap(tools),
  ];
};
