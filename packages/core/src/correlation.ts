import type { Moment } from './clock.ts';
import { circuitNameOf, countsForGroup, groupNameOf } from './groups.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
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
 * What is known of failures beside each other (S1): of one session, or of a box whose sessions share circuits (C12). Pure: every
 * function gives the next one, the same object where nothing changed.
 */
export interface Correlation {
  /** Circuits that left closed and have not closed since, first to last. After an event is over, only those that open again. */
  readonly openings: readonly Opening[];
  /** Failures since the last success of any tool, within one window, first to last. */
  readonly failures: readonly FailureEntry[];
  /** The failures that are taken to have one cause; undefined while no such event lasts. */
  readonly event: SystemicEvent | undefined;
}

/** When failures are one event, and what tools have in common (S1, S4). */
export interface CorrelationPolicy extends SystemicPolicy {
  /** Left out where no tool depends on anything. */
  readonly sharedDependency?: SharedDependency | undefined;
  /** Left out where no tool has a group. */
  readonly sharedGroup?: SharedGroup | undefined;
  /** Each opening joins an event that lasts. False (scope `process`): only one that is alike, and in the window of the event's latest. */
  readonly joinsAll: boolean;
}

/** One for all without an opening. */
const NONE: readonly never[] = [];

export const NO_CORRELATION: Correlation = { openings: NONE, failures: NONE, event: undefined };

/** Categories that many things can cause: two tools alone are no evidence of one cause, unless they share a group or a dependency. */
const NEEDS_MORE: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['timeout', 'permission']);
const THIRD_TOOL = 3;

/** S1: a call failed that was no probe. It may make an event, whether or not a circuit is open. */
export const recordFailure = (
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

/** More failures of one tool in one category prove nothing more, so that the log stays small: the oldest goes. */
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

/** S1: a call of a tool that has a circuit succeeded: what failed before it is no evidence of one cause. */
export const recordSuccess = (correlation: Correlation): Correlation =>
  correlation.failures.length === 0 ? correlation : { ...correlation, failures: NONE };

/** S1: a circuit opened. It joins an event that lasts, begins one, or is only listed. */
export const recordOpening = (
  correlation: Correlation,
  opening: Opening,
  policy: CorrelationPolicy | undefined,
): Correlation => {
  // A failed probe opens a circuit that was open already: no news.
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
  // A tool may be part of the event already: its failures were, or it has closed since. It is still one tool.
  // C15: a group that joins stands for its members.
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
 * How many causes there may be. The tools of one group count as one, in the categories that its circuit counts: if half of an MCP
 * server is out, that is no evidence against the other servers.
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

/** Circuits closed: they are no part of an event to come. */
export const recordClosing = (correlation: Correlation, tools: ReadonlySet<string>): Correlation => {
  const openings = correlation.openings.filter(({ tool }) => !tools.has(tool));
  return openings.length === correlation.openings.length ? correlation : { ...correlation, openings };
};

/**
 * C15: a group is about to open, and stands for its members from now on: their openings go, and of their failures the latest stays,
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

/** S5: the event is over. What opened or failed during it is no evidence for the next one; a failed probe is. */
export const resolveEvent = (correlation: Correlation): Correlation =>
  correlation.event === undefined ? correlation : NO_CORRELATION;

/** When the latest circuit joined an event, in monotonic ms: from there on its end is waited for (S5). */
export const latestOf = (event: SystemicEvent): number => latestOpening(event).at.ms;

/** Of several at once, the first. An event has one at least. */
export const latestOpening = ({ openings }: SystemicEvent): Opening =>
  openings.reduce((latest, one) => (one.at.ms > latest.at.ms ? one : latest));
