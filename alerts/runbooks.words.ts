/** Which names in code marks a runbook may use: names that exist, and calls that work. */

import { readFileSync } from 'node:fs';
import { ctlCommand } from '../packages/cli/src/ctl/ctl-command.ts';
import { DEFAULT_SYSTEMIC } from '../packages/core/src/budget/systemic.ts';
import * as core from '../packages/core/src/index.ts';
import {
  AVAILABILITIES,
  type Breakerbox,
  type BreakerboxConfig,
  BreakerboxConfigError,
  CIRCUIT_MODES,
  createBreakerbox,
  ERROR_CATEGORIES,
  REASONS,
  type Session,
} from '../packages/core/src/index.ts';
import * as reports from '../packages/core/src/report/report-entry.ts';
import * as snapshots from '../packages/core/src/snapshot/snapshot-entry.ts';
import { ATTR, EVENT, METRIC, MIXED_CATEGORY, OTHER_TOOL } from '../packages/core/src/telemetry/semconv.ts';
import { secondsOf } from './src/duration.ts';
import { DEFAULT_SETTINGS, WINDOW } from './src/settings.ts';

/** OpenTelemetry's name in Prometheus' notation. */
const label = (name: string): string => name.replaceAll('.', '_');

/** The values that a label can have; undefined if it can have any. */
export const LABEL_VALUES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    label(ATTR.state),
    new Set(['closed', 'open', 'half_open', ...CIRCUIT_MODES.filter((mode) => mode !== 'automatic')]),
  ],
  [label(ATTR.sessionState), new Set(['active', 'paused_budget', 'paused_systemic', 'paused_limit'])],
  [label(ATTR.limitLevel), new Set(['advised', 'reached', 'observed'])],
  [label(ATTR.decision), new Set<string>(Object.values(REASONS))],
  [label(ATTR.reason), new Set<string>(Object.keys(REASONS))],
  [label(ATTR.outcome), new Set(['success', 'failure', 'ignored'])],
  [label(ATTR.stateFrom), new Set(['closed', 'open', 'half_open'])],
  [label(ATTR.stateTo), new Set(['closed', 'open', 'half_open'])],
  [label(ATTR.availability), new Set<string>(AVAILABILITIES)],
  [label(ATTR.errorType), new Set<string>([...ERROR_CATEGORIES, MIXED_CATEGORY, 'CATEGORY'])],
]);

/** Labels of series: OpenTelemetry's attributes, and those that Prometheus adds. */
export const LABELS: ReadonlySet<string> = new Set(['job', 'instance', 'le', ...Object.values(ATTR).map(label)]);

/** Series that core can emit. */
export const SERIES: ReadonlySet<string> = new Set(
  Object.values(METRIC).flatMap(({ prometheus, kind }) =>
    kind === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((end) => prometheus + end) : [prometheus],
  ),
);

/** The settings that exist at this place of the configuration, read from the error message for an unknown setting. */
const knownSettings = (config: object): readonly string[] => {
  try {
    createBreakerbox({ agent: 'runbooks', ...config } as BreakerboxConfig);
  } catch (error) {
    if (!(error instanceof BreakerboxConfigError)) throw error;
    return /Allowed here: ([^.]+)\./.exec(error.message)?.[1]?.split(', ') ?? [];
  }
  return [];
};

const nothing = { 'no setting': true };
const OPTIONS: ReadonlySet<string> = new Set([
  ...knownSettings(nothing),
  ...knownSettings({ tools: { TOOL: nothing } }),
  ...knownSettings({ tools: { TOOL: { slowCallRate: nothing } } }),
  ...knownSettings({ budget: nothing }).map((name) => `budget.${name}`),
  ...knownSettings({ systemic: nothing }).map((name) => `systemic.${name}`),
  ...knownSettings({ systemic: { recovery: nothing } }).map((name) => `systemic.recovery.${name}`),
  ...knownSettings({ groups: { NAME: nothing } }),
]);

/** Whether the box or a tool accepts a setting with its value, such as `mode: 'forced_open'`. */
const isAccepted = (name: string, value: string): boolean =>
  [{ [name]: value }, { tools: { TOOL: { [name]: value } } }].some((config) => {
    try {
      createBreakerbox({ agent: 'runbooks', ...config } as BreakerboxConfig);
      return true;
    } catch {
      return false;
    }
  });

/** A session that is paused because two of its tools failed together. It has every value that a runbook reads. */
const pausedSession = (): { readonly box: Breakerbox; readonly session: Session } => {
  const box = createBreakerbox({ agent: 'runbooks', tools: { TOOL: { group: 'NAME' }, OTHER: {} } });
  const session = box.session();
  for (const tool of ['TOOL', 'TOOL', 'TOOL', 'OTHER', 'OTHER', 'OTHER']) {
    session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  }
  return { box, session };
};

