import { type CircuitConfig, PROFILES } from './circuit/policy.ts';
import type { Clock } from './clock.ts';
import { BreakerboxConfigError, type ConfigIssue } from './errors.ts';
import { ERROR_CATEGORIES, type ErrorCategory, type Judgement } from './outcome/taxonomy.ts';
import type { SystemicPolicy } from './systemic.ts';
import type { Classifier } from './tool.ts';

/** How one tool is treated. */
export interface ToolConfig extends CircuitConfig {
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

type Check = (path: string, value: unknown) => readonly ConfigIssue[];

/** Refuses a configuration that can't work, with all that is wrong in one error (E6). */
export const validateConfig = (config: BreakerboxConfig): void => refuse(checkConfig('', config));

/** The same for the options of one session. */
export const validateSessionOptions = (options: SessionOptions): void =>
  refuse(object({ id: text, budget: checkBudget })('session', options));

/** The same for a tool that is declared later. */
export const validateTool = (name: string, config: ToolConfig): void => refuse(checkTools('tools', { [name]: config }));

const refuse = (issues: readonly ConfigIssue[]): void => {
  if (issues.length > 0) throw new BreakerboxConfigError(issues);
};

const show = (value: unknown): string => {
  if (typeof value === 'string') return value.length > 60 ? `a text of ${value.length} characters` : `'${value}'`;
  return typeof value === 'number' || value === null || value === undefined ? String(value) : `a ${typeof value}`;
};

const number =
  (least: number, why: string, { whole = false, above = false } = {}): Check =>
  (path, value) => {
    const fits = typeof value === 'number' && (above ? value > least : value >= least);
    if (fits && (whole ? Number.isInteger(value) : Number.isFinite(value))) return [];
    const wanted = `a ${whole ? 'whole' : 'finite'} number ${above ? 'above' : 'of at least'} ${least}`;
    return [{ path, message: `is ${show(value)}. Set ${wanted}, or leave it out: ${why}` }];
  };

const oneOf =
  (values: readonly string[], why: string): Check =>
  (path, value) =>
    values.includes(value as string)
      ? []
      : [{ path, message: `is ${show(value)}. Set one of ${values.join(', ')}, or leave it out: ${why}` }];

const text: Check = (path, value) =>
  typeof value === 'string' && value.trim() !== ''
    ? []
    : [{ path, message: `is ${show(value)}. Set a name that isn't empty: it is how people find this in telemetry.` }];

const functions =
  (names: readonly string[], why: string): Check =>
  (path, value) =>
    names.filter((name) => typeof (value as Record<string, unknown> | null)?.[name] !== 'function').length === 0
      ? []
      : [{ path, message: `is ${show(value)}. Give an object with the functions ${names.join(' and ')}: ${why}` }];

const aFunction: Check = (path, value) =>
  typeof value === 'function'
    ? []
    : [
        {
          path,
          message: `is ${show(value)}. Give a function from what the tool threw to a category, or leave it out.`,
        },
      ];

/** An object of known keys; a misspelt one would otherwise be a setting that silently does nothing. */
const object =
  (checks: Readonly<Record<string, Check>>): Check =>
  (path, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return [{ path: path || 'config', message: `is ${show(value)}. Give an object.` }];
    }
    return Object.entries(value).flatMap(([key, one]) => {
      const at = path ? `${path}.${key}` : key;
      const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
      if (check === undefined) {
        return [{ path: at, message: `is no setting. Known here: ${Object.keys(checks).join(', ')}.` }];
      }
      return one === undefined ? [] : check(at, one);
    });
  };

const circuitChecks: Readonly<Record<keyof ToolConfig, Check>> = {
  profile: oneOf(Object.keys(PROFILES), 'it stands for ready-made thresholds.'),
  failureThreshold: number(1, 'the circuit opens after so many failures in a row, and with 0 nothing could pass.', {
    whole: true,
  }),
  probes: number(1, 'with 0 an open circuit could never close.', { whole: true }),
  probeAfterSteps: number(1, 'a probe in the same step would be a retry.', { whole: true }),
  cooldownMs: number(0, 'a probe without a wait would be a retry.', { above: true }),
  maxCooldownMs: number(0, 'it is the longest wait between probes.', { above: true }),
  probeLeaseMs: number(0, 'a probe needs time to answer.', { above: true }),
  maxRetryAfterMs: number(0, 'it is the longest Retry-After that is believed.'),
  outcomes: (path, value) => {
    const judgement = oneOf(['failure', 'ignored'], "the category's default applies.");
    return object(Object.fromEntries(ERROR_CATEGORIES.map((category) => [category, judgement])))(path, value);
  },
  classify: aFunction,
};

const checkTool: Check = (path, value) => {
  const issues = object(circuitChecks)(path, value);
  const { cooldownMs, maxCooldownMs } = (value ?? {}) as ToolConfig;
  if (issues.length > 0 || cooldownMs === undefined || maxCooldownMs === undefined || cooldownMs <= maxCooldownMs) {
    return issues;
  }
  const message = `is ${cooldownMs}, more than maxCooldownMs (${maxCooldownMs}). The wait grows from the one to the other: raise maxCooldownMs or lower cooldownMs.`;
  return [{ path: `${path}.cooldownMs`, message }];
};

const checkTools: Check = (path, value) => {
  if (typeof value !== 'object' || value === null) return object({})(path, value);
  return Object.entries(value).flatMap(([name, tool]) => [
    ...text(`${path}['${name}']`, name),
    ...checkTool(`${path}.${name}`, tool),
  ]);
};

const checkBudget = object({
  failures: number(1, 'with 0 the session would pause before its first call.', { whole: true }),
});

const fewest = number(2, 'one circuit alone is never systemic.', { whole: true });

const checkSystemic: Check = (path, value) =>
  value === false
    ? []
    : object({
        sameCategory: fewest,
        anyCategory: fewest,
        windowSteps: number(1, 'openings so many steps apart belong together.', { whole: true }),
        windowMs: number(0, 'openings so close in time belong together.', { above: true }),
      })(path, value);

const checkKeys = object({
  agent: text,
  tools: checkTools,
  defaults: checkTool,
  budget: checkBudget,
  systemic: checkSystemic,
  maxTools: number(1, 'it bounds how many series are exported.', { whole: true }),
  sessionIdleMs: number(0, 'an idle session leaves the gauges after that time.', { above: true }),
  clock: functions(['now', 'unixNow'], 'both give milliseconds.'),
} satisfies Record<keyof BreakerboxConfig, Check>);

const checkConfig: Check = (path, value) => {
  const issues = checkKeys(path, value);
  const { agent } = (value ?? {}) as Partial<BreakerboxConfig>;
  return agent === undefined ? [...issues, ...text('agent', agent)] : issues;
};
