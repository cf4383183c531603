import type { BudgetOptions } from '../budget/budget.ts';
import { recoveryChecks } from '../budget/recovery.ts';
import {
  above,
  aFunction,
  BreakerboxUsageError,
  type Check,
  type ConfigIssue,
  functions,
  gather,
  isRecord,
  list,
  name,
  number,
  object,
  oneOf,
  orLeaveOut,
  reject,
  shortName,
  show,
  text,
  toolName,
  whole,
} from '../checks/checks.ts';
import { isBlank, reservedPrefix, whyReserved } from '../checks/names.ts';
import { CIRCUIT_MODES } from '../circuit/circuit.ts';
import { type CircuitConfig, PROFILES, resolvePolicy } from '../circuit/policy.ts';
import { TRIP_CHECKS } from '../circuit/trip-policies/trip-policies.ts';
import { ERROR_CATEGORIES } from '../classify/taxonomy.ts';
import { type BreakerboxEvents, EVENT_NAMES } from '../events.ts';
import { childChecks } from '../limits/children.ts';
import { type CostLimitOptions, LIMIT_MODES, type LimitOptions, type LimitsOptions } from '../limits/limits.ts';
import { type Capability, capabilityChecks, checkCapabilityMap } from '../routing/capability.ts';
import { GROUP_PREFIX, MODEL_PREFIX, TELEMETRY_LEVELS } from '../telemetry/semconv.ts';
import type { CircuitSpec } from '../tool.ts';
import {
  type BreakerboxConfig,
  type GroupConfig,
  type ModelConfig,
  mergeTool,
  type RestoreOptions,
  type SessionOptions,
  type SessionToolConfig,
  settings,
  type ToolConfig,
} from './config.ts';
import { priceCheck } from './model-price.ts';

/** Rejects a configuration that can't work. One error lists everything that is wrong (E6). */
export const validateConfig = (config: BreakerboxConfig): void => reject(checkConfig('', config));

/** The same check for the options of one session. */
export const validateSessionOptions = (options: SessionOptions): void => reject(sessionChecks('session', options));

/** The same check for the options of `restore`. */
export const validateRestoreOptions = (options: RestoreOptions): void =>
  reject(object(restoreChecks, "{ allowedTools: ['web_search'] }")('restore', options));

/**
 * What keeps settings of a session from working over those of the box (C18). `ownOf`: the own settings of a tool of the box, if it is
 * declared.
 */
export const sessionToolIssues = (
  tools: NonNullable<SessionOptions['tools']>,
  { defaults, scope }: Pick<BreakerboxConfig, 'defaults' | 'scope'>,
  ownOf: (tool: string) => ToolConfig | undefined,
): readonly ConfigIssue[] =>
  gather(Object.entries(tools), ([tool, own]) => {
    const at = `session.tools.${tool}`;
    const shared = Object.keys(settings(own)).filter((key) => scope === 'process' && key !== 'key');
    const message =
      "is that of all sessions, because they share their circuits in scope 'process'. Set it in the tools of the box.";
    return [
      ...shared.map((key) => ({ path: `${at}.${key}`, message })),
      ...checkTool(mergeTool(defaults, ownOf(tool) ?? {}))(at, own),
    ];
  });

/** The same check for a tool that is declared later, together with the tools that already exist. */
export const validateTool = (
  tool: string,
  config: ToolConfig,
  { defaults, fleet, scope = 'session' }: BreakerboxConfig,
  others: () => Readonly<Record<string, Capability>>,
): void => {
  reject([...name('tool', tool), ...notReserved('tool', tool)]);
  const tools = { [tool]: config };
  reject([...checkTools(defaults)('tools', tools), ...checkShare(fleet, scope, { tools })]);
  // A tool that points to no other tool closes no cycle. This keeps declaring thousands of tools one by one fast.
  if (config.alternatives === undefined && config.dependsOn === undefined) return;
  reject(checkCapabilityMap({ ...others(), [tool]: config }));
};

const budgetSettings = object(
  {
    rule: oneOf(['window', 'strict'], orLeaveOut('By default, failures leave the budget after the window.')),
    failures: whole(1, 'With 0, the session would pause before its first call.'),
    tokens: whole(1, 'Without it, failed calls may cost any number of tokens.'),
    windowSteps: whole(1, 'A failure counts for this many steps.'),
    windowMs: above('A failure counts for this time.'),
    windowCalls: whole(1, 'Without steps, a failure counts for this many later calls.'),
  } satisfies Record<keyof BudgetOptions, Check>,
  "{ failures: 5 }, 'strict' or false",
);

