import { show } from './checks/checks.ts';
import { shortened } from './checks/names.ts';
import type { ErrorCategory } from './classify/taxonomy.ts';
import type { FreshnessKind, FreshnessLabel } from './freshness/freshness.ts';
import type { IgnoredFor, Judged } from './outcome.ts';
import type { Reason } from './reasons.ts';
import type { Route } from './routing/route.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';
import type { ToolLookup, ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';

/** Ignored calls of one kind. */
export interface IgnoredCalls {
  /** `key`: they blame one target (C14). */
  readonly category: ErrorCategory | 'key';
  /** Why they are ignored, if their category does not say it. */
  readonly ignoredFor: IgnoredFor | undefined;
  readonly times: number;
}

/** The results of a tool's calls in one session, for reports (Q1). Its size grows with reasons, not with calls. */
export interface ToolTally {
  /** Decisions by reason. */
  readonly decisions: Partial<Record<Reason, number>>;
  readonly succeeded: number;
  readonly failed: number;
  readonly ignored: number;
  /** The ignored calls, by category and why. */
  readonly ignoredBy: readonly IgnoredCalls[];
  /** Tokens of failed calls (O4). */
  readonly tokensWasted: number;
  /** The fallbacks of skipped and paused calls. */
  readonly routes: Partial<Record<Route['kind'], number>>;
  /** Alternatives that were named, with how often. */
  readonly alternatives: Partial<Record<string, number>>;
  /** Results that were not fresh. */
  readonly freshness: Partial<Record<FreshnessKind, number>>;
}

/** Fewer errors say nothing about a tool. */
const LEAST_IGNORED = 4;

/** Whether most calls of a tool came back with an error that is not counted, as those of a broken tool may. */
export const isMostlyIgnored = (errors: number, calls: number): boolean =>
  errors >= LEAST_IGNORED && errors * 2 >= calls;

/**
 * The same while it is being counted. There is one for each tool of each session, so fields that most tools never need are created
 * on first use. `closed`: calls that a closed circuit let through, which are nearly all.
 */
export type RunningTally = { closed: number } & {
  -readonly [Key in keyof ToolTally]: ToolTally[Key] extends number ? number : ToolTally[Key] | undefined;
};

export const createTally = (): RunningTally => ({
  closed: 0,
  decisions: undefined,
  succeeded: 0,
  failed: 0,
  ignored: 0,
  ignoredBy: undefined,
  tokensWasted: 0,
  routes: undefined,
  alternatives: undefined,
  freshness: undefined,
});

/** A copy for a report, which no longer grows. */
export const readTally = ({ closed, ...tally }: RunningTally): ToolTally => ({
  ...tally,
  decisions: { ...(closed > 0 && { closed }), ...tally.decisions },
  ignoredBy: tally.ignoredBy ?? [],
  routes: { ...tally.routes },
  alternatives: Object.assign(Object.create(null), tally.alternatives),
  freshness: { ...tally.freshness },
});

const tallyLabel = (tally: RunningTally, kind: FreshnessKind): void => {
  tally.freshness = plusOne(tally.freshness, kind);
};

export const tallyDecision = (tally: RunningTally, reason: Reason, route: Route | undefined): void => {
  if (reason === 'closed') tally.closed += 1;
  else tally.decisions = plusOne(tally.decisions, reason);
  if (route === undefined) return;
  tally.routes = plusOne(tally.routes, route.kind);
  if (route.kind === 'stale') tallyLabel(tally, route.label.kind);
  if (route.kind !== 'alternative') return;
  tally.alternatives ??= Object.create(null) as ToolTally['alternatives']; // Keyed by names that people choose, such as `__proto__`.
  tally.alternatives = plusOne(tally.alternatives, route.tool);
};

/** Counts a call that is over. `label`: its result was not fresh. */
export const tallyOutcome = (
  tally: RunningTally,
  { outcome, category = 'unknown', blames, tokens = 0, ignoredFor }: Judged,
  label: FreshnessLabel | undefined,
): void => {
  if (label !== undefined) tallyLabel(tally, label.kind);
  if (outcome === 'success') tally.succeeded += 1;
  else if (outcome === 'ignored') {
    tally.ignored += 1;
    const isOfKey = blames === 'key';
    tally.ignoredBy = oneMore(tally.ignoredBy, isOfKey ? 'key' : category, isOfKey ? undefined : ignoredFor);
  } else {
    tally.failed += 1;
    tally.tokensWasted += tokens;
  }
};

const plusOne = <Key extends string>(
  counts: Partial<Record<Key, number>> = {},
  key: Key,
): Partial<Record<Key, number>> => {
  counts[key] = (counts[key] ?? 0) + 1;
  return counts;
};

/** The list is replaced, because a report may have it. */
const oneMore = (
  counts: readonly IgnoredCalls[] = [],
  category: IgnoredCalls['category'],
  ignoredFor: IgnoredFor | undefined,
): readonly IgnoredCalls[] => {
  const isSame = (one: IgnoredCalls) => one.category === category && one.ignoredFor === ignoredFor;
  return counts.some(isSame)
    ? counts.map((one) => (isSame(one) ? { ...one, times: one.times + 1 } : one))
    : [...counts, { category, ignoredFor, times: 1 }];
};

/** A tool entry of one session: what its calls are decided by and counted in, found by one map lookup. */
export interface SessionTool {
  readonly tool: string;
  /** Undefined for a tool that was never declared. */
  readonly spec: ToolSpec | undefined;
  /** Undefined for a tool that has no circuit. */
  readonly tracked: TrackedCircuit | undefined;
  /** The circuit of its group; undefined for a tool without one (C13). */
  readonly group: TrackedCircuit | undefined;
  /** What became of its calls, for reports. */
  readonly tally: RunningTally;
}

/** Most tools with a tally of their own, so that a model that makes up names can't fill the memory. */
const MOST_TALLIES = 200;

/** A tally to read: itself, or a look ahead's copy of it (C11). */
type Reading = (tally: RunningTally) => RunningTally;

const itself: Reading = (tally) => tally;

/** The tools that a session has called. */
export class SessionTools {
  readonly #box: ToolLookup;
  readonly #entries = new Map<string, SessionTool>();
  /** The shared tally of all tools that have none of their own. */
  #others: RunningTally | undefined;

  constructor(box: ToolLookup) {
    this.#box = box;
  }

  /** The name for decisions, telemetry and reports. Untyped callers may pass anything. */
  nameOf(tool: unknown): string {
    return typeof tool === 'string' ? shortened(tool) : show(tool);
  }

  /** The entry of a tool that was called before, unless the tool has since been declared or given a group. */
  find(tool: string): SessionTool | undefined {
    const found = this.#entries.get(tool);
    if (found?.spec !== undefined) return found.spec.group === found.group?.tool ? found : undefined;
    return this.#box.tool(tool) === undefined ? found : undefined;
  }

  /** A new entry, for a tool that is called for the first time or was declared since. Calls under way keep their old entry. */
  make(tool: string, tracked: TrackedCircuit | undefined, group: TrackedCircuit | undefined): SessionTool {
    const tally = this.#entries.get(tool)?.tally ?? this.#tally();
    const entry = { tool, spec: this.#box.tool(tool), tracked, group, tally };
    if (entry.spec !== undefined || tally !== this.#others) this.#entries.set(tool, entry);
    return entry;
  }

  all(): readonly SessionTool[] {
    return [...this.#entries.values()];
  }

  /** The tally of a tool; undefined if it was not called, or has none of its own. */
  tallyOf(tool: string, reading = itself): ToolTally | undefined {
    if (tool === OTHER_TOOL && this.#others !== undefined) return readTally(reading(this.#others));
    const tally = this.#entries.get(tool)?.tally;
    return tally === undefined || tally === this.#others ? undefined : readTally(reading(tally));
  }

  /** Tallies by tool, in the order of first calls. Tools without a tally of their own share one name. */
  tallies(reading = itself): ReadonlyMap<string, ToolTally> {
    const own = [...this.#entries.values()].filter(({ tally }) => tally !== this.#others);
    const tallies = new Map(own.map(({ tool, tally }) => [tool, readTally(reading(tally))]));
    return this.#others === undefined ? tallies : tallies.set(OTHER_TOOL, readTally(reading(this.#others)));
  }

  #tally(): RunningTally {
    if (this.#others === undefined && this.#entries.size < MOST_TALLIES) return createTally();
    // A tool may have that very name.
    this.#others ??= this.#entries.get(OTHER_TOOL)?.tally ?? createTally();
    return this.#others;
  }
}