/**
 * Makes a call that a runbook asks the reader to make, such as `session.control('TOOL', 'forced_open')`. Without brackets, the
 * name must exist.
 *
 * @throws Error if the function does not exist, if it rejects the arguments, or if a property after it is missing.
 */
export const tryCall = (text: string): void => {
  const { box, session } = pausedSession();
  const [, object, method = '', args, path] = /^(session|box)\.(\w+)(\([^()]*\))?((?:\.\w+)*)$/.exec(text) ?? [];
  const target = object === 'box' ? box : session;
  const found: unknown = Reflect.get(target, method);
  if (object === undefined || typeof found !== 'function') throw new Error(`${text} is not a call`);
  if (args === undefined) return;
  const given = [...args.matchAll(/'([^']*)'/g)].map((match) => match[1]);
  const properties = (path ?? '').split('.').slice(1);
  const result = properties.reduce<unknown>(
    (value, name) => Reflect.get(Object(value), name),
    found.apply(target, given),
  );
  if (properties.length > 0 && result === undefined) throw new Error(`${text} gives no value`);
};

function prefixed(prefix: string, values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value]));
}

const TELEMETRY_README = readFileSync(`${import.meta.dirname}/../packages/telemetry/README.md`, 'utf8');

/** Names of the numbers in a runbook: settings of the rules, their fixed windows, and the engine's own defaults. */
const NUMBERS: Readonly<Record<string, unknown>> = {
  ...DEFAULT_SETTINGS,
  ...prefixed('WINDOW', WINDOW),
  ...prefixed('systemic', DEFAULT_SYSTEMIC),
};

/** The value of such a number, durations in seconds; undefined if no number has this name. */
export const numberCalled = (name: string): number | undefined => {
  const value = NUMBERS[name];
  return typeof value === 'string' ? secondsOf(value) : typeof value === 'number' ? value : undefined;
};

const WORDS: ReadonlySet<string> = new Set<string>([
  ...LABELS,
  ...SERIES,
  ...OPTIONS,
  ...[...LABEL_VALUES.values()].flatMap((values) => [...values]),
  ...CIRCUIT_MODES,
  ...Object.values(EVENT),
  ...Object.values(ATTR).map((name) => `span.${name}`),
  ...Object.keys({ ...core, ...reports, ...snapshots }),
  OTHER_TOOL,
  // Whether circuits belong to a session or to the process, in the configuration of a box.
  ...['session', 'process'],
  // Names of the rules and of Prometheus itself.
  ...['scope', 'agent', 'fleet', 'up', 'for', 'runbook_url', 'dashboard_url', 'metric_expiration', 'WINDOW'],
  // Placeholders, and the address of an agent's metrics.
  ...[
    'JOB',
    'AGENT',
    'TOOL',
    'CATEGORY',
    'group:NAME',
    'model:PROVIDER/MODEL',
    'group:model:PROVIDER',
    'guardModels',
    'ModelsUnavailableError',
    'http://HOST:9464/metrics',
    'breakerbox bundle',
    '@breakerbox/core/report',
    '@breakerbox/control',
  ],
]);

/** Whether `breakerbox ctl` has such a command, with as many arguments and with these flags. */
const isCommand = ([name, ...rest]: readonly string[]): boolean => {
  const found = ctlCommand().commands.find((one) => one.name() === name);
  const named = rest.findIndex((one) => one.startsWith('--'));
  const given = named === -1 ? rest : rest.slice(0, named);
  const flags = rest.filter((one) => one.startsWith('--'));
  return (
    found !== undefined &&
    given.length === found.registeredArguments.length &&
    flags.every((flag) => found.options.some(({ long }) => long === flag))
  );
};

/**
 * Checks that the names in code marks exist.
 *
 * @throws Error if a name is unknown, or a call does not work.
 */
export const checkWords = (text: string): void => {
  // A function over a session or a box: `report(session)`.
  const [, over] = /^(\w+)\((?:session|box)\b/.exec(text) ?? [];
  if (over !== undefined && (over in reports || over in snapshots)) return;
  if (/^(session|box)\./.test(text)) {
    tryCall(text);
    return;
  }
  const [, command] = /^(?:[\w -]+ )?breakerbox(?: --)? ctl (.+)$/.exec(text) ?? [];
  if (command !== undefined && isCommand(command.split(' '))) return;
  const [, name, value] = /^(\w+): '(\w+)'$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined && isAccepted(name, value)) return;
  if (/^OTEL_[A-Z_]+$/.test(text) && TELEMETRY_README.includes(`\`${text}`)) return;
  if (WORDS.has(text) || /^Breakerbox[A-Z]/.test(text) || numberCalled(text) !== undefined) return;
  throw new Error(
    `\`${text}\` is not a name in the code, the contract or the rules' settings. Correct it or remove it.`,
  );
};