const checkBudget: Check = (path, value) => {
  if (value === 'strict' || value === false) return [];
  const issues = budgetSettings(path, value);
  if (issues.length > 0) return issues;
  const { rule, ...rest } = value as BudgetOptions;
  if (rule !== 'strict') return [];
  const useless = (['windowSteps', 'windowMs', 'windowCalls'] as const).filter((key) => rest[key] !== undefined);
  return useless.map((key) => ({
    path: `${path}.${key}`,
    message: "has no effect with rule 'strict', which has no window. Remove it, or set rule 'window'.",
  }));
};

const limitMode = oneOf(LIMIT_MODES, orLeaveOut('By default, a limit pauses the run.'));

/** D2: a number, or an object with a mode. */
const aLimit = (why: string): Check => {
  const limit = whole(1, why);
  const checks = { limit, mode: limitMode } satisfies Record<keyof LimitOptions, Check>;
  const withMode = object(checks, "100, or { limit: 100, mode: 'advise' }");
  return (path, value) => {
    if (!isRecord(value)) return limit(path, value);
    const issues = withMode(path, value);
    return issues.length > 0 || value.limit !== undefined ? issues : limit(`${path}.limit`, value.limit);
  };
};

const COST = "{ amount: 5, currency: 'USD' }";
const costLimit = object(
  {
    amount: above('It is the money that a run may cost.'),
    currency: text("it is the currency of amount, such as 'USD'."),
    mode: limitMode,
  } satisfies Record<keyof CostLimitOptions, Check>,
  COST,
);

/** Also for the limits of a child. */
const limits = object(
  {
    calls: aLimit('By default, a run may make any number of calls.'),
    steps: aLimit('By default, a run may take any number of steps.'),
    tokens: aLimit('By default, a run may use any number of tokens.'),
    cost: (path, value) => {
      const issues = costLimit(path, value);
      const missing = (['amount', 'currency'] as const).filter((key) => isRecord(value) && value[key] === undefined);
      return issues.length > 0
        ? issues
        : missing.map((key) => ({ path: `${path}.${key}`, message: `is missing. Give both, such as ${COST}.` }));
    },
    durationMs: aLimit('By default, a run may take any time.'),
  } satisfies Record<keyof LimitsOptions, Check>,
  '{ calls: 500, tokens: 200000 }',
);

const aChild = childChecks(limits);

/** The same check for the options of `session.child`. */
export const validateChild = (options: unknown): void => reject(aChild('child', options));

const allowedTools = list(toolName, "['web_search']");
const span = oneOf([true, false], orLeaveOut('Without it, the session has no span.'));

const restoreChecks = {
  allowedTools,
  span,
  tools: (path, value) => ownTools(path, value),
  elapsedMs: number(0, orLeaveOut('By default, the wall clock measures the time since the snapshot.')),
} satisfies Record<keyof RestoreOptions, Check>;

/** Settings of tools that a session may have of its own (C18). */
export const ownTools: Check = (path, value) =>
  isRecord(value)
    ? gather(Object.entries(value), ([tool, own]) => [
        ...toolName(`${path}['${tool}']`, tool),
        ...object(ownToolChecks, '{ failureThreshold: 5 }', notOfSession)(`${path}.${tool}`, own),
      ])
    : object({}, '{ web_search: { failureThreshold: 5 } }')(path, value);

const notOfSession = (key: string): string =>
  Object.hasOwn(toolChecks, key)
    ? 'is not a setting of a session. It is that of the box: set it in createBreakerbox({ tools })'
    : 'is not a setting';

const sessionChecks = object(
  { id: shortName, budget: checkBudget, limits, allowedTools, span, tools: (path, value) => ownTools(path, value) },
  "{ id: 'conversation-7' }",
  (key) =>
    key === 'parent' ? 'is not a setting. Call parent.child() for the session of a sub-agent' : 'is not a setting',
);

const checkLoopGuard = object(
  {
    repeats: whole(1, 'The same call is skipped after it failed this many times in a row.'),
    circles: oneOf([true, false], orLeaveOut('By default, no circles are looked for.')),
  },
  '{ repeats: 3 }, or set false to switch it off, or leave it out',
);

const fewest = whole(2, 'A systemic failure is a failure of several tools.');

