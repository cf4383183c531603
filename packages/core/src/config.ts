import { type Check, functions, name, number, object, oneOf, orLeaveOut, refuse, show } from './checks.ts';
import { CIRCUIT_MODES, type CircuitMode } from './circuit/mode.ts';
import { type CircuitConfig, PROFILES } from './circuit/policy.ts';
import type { Clock } from './clock.ts';
import { ERROR_CATEGORIES, type ErrorCategory, type Judgement } from './outcome/taxonomy.ts';
import type { SystemicPolicy } from './systemic.ts';
import type { Classifier } from './tool.ts';

/** How one tool is treated. */
export interface ToolConfig extends CircuitConfig {
  /**
   * Who decides (C1). Default `automatic`. `defaults: { mode: 'observe_only' }` tries the whole box out in production before
   * it bites.
   */
  readonly mode?: CircuitMode;
  /** Which error categories count as failures of this tool; the rest keep their defaults (O1). */
  readonly outcomes?: Partial<Readonly<Record<ErrorCategory, Judgement>>>;
  /** Looks at what the tool threw, or at an error that it returned, before the built-in classifier does (O2). */
  readonly classify?: Classifier;
}

/** What `createBreakerbox` takes. */
export interface BreakerboxConfig {
  /** The agent's name: `gen_ai.agent.name` on everything that is exported. One of a few, never an id. */
  readonly agent: string;
  /** The agent's tools by name. Tools that are wrapped by an adapter need not stand here. */
  readonly tools?: Readonly<Record<string, ToolConfig>>;
  /** For every tool, where its own settings say nothing else. */
  readonly defaults?: ToolConfig;
  /** Failures that a session may have before it pauses (B1). */
  readonly budget?: {
    /** Whole number ≥ 1. Default 5. */
    readonly failures?: number;
  };
  /** When failures of several tools are one event (S1); `false`: never. */
  readonly systemic?: false | Partial<SystemicPolicy>;
  /** Tools that get series of their own; the rest are counted together as `_OTHER`. Whole number ≥ 1. Default 200. */
  readonly maxTools?: number;
  /** A session that isn't used for so many milliseconds leaves the gauges, until it is used again. Default 1,800,000. */
  readonly sessionIdleMs?: number;
  /** For tests. Default: the system's monotonic clock. */
  readonly clock?: Clock;
}

/** What `box.session` takes. */
export interface SessionOptions {
  /** The conversation's id: on spans and events, never on metrics. Default: a random one. */
  readonly id?: string;
  /** For this session alone; default the box's. */
  readonly budget?: BreakerboxConfig['budget'];
}

/** Refuses a configuration that can't work, with all that is wrong in one error (E6). */
export const validateConfig = (config: BreakerboxConfig): void => refuse(checkConfig('', config));

/** The same for the options of one session. */
export const validateSessionOptions = (options: SessionOptions): void =>
  refuse(object({ id: name, budget: checkBudget })('session', options));

/** The same for a tool that is declared later. */
export const validateTool = (tool: string, config: ToolConfig, defaults: ToolConfig): void =>
  refuse(checkTools(defaults)('tools', { [tool]: config }));

/** What is set of an object: a key that is there and undefined is not. */
export const settings = <T extends object>(value: T | undefined): T =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, one]) => one !== undefined)) as T;

/** A tool's own settings over the defaults. A profile of its own replaces thresholds that the defaults set. */
export const mergeTool = (defaults: ToolConfig, tool: ToolConfig): ToolConfig => {
  const own = settings(tool);
  const { failureThreshold, cooldownMs, maxCooldownMs, ...rest } = settings(defaults);
  return {
    ...(own.profile === undefined ? settings(defaults) : rest),
    ...own,
    outcomes: { ...settings(defaults.outcomes), ...settings(own.outcomes) },
  };
};

const aFunction: Check = (path, value) =>
  typeof value === 'function'
    ? []
    : [
        {
          path,
          message: `is ${show(value)}. Give a function from what the tool threw to a category, or leave it out.`,
        },
      ];

