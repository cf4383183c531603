import { type CircuitPolicy, circuitNameOf, groupNameOf } from '../circuit/policy.ts';
import type { ErrorCategory, IgnoredByDefault } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { SystemicDecision } from '../reasons.ts';

/** When openings or failures of several tools count as one event (S1). */
export interface SystemicPolicy {
  /**
   * Number of open circuits that opened with the same category, within `sameCategorySteps`. Up to 3, two circuits are enough within
   * `windowSteps` if their tools have a common dependency, and with `network`, `filesystem` or `resource` if no tool succeeded in
   * between and one of the two has failed more than once since then, or opens at its first failure. With 2, two circuits are enough within `windowSteps`, except with `timeout` and `permission`. Whole number ≥ 2. Default 3.
   */
  readonly sameCategory: number;
  /**
   * Largest distance in steps between openings with the same category, in a session whose steps advance. If no step lies between
   * them, it is twice `windowMs`. Has no effect with `sameCategory: 2`. Whole number ≥ 1. Default 20.
   */
  readonly sameCategorySteps: number;
  /** Number of circuits that opened, of any category. Whole number ≥ 2. Default 3. */
  readonly anyCategory: number;
  /**
   * Number of failures of several tools in one category, with no success of any tool in between, whether or not a circuit is open.
   * Whole number ≥ 2. Default 5.
   */
  readonly sharedFailures: number;
  /** Number of different tools among those failures, and those of `mixedFailures`. Whole number ≥ 2. Default 3. */
  readonly sharedTools: number;
  /** The same as `sharedFailures`, for failures of any categories. Whole number ≥ 2. Default 7. */
  readonly mixedFailures: number;
  /** Largest distance in steps between openings or failures that belong together, in a session whose steps advance. Default 10. */
  readonly windowSteps: number;
  /**
   * Largest distance in milliseconds between openings or failures that belong together, if no step lies between them. Default
   * 120,000.
   */
  readonly windowMs: number;
}

export const DEFAULT_SYSTEMIC: SystemicPolicy = {
  sameCategory: 3,
  sameCategorySteps: 20,
  anyCategory: 3,
  sharedFailures: 5,
  sharedTools: 3,
  mixedFailures: 7,
  windowSteps: 10,
  windowMs: 120_000,
};

/** A circuit that left closed and has not closed since. */
export interface Opening {
  /** The tool, or `group:NAME` for the circuit of a group (C13). */
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** Unix milliseconds, for people. */
  readonly unixMs: number;
}

/** What several failures have in common (S4). */
export type SuspectedLayer = 'network' | 'filesystem' | 'permissions' | 'upstream' | 'dependency' | 'group' | 'unknown';

/** A failure of several tools that counts as one event (S4). */
export interface SystemicEvent {
  /** The category that all share; undefined if they differ, and if it is `unknown` (O6). */
  readonly category: ErrorCategory | undefined;
  /** The suspected layer: `dependency` first, then `group`, then the layer that the categories point to. */
  readonly layer: SuspectedLayer;
  /** What all of the tools depend on by their `dependsOn`; undefined if they share nothing. */
  readonly dependency: string | undefined;
  /** The group of all of the tools; undefined if they have none in common. */
  readonly group: string | undefined;
  /**
   * The circuits that opened, first to last, and those that joined while the event lasts. If failures began the event, also tools
   * whose circuits are closed, each with its first failure.
   */
  readonly openings: readonly Opening[];
  /** When it was detected. An event that grows keeps the same object, so that it is recognised as the same event. */
  readonly began?: Moment | undefined;
}

/** Of failures. A new category is a type error until it is here or in the table. */
type WithoutLayer = IgnoredByDefault | 'unknown' | 'unusable';