const checkSystemic: Check = (path, value) =>
  value === false
    ? []
    : object(
        {
          sameCategory: fewest,
          sameCategorySteps: whole(1, 'Circuits that open alike within this many steps can be one event.'),
          anyCategory: fewest,
          sharedFailures: fewest,
          sharedTools: fewest,
          mixedFailures: fewest,
          pause: oneOf(
            ['all', 'affected'],
            orLeaveOut(
              "By default, a systemic event pauses all tools. In scope 'process', only calls of the affected tools are skipped.",
            ),
          ),
          windowSteps: whole(1, 'Circuits that open within this many steps can be one event.'),
          windowMs: above('Circuits that open within this time can be one event.'),
          recovery: recoveryChecks,
        },
        '{ sameCategory: 3 }, or set false to switch it off, or leave it out',
      )(path, value);

/** Says where a misplaced key belongs. */
const unknownOption = (key: string): string =>
  key === 'capabilities'
    ? 'is not a setting. Set tools: (await loadCapabilities(path)).tools, of @breakerbox/instrumentation/capabilities'
    : 'is not a setting';

/** G2: circuits that a fleet shares need a fleet. Those of tools need scope `process` too, those of models are the box's in any scope. */
const checkShare = (fleet: unknown, scope: string, config: Partial<BreakerboxConfig>): readonly ConfigIssue[] => {
  const { ofTools, ofModels } = sharing(config);
  const issues = (paths: readonly string[], message: string) =>
    paths.map((path) => ({ path: `${path}.share`, message }));
  const remove = 'or remove this setting.';
  if (fleet === undefined) {
    return [
      ...issues(ofTools, `is 'fleet', but the box has no fleet. Set fleet and scope: 'process', ${remove}`),
      ...issues(ofModels, `is 'fleet', but the box has no fleet. Set fleet, ${remove}`),
    ];
  }
  return scope === 'process'
    ? []
    : issues(ofTools, `is 'fleet', which needs scope 'process' for a tool. Set scope: 'process', ${remove}`);
};

/** Where `share` is `fleet`. */
const sharing = ({ defaults, tools, groups = {}, models }: Partial<BreakerboxConfig>) => {
  const under = (path: string, all: Readonly<Record<string, { readonly share?: unknown } | undefined>> = {}) =>
    Object.keys(all).flatMap((name) => (all[name]?.share === 'fleet' ? [path + name] : []));
  const shared = under('groups.', groups);
  const isOfModel = (path: string) => path.startsWith(`groups.${MODEL_PREFIX}`);
  return {
    ofTools: [...under('', { defaults }), ...under('tools.', tools), ...shared.filter((path) => !isOfModel(path))],
    ofModels: [...under('models.', models), ...shared.filter(isOfModel)],
  };
};

/** Checks the settings that only make sense if sessions share their circuits (S2). */
const checkScope = (config: BreakerboxConfig): readonly ConfigIssue[] => {
  const { scope = 'session', systemic, fleet } = config;
  if (scope === 'process') return checkShare(fleet, scope, config);
  const need =
    "needs scope 'process', where sessions share their circuits. Set scope: 'process', or remove this setting.";
  if (fleet !== undefined && sharing(config).ofModels.length === 0) return [{ path: 'fleet', message: need }];
  if (systemic === false || systemic === undefined) return checkShare(fleet, scope, config);
  return [
    ...checkShare(fleet, scope, config),
    ...(systemic.pause === 'affected' ? [{ path: 'systemic.pause', message: `is 'affected', which ${need}` }] : []),
    ...(systemic.recovery?.probeAfterMs === undefined
      ? []
      : [{ path: 'systemic.recovery.probeAfterMs', message: need }]),
  ];
};

const checkConfig: Check = (path, value) => {
  const { agent, defaults, tools } = (value ?? {}) as Partial<BreakerboxConfig>;
  const sound = defaults !== undefined && checkTool({})('', defaults).length === 0 ? defaults : {};
  const checks = {
    agent: shortName,
    tools: checkTools(sound),
    groups: checkGroups,
    models: checkModels,
    defaults: checkDefaults,
    budget: checkBudget,
    limits,
    systemic: checkSystemic,
    scope: oneOf(['session', 'process', 'none'], orLeaveOut('By default, each session has its own circuits.')),
    loopGuard: (at, one) => (one === false ? [] : checkLoopGuard(at, one)),
    allowedTools,
    precheckMaxAgeMs: above('A pre-call check runs again after this time.'),
    chainBackoffMs: above('It limits the total wait along a chain of dependsOn.'),
    maxChildren: whole(1, 'It limits the sub-agents of a session that are at work.'),
    maxDepth: whole(1, 'It limits how deep sub-agents may be nested.'),
    maxTools: whole(1, 'It limits how many tools have metrics of their own.'),
    sessionIdleMs: above('After this time, gauges no longer count an idle session.'),
    clock: functions(['now', 'unixNow'], 'both return milliseconds.'),
    fleet: functions(['join'], 'createFleet({ client }) makes one.'),
  } satisfies Record<keyof BreakerboxConfig, Check>;
  const issues = object(checks, "{ agent: 'research-agent' }", unknownOption)(path, value);
  return [
    ...issues,
    ...(issues.length > 0 ? [] : checkScope(value as BreakerboxConfig)),
    ...(agent === undefined ? shortName('agent', agent) : []),
    ...checkCapabilityMap(tools),
  ];
};

