import { circuitNameOf, countsForGroup, groupNameOf } from '../circuit/groups.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { SystemicDecision } from '../reasons.ts';
import {
  inWindow,
  type Opening,
  type SharedDependency,
  type SharedGroup,
  type SystemicEvent,
  type SystemicPolicy,
  systemicEvent,
} from './systemic.ts';

/** A failed call in the log of failures that no success has followed. */
export interface FailureEntry {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** Unix milliseconds, for people. */
  readonly unixMs: number;
}

/**
 * What is known about failures of several tools (S1): in one session, or in a box whose sessions share circuits (C12). Pure: every
 * function returns the next value, or the same object if nothing changed.
 */
export interface Correlation {
  /** Circuits that left closed and have not closed since, first to last. After an event is over, only those that open again. */
  readonly openings: readonly Opening[];
  /** Failures since the last success of any tool, within one window, first to last. */
  readonly failures: readonly FailureEntry[];
  /** The failures that count as one event with one cause; undefined if there is no such event. */
  readonly event: SystemicEvent | undefined;
}

/** When failures count as one event, and what tools have in common (S1, S4). */
export interface CorrelationPolicy extends SystemicPolicy {
  /** Left out if no tool depends on anything. */
  readonly sharedDependency?: SharedDependency | undefined;
  /** Left out if no tool has a group. */
  readonly sharedGroup?: SharedGroup | undefined;
  /**
   * True: each opening joins the event that lasts. False (scope `process`): an opening joins only if it is alike, and within the
   * window of the event's latest opening.
   */
  readonly joinsAll: boolean;
}

/** Shared by all that have no opening. */
const NONE: readonly never[] = [];

/** When failures of several tools count as one event, and what follows from it (S1, S2, S5). */
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

export const NO_CORRELATION: Correlation = { openings: NONE, failures: NONE, event: undefined };

/**
 * Categories with many possible causes. Two tools alone are no evidence of one cause, unless they share a group or a dependency.
 */
const NEEDS_MORE: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['timeout', 'permission']);
const THIRD_TOOL = 3;

/** S1: a call that was not a probe failed. It may begin an event, whether or not a circuit is open. */
export const correlateFailure = (
  correlation: Correlation,
  entry: FailureEntry,
  policy: CorrelationPolicy | undefined,
): Correlation => {
  if (policy === undefined || correlation.event !== undefined || entry.category === 'unknown') return correlation;
  const recent = correlation.failures.filter(({ at }) => inWindow(policy, at, entry.at));
  const failures = withoutSurplus([...recent, entry], entry, policy.sharedFailures);
  const alike = failures.filter(({ category }) => category === entry.category);
  const event = eventOfFailures(alike, correlation.openings, policy, entry.at);
  return { ...correlation, failures, event };
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
  alike: readonly FailureEntry[],
  openings: readonly Opening[],
  policy: CorrelationPolicy,
  at: Moment,
): SystemicEvent | undefined => {
  if (alike.length < policy.sharedFailures) return undefined;
  const byTool = new Map<string, Opening>();
  for (const entry of alike) {
    if (byTool.has(entry.tool)) continue;
    byTool.set(entry.tool, openings.find(({ tool }) => tool === entry.tool) ?? entry);
  }
  return sourcesOf(alike, policy) >= policy.sharedTools ? eventOf([...byTool.values()], policy, at) : undefined;
};

/** S1: a call of a tool with a circuit succeeded. Earlier failures are no evidence of one cause. */
export const correlateSuccess = (correlation: Correlation): Correlation =>
  correlation.failures.length === 0 ? correlation : { ...correlation, failures: NONE };

/** S1: a circuit opened. It joins an event that lasts, begins one, or is only listed. */
export const correlateOpening = (
  correlation: Correlation,
  opening: Opening,
  policy: CorrelationPolicy | undefined,
): Correlation => {
  // A failed probe opens a circuit that was open already: nothing new.
  if (correlation.openings.some(({ tool }) => tool === opening.tool)) return correlation;
  const openings = [...correlation.openings, opening];
  const event =
    correlation.event === undefined
      ? policy && eventOfOpenings(openings, opening, policy)
      : joined(correlation.event, opening, policy);
  return { ...correlation, openings, event };
};