const LAYERS: Readonly<Partial<Record<ErrorCategory, SuspectedLayer>>> = {
  network: 'network',
  timeout: 'network',
  filesystem: 'filesystem',
  resource: 'filesystem',
  permission: 'permissions',
  server: 'upstream',
  rate_limit: 'upstream',
} satisfies Record<Exclude<ErrorCategory, WithoutLayer>, SuspectedLayer>;

/**
 * Whether two moments of a session are in one window: by steps if any lie between them, otherwise by time. A moment after `to` is
 * in its window.
 */
export const isTogether = (
  policy: Pick<SystemicPolicy, 'windowSteps' | 'windowMs'>,
  from: Moment,
  to: Moment,
): boolean => {
  const steps = to.step - from.step;
  return steps > 0 ? steps <= policy.windowSteps : to.ms - from.ms <= policy.windowMs;
};

/** Whether two moments are in one window of S1. */
export type Within = (from: Moment, to: Moment) => boolean;

/** The report of an event with these openings (S4). */
export const systemicEvent = (
  openings: readonly Opening[],
  shared?: SharedBy | undefined,
  began?: Moment | undefined,
): SystemicEvent => {
  const categories = new Set(openings.map(({ category }) => category));
  const [category] = categories;
  const tools = openings.map(({ tool }) => tool);
  const dependency = shared?.sharedDependency?.(tools);
  const group = shared?.sharedGroup?.(tools);
  return {
    category: categories.size === 1 && category !== 'unknown' ? category : undefined,
    layer: suspected(categories, dependency, group),
    dependency,
    group,
    openings,
    ...(began && { began }),
  };
};

const suspected = (
  categories: ReadonlySet<ErrorCategory>,
  dependency: string | undefined,
  group: string | undefined,
): SuspectedLayer => {
  if (dependency !== undefined) return 'dependency';
  return group === undefined ? layerOf(categories) : 'group';
};

/** The suspected cause in words: the layer, and the name of the dependency or group that all of the tools have in common. */
export const suspectOf = ({
  layer,
  dependency,
  group,
}: Pick<SystemicEvent, 'layer' | 'dependency' | 'group'>): string => {
  const name = layer === 'dependency' ? dependency : group;
  return (layer === 'dependency' || layer === 'group') && name !== undefined ? `${layer} ${name}` : layer;
};

/** The layer that all categories point to. */
const layerOf = (categories: ReadonlySet<ErrorCategory>): SuspectedLayer => {
  const [layer = 'unknown', ...others] = new Set([...categories].map((category) => LAYERS[category] ?? 'unknown'));
  return others.length === 0 ? layer : 'unknown';
};

/** A failed call in the log of failures that no success has followed. */
export interface FailureEntry {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** Unix milliseconds, for people. */
  readonly unixMs: number;
}

/**
 * What is known about failures of several tools (S1): in one session, or in a box whose sessions share circuits. Pure: every
 * function returns the next value, or the same object if nothing changed.
 */
export interface Correlation {
  /** Circuits that left closed and have not closed since, first to last. After an event is over, only those that open again. */
  readonly openings: readonly Opening[];
  /** The tools of those circuits that opened after the last success of any tool. */
  readonly sinceSuccess: readonly string[];
  /** Failures since the last success of any tool, within one window, first to last. */
  readonly failures: readonly FailureEntry[];
  /** The failures that count as one event with one cause; undefined if there is no such event. */
  readonly event: SystemicEvent | undefined;
}

/** What several tools have in common (S4); undefined if they share nothing. */
export interface SharedBy {
  /** The name that all of these tools depend on. Left out if no tool depends on anything. */
  readonly sharedDependency?: ((tools: readonly string[]) => string | undefined) | undefined;
  /** The group of all of these tools; `group:NAME` is in NAME. Left out if no tool has a group. */
  readonly sharedGroup?: ((tools: readonly string[]) => string | undefined) | undefined;
}