/** Names that begin with `group:` or `model:` are reserved (C13). */
const notReserved: Check = (path, value) => {
  const prefix = reservedPrefix(value);
  return prefix === undefined
    ? []
    : [{ path, message: `is ${show(value)}. Names that begin with ${whyReserved(prefix)} Leave the prefix out.` }];
};

/** The group's name becomes a part of a longer name. */
const groupName: Check = (path, value) =>
  typeof value === 'string' && !isBlank(value) ? shortName(path, `${GROUP_PREFIX}${value}`) : name(path, value);

const shared = {
  profile: oneOf(Object.keys(PROFILES), orLeaveOut('A profile is a set of thresholds.')),
  mode: oneOf(CIRCUIT_MODES, orLeaveOut('By default, the circuit decides.')),
  share: oneOf(['fleet', 'box'], orLeaveOut('By default, the box shares it with no other process.')),
  telemetry: oneOf(TELEMETRY_LEVELS, orLeaveOut('By default, every series is exported.')),
};

const aStepCount = whole(1, 'With 0, a probe would run in the same step, as a retry.');
const stepCounts = list(aStepCount);

const waits = {
  probes: whole(1, 'With 0, an open circuit could never close.'),
  probeAfterSteps: (path, value) => {
    if (!Array.isArray(value)) return aStepCount(path, value);
    const message = 'is empty. Give at least one number of steps, such as [3, 6, 12], or leave it out.';
    return value.length === 0 ? [{ path, message }] : stepCounts(path, value);
  },
  cooldownMs: above('With 0, a probe would run at once, as a retry.'),
  maxCooldownMs: above('It is the longest wait between probes.'),
  probeLeaseMs: above('It is the time that a probe has to answer.'),
  maxRetryAfterMs: number(0, orLeaveOut('It is the longest Retry-After that is accepted.')),
  maxInFlight: number(1, orLeaveOut('By default, any number of calls may be under way.'), { whole: true }),
} satisfies Record<string, Check>;

const key: Check = (path, value) =>
  value === false
    ? []
    : aFunction('such as byHost(), which takes the arguments and returns a key, or give false for no keys')(
        path,
        value,
      );

const ownToolChecks: Readonly<Record<keyof SessionToolConfig, Check>> = {
  profile: shared.profile,
  mode: shared.mode,
  ...TRIP_CHECKS,
  ...waits,
  key,
};

const toolChecks: Readonly<Record<keyof ToolConfig, Check>> = {
  ...shared,
  group: (path, value) => (value === false ? [] : groupName(path, value)),
  ...TRIP_CHECKS,
  ...capabilityChecks,
  ...waits,
  outcomes: (path, value) => {
    const judgement = oneOf(['failure', 'ignored'], orLeaveOut("Without it, the category's default applies."));
    const checks = Object.fromEntries(ERROR_CATEGORIES.map((category) => [category, judgement]));
    return object(checks, "{ tool_error: 'failure' }")(path, value);
  },
  classify: aFunction('that takes what the tool threw or returned, and returns a category'),
  isFailure: aFunction('that takes a result, and returns true, false or a category'),
  key,
  precheck: aFunction("that takes the tool's name, and returns 'available', 'degraded' or 'unavailable'"),
  labelFreshness: oneOf([true, false], orLeaveOut('Without it, results are not labelled.')),
  serveStaleMs: above('Without it, a skipped call never gets the last good result.'),
};

/** What counts failures in a row, of the tool and of its keys. */
const THRESHOLDS: ReadonlySet<string> = new Set(['failureThreshold', 'keysThreshold']);

