import type { BoxContext } from '../box-context.ts';
import type { Breakerbox } from '../breakerbox.ts';
import { BreakerboxUsageError, type ConfigIssue, isRecord, reject } from '../checks/checks.ts';
import { adopted, type Circuit } from '../circuit/circuit.ts';
import { adoptKeys } from '../circuit/key-circuits.ts';
import { groupNameOf } from '../circuit/policy.ts';
import type { BreakerboxConfig, Share, ToolConfig } from '../config/config.ts';
import { validateConfig } from '../config/validation.ts';
import { modelContexts } from '../models/model-contexts.ts';
import type { CircuitChanges } from '../overrides.ts';
import { type BoxInternals, boxInternals } from '../session-internals.ts';
import { followProviders } from '../telemetry/otel-binding.ts';
import { type CircuitSpec, groupSettings, toolSettings } from '../tool.ts';
import { type TrackedCircuit, takeOver } from '../tracked-circuit.ts';

type Key = keyof BreakerboxConfig;

/**
 * When a change of each setting takes effect. `fixed`: parts of the box have taken it up for good, so it cannot change. `next use`: with
 * the next use of each session. `later`: in sessions that begin later.
 */
const TAKES_EFFECT = {
  agent: 'fixed',
  tools: 'next use',
  defaults: 'next use',
  groups: 'next use',
  models: 'next use',
  budget: 'later',
  limits: 'later',
  allowedTools: 'later',
  systemic: 'fixed',
  scope: 'fixed',
  fleet: 'fixed',
  loopGuard: 'fixed',
  precheckMaxAgeMs: 'fixed',
  chainBackoffMs: 'fixed',
  maxChildren: 'fixed',
  maxDepth: 'fixed',
  maxTools: 'fixed',
  sessionIdleMs: 'fixed',
  clock: 'fixed',
} as const satisfies Readonly<Record<Key, 'fixed' | 'next use' | 'later'>>;

const FIXED = (Object.keys(TAKES_EFFECT) as Key[]).filter((key) => TAKES_EFFECT[key] === 'fixed');

/** Options of `reconfigure`. */
export interface ReconfigureOptions {
  /** More settings that your program cannot change while it runs: a change of them is an error too. Default: none. */
  readonly fixed?: readonly string[] | undefined;
}

/**
 * Changes the settings of a living box (A10). `change` gets the settings as they are, and returns all settings as they should be.
 *
 * `tools`, `defaults`, `groups` and `models` take effect from the next use of each session. Circuits keep their state and their counts: an open one
 * stays open. A circuit whose `mode` changes starts again, as by `session.control()`; a mode that was set by `session.control()` stays.
 * `budget`, `limits` and `allowedTools` are for sessions that begin later. All else, and the group of a tool and who shares its circuit, cannot
 * change.
 *
 * @throws BreakerboxConfigError if the settings cannot work, or cannot change while the box lives. Then nothing changes.
 * @throws BreakerboxUsageError if `box` is not a box, or `change` is not a function.
 *
 * @example
 * ```ts
 * reconfigure(box, (config) => ({ ...config, defaults: { ...config.defaults, failureThreshold: 5 } }));
 * ```
 */
export const reconfigure = (
  box: Breakerbox,
  change: (config: BreakerboxConfig) => BreakerboxConfig,
  { fixed = [] }: ReconfigureOptions = {},
): void => {
  const internals = boxInternals(box, 'reconfigure(box, change)');
  if (typeof change !== 'function') {
    throw new BreakerboxUsageError(
      'reconfigure(box, change): change is not a function. Give a function that returns all settings, such as ' +
        '(config) => ({ ...config, defaults: { failureThreshold: 5 } }).',
    );
  }
  const { context, config, scope, put } = internals;
  const next = change({ ...config });
  validateConfig(next);
  const tools = toolsWith(internals, next);
  validateConfig({ ...next, tools });
  const fixedOfAll = fixedIssues(config, next, [...FIXED, ...fixed]);
  reject([...fixedOfAll, ...groupIssues(context, tools), ...shareIssues(config, next, tools)], CHANGE);

  rememberFirst(context);
  for (const key of Object.keys(config)) delete (config as unknown as Record<string, unknown>)[key];
  Object.assign(config, next);
  Object.assign(context.undeclared, toolSettings(next.defaults, {}, scope));
  for (const [name, own] of Object.entries(tools)) put(name, own);
  for (const spec of groupsOf(context)) Object.assign(spec, groupSettings(next, groupNameOf(spec.name) ?? '', scope));
  modelContexts.get(context)?.reconfigure(next);
  followProviders();
  context.overrides.common.version += 1;
};

const CHANGE = 'change of a configuration while the box lives';

/** The own settings of every tool. A tool that is in neither configuration keeps those that it was declared with. */
const toolsWith = ({ context, config }: BoxInternals, next: BreakerboxConfig): Record<string, ToolConfig> => {
  const declared = [...context.tools()].map((name): [string, ToolConfig] => {
    const isInCode = !Object.hasOwn(config.tools ?? {}, name);
    return [name, isInCode ? (context.tool(name)?.own ?? {}) : {}];
  });
  return { ...Object.fromEntries(declared), ...next.tools };
};