/** When failures count as one event, and what tools have in common (S1). */
export interface CorrelationPolicy extends SystemicPolicy, SharedBy {
  /** Whether the configuration names `tool` as an alternative of one of these circuits. It looks through all tools. */
  readonly isAlternative?: ((tool: string, circuits: readonly string[]) => boolean) | undefined;
  /**
   * True: each opening joins the event that lasts. False (scope `process`): an opening joins only if it is alike, and within the
   * window of the event's latest opening.
   */
  readonly joinsAll: boolean;
}

/** Shared by all that have no opening. */
const NONE: readonly never[] = [];

/** When failures of several tools count as one event, and what follows from it (S1). */
export interface SystemicRules extends CorrelationPolicy {
  /** `pause`: each decision. `skip`: those of affected tools. */
  readonly decision: SystemicDecision;
  /** The policy of calls that probe for the event; undefined if no call may. */
  readonly gate: CircuitPolicy | undefined;
  /** The tools that an event affects: its own, members of its groups, and all tools that depend on them. */
  affectedBy(event: SystemicEvent): ReadonlySet<string>;
  /** Grows with each declared tool, because the tools that an event affects may have changed. */
  version(): number;
}

/** A session asks at each call, a fleet for each of its circuits, and an event may have a thousand. */
const affected = new WeakMap<SystemicEvent, { readonly version: number; readonly tools: ReadonlySet<string> }>();

/** S2: whether an event concerns a tool, or the circuit of a group. */
export const isAffected = (
  rules: SystemicRules | undefined,
  event: SystemicEvent | undefined,
  name: string,
): boolean => {
  if (event === undefined || rules === undefined) return false;
  const version = rules.version();
  let known = affected.get(event);
  if (known?.version !== version) {
    known = { version, tools: rules.affectedBy(event) };
    affected.set(event, known);
  }
  return known.tools.has(name);
};

export const NO_CORRELATION: Correlation = { openings: NONE, sinceSuccess: NONE, failures: NONE, event: undefined };

/** Categories with many possible causes. Two tools alone are no evidence of one cause, unless they share a dependency. */
const NEEDS_MORE: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['timeout', 'permission']);
/** Categories of what all tools of a machine share. Two tools are evidence of one cause as long as no tool works. */
const OF_THE_MACHINE: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['network', 'filesystem', 'resource']);
const TWO = 2;
const THREE = 3;

/** S1: a call that was not a probe failed. It may begin an event, whether or not a circuit is open. */
export const correlateFailure = (
  correlation: Correlation,
  entry: FailureEntry,
  policy: CorrelationPolicy | undefined,
): Correlation => {
  if (policy === undefined || correlation.event !== undefined) return correlation;
  const recent = correlation.failures.filter(({ at }) => isTogether(policy, at, entry.at));
  const failures = withoutSurplus([...recent, entry], entry, Math.max(policy.sharedFailures, policy.mixedFailures));
  return { ...correlation, failures, event: eventOfFailures(failures, entry, correlation.openings, policy) };
};

/** More failures of one tool in one category are no further evidence. The oldest is dropped, so that the log stays small. */
const withoutSurplus = (
  failures: readonly FailureEntry[],
  { tool, category }: FailureEntry,
  most: number,
): readonly FailureEntry[] => {
  const same = failures.filter((one) => one.tool === tool && one.category === category);
  return same.length <= most ? failures : failures.filter((one) => one !== same[0]);
};

const eventOfFailures = (
  failures: readonly FailureEntry[],
  { category, at }: FailureEntry,
  openings: readonly Opening[],
  policy: CorrelationPolicy,
): SystemicEvent | undefined => {
  const isEnough = (some: readonly FailureEntry[], least: number): boolean =>
    some.length >= least && sourcesOf(some, policy) >= policy.sharedTools;
  const alike = failures.filter((one) => one.category === category);
  if (category !== 'unknown' && isEnough(alike, policy.sharedFailures))
    return systemicEvent([...partsOf(alike, openings).values()], policy, at);
  return isEnough(failures, policy.mixedFailures)
    ? systemicEvent(mixedPartsOf(failures, openings), policy, at)
    : undefined;
};