/** Checks a tool alone, and then together with the defaults. */
const checkTool =
  (defaults: ToolConfig | undefined): Check =>
  (path, value) => {
    const issues = object(toolChecks, "{ profile: 'fast' }")(path, value);
    if (issues.length > 0) return issues;
    const merged = mergeTool(defaults, value as ToolConfig);
    if (merged.failureThreshold === false && !resolvePolicy(merged).countsSuccesses) {
      const others = Object.keys(TRIP_CHECKS).filter((setting) => !THRESHOLDS.has(setting));
      const message =
        `is false, and nothing else opens the circuit. Set one of ${others.join(', ')}, or mode: 'disabled' for a circuit ` +
        'that never opens.';
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
    `is ${base}${origin}, more than maxCooldownMs (${maxCooldownMs}). The wait grows from cooldownMs to maxCooldownMs. Raise ` +
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
    message: 'is not allowed in defaults, because it belongs to one tool. Set it in tools.NAME.',
  }));
};

export const checkTools =
  (defaults: ToolConfig | undefined): Check =>
  (path, value) => {
    if (!isRecord(value)) return object({}, "{ web_search: { profile: 'fast' } }")(path, value);
    return gather(Object.entries(value), ([tool, config]) => [
      ...toolName(`${path}['${tool}']`, tool),
      ...notReserved(`${path}['${tool}']`, tool),
      ...checkTool(defaults)(`${path}.${tool}`, config),
    ]);
  };

const groupChecks = {
  ...shared,
  failureThreshold: whole(1, 'The circuit of the group opens after this many failures in a row.'),
  groupThreshold: whole(1, 'At least this many tools of the group must have failed.'),
  ...waits,
} satisfies Record<keyof GroupConfig, Check>;

const modelChecks = {
  profile: shared.profile,
  mode: shared.mode,
  failureThreshold: whole(1, 'The circuit of the model opens after this many failures in a row.'),
  probes: waits.probes,
  cooldownMs: waits.cooldownMs,
  maxCooldownMs: waits.maxCooldownMs,
  probeLeaseMs: waits.probeLeaseMs,
  maxRetryAfterMs: waits.maxRetryAfterMs,
  share: shared.share,
  price: priceCheck,
} satisfies Record<keyof ModelConfig, Check>;

/** Settings of circuits by the names of their owners. */
const checkNamed =
  (checks: Readonly<Record<string, Check>>, nameOf: Check, example: string): Check =>
  (path, value) => {
    if (!isRecord(value)) return object({}, example)(path, value);
    return gather(Object.entries(value), ([owner, config]) => {
      const at = `${path}.${owner}`;
      const issues = [...nameOf(`${path}['${owner}']`, owner), ...object(checks, "{ profile: 'fast' }")(at, config)];
      return issues.length > 0 ? issues : checkWaits(at, config as GroupConfig);
    });
  };

const checkGroups = checkNamed(groupChecks, groupName, '{ github: { cooldownMs: 30000 } }');
/** `models` has their names without the prefix. */
const modelName: Check = (path, value) => [...toolName(path, value), ...notReserved(path, value)];
const checkModels = checkNamed(modelChecks, modelName, "{ 'openai/gpt-5': { cooldownMs: 30000 } }");

/** Rejects a mode that does not exist, and a tool without a circuit. */
export const checkControl = (
  name: unknown,
  mode: unknown,
  tool: CircuitSpec | undefined,
  keepsCircuits: boolean,
): void => {
  if (!(CIRCUIT_MODES as readonly unknown[]).includes(mode)) {
    throw new BreakerboxUsageError(
      `session.control(${show(name)}, ${show(mode)}): there is no such mode. ` +
        `Give one of ${CIRCUIT_MODES.join(', ')}.`,
    );
  }
  if (tool !== undefined && keepsCircuits) return;
  if (tool !== undefined) {
    throw new BreakerboxUsageError(
      `session.control(${show(name)}, …): this box keeps no circuits (scope 'none'), so the mode would have no effect. Set mode in ` +
        `the tool's settings, or give the box another scope.`,
    );
  }
  // With a misspelt name, the tool that was meant would stay as it is.
  throw new BreakerboxUsageError(
    `session.control(${show(name)}, …): no tool of that name is declared, so it has no circuit to control. Correct the name ` +
      `(box.tools lists them), or declare it before: box.declare(${show(name)}).`,
  );
};

/** Rejects an event that does not exist, and a listener that is not a function. */
export const checkListener = (event: unknown, listener: unknown): void => {
  if (!EVENT_NAMES.includes(event as keyof BreakerboxEvents)) {
    throw new BreakerboxUsageError(
      `box.on(${show(event)}, listener): there is no such event. Give one of ` + `${EVENT_NAMES.join(', ')}.`,
    );
  }
  if (typeof listener === 'function') return;
  throw new BreakerboxUsageError(
    `box.on('${event}', ${show(listener)}): the listener is not a function. Give a function, which is called with each event.`,
  );
};