const toolChecks: Readonly<Record<keyof ToolConfig, Check>> = {
  profile: oneOf(Object.keys(PROFILES), orLeaveOut('it stands for ready-made thresholds.')),
  mode: oneOf(CIRCUIT_MODES, orLeaveOut('the circuit decides.')),
  failureThreshold: number(
    1,
    orLeaveOut('the circuit opens after so many failures in a row, and with 0 nothing could pass.'),
    { whole: true },
  ),
  probes: number(1, orLeaveOut('with 0 an open circuit could never close.'), { whole: true }),
  probeAfterSteps: number(1, orLeaveOut('a probe in the same step would be a retry.'), { whole: true }),
  cooldownMs: number(0, orLeaveOut('a probe without a wait would be a retry.'), { above: true }),
  maxCooldownMs: number(0, orLeaveOut('it is the longest wait between probes.'), { above: true }),
  probeLeaseMs: number(0, orLeaveOut('a probe needs time to answer.'), { above: true }),
  maxRetryAfterMs: number(0, orLeaveOut('it is the longest Retry-After that is believed.')),
  outcomes: (path, value) => {
    const judgement = oneOf(['failure', 'ignored'], orLeaveOut("the category's default applies."));
    return object(Object.fromEntries(ERROR_CATEGORIES.map((category) => [category, judgement])))(path, value);
  },
  classify: aFunction,
};

/** Checks a tool alone, and then what comes of it together with the defaults. */
const checkTool =
  (defaults: ToolConfig): Check =>
  (path, value) => {
    const issues = object(toolChecks)(path, value);
    if (issues.length > 0) return issues;
    const { profile = 'default', cooldownMs, maxCooldownMs } = mergeTool(defaults, value as ToolConfig);
    const base = cooldownMs ?? PROFILES[profile].cooldownMs;
    if (maxCooldownMs === undefined || base <= maxCooldownMs) return [];
    const origin = cooldownMs === undefined ? ` by the profile '${profile}'` : '';
    const message =
      `is ${base}${origin}, more than maxCooldownMs (${maxCooldownMs}). The wait grows from the one to the other: raise ` +
      `maxCooldownMs or lower cooldownMs.`;
    return [{ path: `${path}.cooldownMs`, message }];
  };

const checkTools =
  (defaults: ToolConfig): Check =>
  (path, value) => {
    if (typeof value !== 'object' || value === null) return object({})(path, value);
    return Object.entries(value).flatMap(([tool, config]) => [
      ...name(`${path}['${tool}']`, tool),
      ...checkTool(defaults)(`${path}.${tool}`, config),
    ]);
  };

const checkBudget = object({
  failures: number(1, orLeaveOut('with 0 the session would pause before its first call.'), { whole: true }),
});

const fewest = number(2, orLeaveOut('one circuit alone is never systemic.'), { whole: true });

const checkSystemic: Check = (path, value) =>
  value === false
    ? []
    : object({
        sameCategory: fewest,
        anyCategory: fewest,
        windowSteps: number(1, orLeaveOut('openings so many steps apart belong together.'), { whole: true }),
        windowMs: number(0, orLeaveOut('openings so close in time belong together.'), { above: true }),
      })(path, value);

const checkConfig: Check = (path, value) => {
  const { agent, defaults } = (value ?? {}) as Partial<BreakerboxConfig>;
  const sound = defaults !== undefined && checkTool({})('', defaults).length === 0 ? defaults : {};
  const issues = object({
    agent: name,
    tools: checkTools(sound),
    defaults: checkTool({}),
    budget: checkBudget,
    systemic: checkSystemic,
    maxTools: number(1, orLeaveOut('it bounds how many series are exported.'), { whole: true }),
    sessionIdleMs: number(0, orLeaveOut('an idle session leaves the gauges after that time.'), { above: true }),
    clock: functions(['now', 'unixNow'], 'both give milliseconds.'),
  } satisfies Record<keyof BreakerboxConfig, Check>)(path, value);
  return agent === undefined ? [...issues, ...name('agent', agent)] : issues;
};