/** The opening of each tool, or its first failure if its circuit is closed. */
const partsOf = (failures: readonly FailureEntry[], openings: readonly Opening[]): Map<string, Opening> => {
  const byTool = new Map<string, Opening>();
  for (const entry of failures) {
    if (byTool.has(entry.tool)) continue;
    byTool.set(entry.tool, openings.find(({ tool }) => tool === entry.tool) ?? entry);
  }
  return byTool;
};

/** The same. If all these have one category by chance, one of the other failures shows that the event has none. */
const mixedPartsOf = (failures: readonly FailureEntry[], openings: readonly Opening[]): readonly Opening[] => {
  const parts = partsOf(failures, openings);
  const [category, ...others] = new Set([...parts.values()].map((one) => one.category));
  const other = failures.find((one) => one.category !== category);
  if (others.length === 0 && other !== undefined) parts.set(other.tool, other);
  return [...parts.values()];
};

/**
 * S1: a call of a tool with a circuit succeeded. Earlier failures are no evidence of one cause, unless the tool is an alternative of an
 * open one: it is expected to work while that one does not.
 */
export const correlateSuccess = (
  correlation: Correlation,
  tool: string,
  policy: CorrelationPolicy | undefined,
): Correlation => {
  const { openings, sinceSuccess, failures } = correlation;
  if (failures.length === 0 && sinceSuccess.length === 0) return correlation;
  const isExpected =
    openings.length > 0 &&
    policy?.isAlternative?.(
      tool,
      openings.map((one) => one.tool),
    ) === true;
  return isExpected ? correlation : { ...correlation, failures: NONE, sinceSuccess: NONE };
};

/** Whether one failure opens the circuit of a tool. */
export type OpensAtOnce = (tool: string) => boolean;
const never: OpensAtOnce = () => false;

/** S1: a circuit opened. It joins an event that lasts, begins one, or is only listed. */
export const correlateOpening = (
  correlation: Correlation,
  opening: Opening,
  policy: CorrelationPolicy | undefined,
  opensAtOnce: OpensAtOnce = never,
): Correlation => {
  // A failed probe opens a circuit that was open already: nothing new.
  if (correlation.openings.some(({ tool }) => tool === opening.tool)) return correlation;
  const openings = [...correlation.openings, opening];
  const sinceSuccess = [...correlation.sinceSuccess, opening.tool];
  const event =
    correlation.event === undefined
      ? policy && eventOfOpenings({ ...correlation, openings, sinceSuccess }, opening, policy, opensAtOnce)
      : joined(correlation.event, opening, policy);
  return { ...correlation, openings, sinceSuccess, event };
};

const joined = (event: SystemicEvent, opening: Opening, policy: CorrelationPolicy | undefined): SystemicEvent => {
  if (policy?.joinsAll === false && !belongsTo(event, opening, policy)) return event;
  // A tool may be part of the event already, by its failures, or because it has closed since. It still counts as one tool. C15: a
  // group that joins replaces its members.
  const group = groupNameOf(opening.tool);
  const isPart = (tool: string) =>
    tool === opening.tool || (group !== undefined && policy?.sharedGroup?.([tool]) === group);
  const others = event.openings.filter(({ tool }) => !isPart(tool));
  return systemicEvent([...others, opening], policy, event.began);
};

const belongsTo = (event: SystemicEvent, { category, at }: Opening, policy: CorrelationPolicy): boolean =>
  category === event.category && isTogether(policy, latestOpening(event).at, at);