const fixedIssues = (
  config: BreakerboxConfig,
  next: BreakerboxConfig,
  fixed: readonly string[],
): readonly ConfigIssue[] =>
  fixed
    .filter((key) => !isSame(config[key as Key], next[key as Key]))
    .map((key) => ({ path: key, message: `has changed, but cannot change while the box lives. ${RESTART}` }));

const RESTART = 'Restart the program, or change it back.';

const groupIssues = (context: BoxContext, tools: Readonly<Record<string, ToolConfig>>): readonly ConfigIssue[] =>
  Object.entries(tools).flatMap(([name, { group }]) => {
    const spec = context.tool(name);
    return spec === undefined || spec.own.group === group
      ? []
      : [{ path: `tools.${name}.group`, message: `has changed, but a tool stays in its group. ${RESTART}` }];
  });

/** G2: circuits that are in use cannot move between the box and the fleet. */
const shareIssues = (
  before: BreakerboxConfig,
  next: BreakerboxConfig,
  tools: Readonly<Record<string, ToolConfig>>,
): readonly ConfigIssue[] => {
  const share = (own: { readonly share?: Share } | undefined, { defaults }: Partial<BreakerboxConfig> = {}) =>
    own?.share ?? defaults?.share ?? 'box';
  const names = { ...before.tools, ...tools };
  const groups = { ...before.groups, ...next.groups };
  return [
    ...Object.keys(names)
      .filter((name) => share(before.tools?.[name] ?? tools[name], before) !== share(tools[name], next))
      .map((name) => `tools.${name}`),
    ...Object.keys(groups)
      .filter((name) => share(before.groups?.[name]) !== share(next.groups?.[name]))
      .map((name) => `groups.${name}`),
    ...Object.keys({ ...before.models, ...next.models })
      .filter((name) => share(before.models?.[name]) !== share(next.models?.[name]))
      .map((name) => `models.${name}`),
  ].map((path) => ({
    path: `${path}.share`,
    message: `has changed, but cannot change while the box lives. ${RESTART}`,
  }));
};

const groupsOf = (context: BoxContext): ReadonlySet<CircuitSpec> =>
  new Set([...context.tools()].flatMap((name) => context.tool(name)?.group ?? []));

/** Equal settings: plain data by value, functions by identity. A key without a value counts as left out. */
const isSame = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isSame(item, other[index]))
    );
  }
  if (!isRecord(one) || !isRecord(other)) return false;
  return Object.keys({ ...one, ...other }).every((key) => isSame(one[key], other[key]));
};

type TakenUp = Pick<CircuitSpec, 'mode' | 'policy'>;

/** For each box, the settings of its circuits before the first change. A circuit that was made before then has these. */
const firsts = new WeakMap<BoxContext, WeakMap<CircuitSpec, TakenUp>>();

/** Before the first change, makes sessions look for changes at their next use. */
const rememberFirst = (context: BoxContext): void => {
  if (firsts.has(context)) return;
  const first = new WeakMap<CircuitSpec, TakenUp>();
  firsts.set(context, first);
  for (const name of context.tools()) {
    const spec = context.tool(name);
    for (const one of [spec, spec?.group]) if (one) first.set(one, { mode: one.mode, policy: one.policy });
  }
  for (const one of modelContexts.get(context)?.circuits() ?? [])
    first.set(one, { mode: one.mode, policy: one.policy });
  const { overrides, clock } = context;
  overrides.common.settings = (_session, circuits, changes) => {
    for (const tracked of circuits) takeUp(tracked, first.get(tracked.tool), clock.now(), changes);
  };
};

/** A circuit takes up the settings of its tool, if they have changed since it last did. An operator's mode over it stays (A4). */
const takeUp = (
  tracked: TrackedCircuit,
  first: TakenUp | undefined,
  ms: number,
  changes: CircuitChanges | undefined,
): void => {
  const { mode, policy } = tracked.tool;
  const before = tracked.takenUp ?? tracked.tool.beganWith ?? first;
  tracked.takenUp = { mode, policy };
  if (before === undefined || before.policy === policy) return;
  const own = tracked.covered ?? tracked;
  if (before.mode !== mode && own.mode === before.mode && own.isControlled !== true) {
    const change = () => takeOver(own, mode);
    if (own === tracked && changes !== undefined) changes.changeMode(tracked, change);
    else change();
  }
  if (isSame(before.policy, policy)) return;
  own.circuit = fitted(own.circuit, tracked.tool, ms);
  own.keys = own.keys && adoptKeys(own.keys, own, ms);
};

/** A closed circuit counts on; it is not copied, because most were never used. */
const fitted = (circuit: Circuit, { policy }: CircuitSpec, ms: number): Circuit =>
  circuit.state === 'closed' && circuit.notBeforeMs === 0 ? circuit : adopted(circuit, policy, ms);