const joined = (event: SystemicEvent, opening: Opening, policy: CorrelationPolicy | undefined): SystemicEvent => {
  if (policy?.joinsAll === false && !belongsTo(event, opening, policy)) return event;
  // A tool may be part of the event already, by its failures, or because it has closed since. It still counts as one tool. C15: a
  // group that joins replaces its members.
  const group = groupNameOf(opening.tool);
  const isPart = (tool: string) =>
    tool === opening.tool || (group !== undefined && policy?.sharedGroup?.([tool]) === group);
  const others = event.openings.filter(({ tool }) => !isPart(tool));
  return eventOf([...others, opening], policy, event.began);
};

const belongsTo = (event: SystemicEvent, { category, at }: Opening, policy: CorrelationPolicy): boolean =>
  category === event.category && inWindow(policy, latestOpening(event).at, at);

const eventOfOpenings = (
  openings: readonly Opening[],
  { category, at }: Opening,
  policy: CorrelationPolicy,
): SystemicEvent | undefined => {
  const together = openings.filter((one) => inWindow(policy, one.at, at));
  const alike = together.filter((one) => one.category === category);
  const sources = sourcesOf(alike, policy);
  if (category !== 'unknown' && sources >= policy.sameCategory) {
    const event = eventOf(alike, policy, at);
    const isShared = event.group !== undefined || event.dependency !== undefined;
    if (!NEEDS_MORE.has(category) || sources >= THIRD_TOOL || isShared) return event;
  }
  return sourcesOf(together, policy) >= policy.anyCategory ? eventOf(together, policy, at) : undefined;
};

/**
 * The number of possible causes. The tools of one group count as one, in the categories that its circuit counts. If half of an MCP
 * server is unavailable, that is no evidence against the other servers.
 */
const sourcesOf = (failed: readonly Pick<Opening, 'tool' | 'category'>[], { sharedGroup }: CorrelationPolicy): number =>
  new Set(
    failed.map(({ tool, category }) => {
      const group = countsForGroup(category) ? sharedGroup?.([tool]) : undefined;
      return group === undefined ? tool : circuitNameOf(group);
    }),
  ).size;

const eventOf = (
  openings: readonly Opening[],
  policy: CorrelationPolicy | undefined,
  began: Moment | undefined,
): SystemicEvent => systemicEvent(openings, policy?.sharedDependency, policy?.sharedGroup, began);

/** Circuits closed: they are not part of a later event. */
export const correlateClosing = (correlation: Correlation, tools: ReadonlySet<string>): Correlation => {
  const openings = correlation.openings.filter(({ tool }) => !tools.has(tool));
  return openings.length === correlation.openings.length ? correlation : { ...correlation, openings };
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
  const openings = correlation.openings.filter(({ tool }) => !isMember(tool));
  const latest = correlation.failures.findLast(({ tool }) => isMember(tool));
  if (latest === undefined)
    return openings.length === correlation.openings.length ? correlation : { ...correlation, openings };
  const failures = correlation.failures
    .filter((one) => one === latest || !isMember(one.tool))
    .map((one) => (one === latest ? { ...one, tool: group } : one));
  return { ...correlation, openings, failures };
};

/** S5: the event is over. Openings and failures during it are no evidence for the next one, but a failed probe is. */
export const resolveEvent = (correlation: Correlation): Correlation =>
  correlation.event === undefined ? correlation : NO_CORRELATION;

/** When the latest circuit joined an event, in monotonic ms. The wait for the event's end starts there (S5). */
export const latestOf = (event: SystemicEvent): number => latestOpening(event).at.ms;

/** The first, if several are equally late. An event has at least one opening. */
export const latestOpening = ({ openings }: SystemicEvent): Opening =>
  openings.reduce((latest, one) => (one.at.ms > latest.at.ms ? one : latest));