const eventOfOpenings = (
  { openings, sinceSuccess, failures }: Correlation,
  newest: Opening,
  policy: CorrelationPolicy,
  opensAtOnce: OpensAtOnce,
): SystemicEvent | undefined => {
  if (openings.length < TWO) return undefined; // The first one to open: nearly always.
  const { tool, category, at } = newest;
  const { sameCategory } = policy;
  const isNear = (one: Opening): boolean => isTogether(policy, one.at, at);
  const ifEnough = (some: readonly Opening[], least: number) =>
    sourcesOf(some, policy) >= least ? systemicEvent(some, policy, at) : undefined;
  const alike = category === 'unknown' ? NONE : openings.filter((one) => one.category === category);
  // One failure of each may be chance: two tools that fail for long fail one after the other at some time. Not where one is enough to open.
  const isBrief = (name: string): boolean =>
    groupNameOf(name) === undefined && failures.filter((one) => one.tool === name).length === 1 && !opensAtOnce(name);
  const isUnbroken = (one: Opening): boolean =>
    OF_THE_MACHINE.has(category) && sinceSuccess.includes(one.tool) && !(isBrief(one.tool) && isBrief(tool));
  const isRelated = (one: Opening): boolean =>
    isUnbroken(one) || policy.sharedDependency?.([one.tool, tool]) !== undefined;
  const related = alike.filter((one) => one === newest || (isNear(one) && isRelated(one)));
  const wide = { windowSteps: policy.sameCategorySteps, windowMs: TWO * policy.windowMs };
  return (
    (sameCategory === TWO
      ? ifEnough(alike.filter(isNear), NEEDS_MORE.has(category) ? THREE : TWO)
      : ifEnough(
          alike.filter((one) => isTogether(wide, one.at, at)),
          sameCategory,
        )) ??
    (sameCategory <= THREE ? ifEnough(related, TWO) : undefined) ??
    ifEnough(openings.filter(isNear), policy.anyCategory)
  );
};

/** The number of possible causes. The tools of one group count as one: a server that is partly unavailable is one cause. */
const sourcesOf = (failed: readonly Pick<Opening, 'tool'>[], { sharedGroup }: CorrelationPolicy): number =>
  new Set(
    failed.map(({ tool }) => {
      const group = sharedGroup?.([tool]);
      return group === undefined ? tool : circuitNameOf(group);
    }),
  ).size;

/** Circuits closed: they are not part of a later event. */
export const correlateClosing = (correlation: Correlation, tools: ReadonlySet<string>): Correlation => {
  const openings = correlation.openings.filter(({ tool }) => !tools.has(tool));
  if (openings.length === correlation.openings.length) return correlation;
  return { ...correlation, openings, sinceSuccess: correlation.sinceSuccess.filter((tool) => !tools.has(tool)) };
};

/**
 * C15: a group is about to open and now represents its members. Their openings are removed. Of their failures the latest is kept,
 * under the group's name (`group:NAME`).
 */
export const absorbMembers = (
  correlation: Correlation,
  group: string,
  isMember: (tool: string) => boolean,
): Correlation => {
  const members = new Set(correlation.openings.map(({ tool }) => tool).filter(isMember));
  const next = correlateClosing(correlation, members);
  const latest = next.failures.findLast(({ tool }) => isMember(tool));
  if (latest === undefined) return next;
  const failures = next.failures
    .filter((one) => one === latest || !isMember(one.tool))
    .map((one) => (one === latest ? { ...one, tool: group } : one));
  return { ...next, failures };
};

/** S5: the event is over. Openings and failures during it are no evidence for the next one, but a failed probe is. */
export const resolveEvent = (correlation: Correlation): Correlation =>
  correlation.event === undefined ? correlation : NO_CORRELATION;

/** When the latest circuit joined an event, in monotonic ms. The wait for the event's end starts there (S5). */
export const latestOf = (event: SystemicEvent): number => latestOpening(event).at.ms;

/** The first, if several are equally late. An event has at least one opening. */
export const latestOpening = ({ openings }: SystemicEvent): Opening =>
  openings.reduce((latest, one) => (one.at.ms > latest.at.ms ? one : latest));
