import type { Attributes } from '@opentelemetry/api';
import type { SessionState } from '../budget/ledger.ts';
import type { ReportedState } from '../circuit/mode.ts';
import {
  DEFAULT_JUDGEMENT,
  ERROR_CATEGORIES,
  type ErrorCategory,
  type Judgement,
  type Outcome,
} from '../classify/taxonomy.ts';
import { FRESHNESS_KINDS, type FreshnessKind } from '../freshness/freshness.ts';
import { AVAILABILITIES, type Availability } from '../precheck.ts';
import { type Decision, REASONS, type Reason } from '../reasons.ts';
import { DEGRADATIONS, type Degradation } from '../routing/capability.ts';
import type { Route } from '../routing/route.ts';
import { ATTR, DURATION_BUCKETS, METRIC, MIXED_CATEGORY, OTHER_TOOL } from './semconv.ts';

/**
 * The numbers behind the metrics: plain series that decisions add to and that a collection reads. Counting takes a few nanoseconds
 * and works even before there is an SDK; a late SDK sees everything from the start.
 */
export interface Series {
  readonly attributes: Attributes;
  value: number;
}

/** One series of the duration histogram. It takes ten nanoseconds a call, an SDK's own histogram 700. */
export interface DurationSeries {
  readonly attributes: Attributes;
  /** Calls by bucket, not cumulative; one more than there are bounds. */
  readonly counts: number[];
  /** Seconds, as are `min` and `max`. */
  sum: number;
  min: number;
  max: number;
}

/** An example call behind a number, with its trace. */
export interface Exemplar {
  readonly traceId: string;
  readonly spanId: string;
  /** The call's contribution to the number: its seconds, or 1. */
  readonly value: number;
  readonly unixSeconds: number;
}

/** Exemplars of the series that have any: the last call of each bucket, and the last failure of each outcome. */
export interface Exemplars {
  readonly durations: Map<DurationSeries, (Exemplar | undefined)[]>;
  readonly failures: Map<Series, Exemplar>;
}

/** A series without a call. */
export const createDurationSeries = (attributes: Attributes): DurationSeries => ({
  attributes,
  counts: new Array<number>(DURATION_BUCKETS.length + 1).fill(0),
  sum: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
});

const STATES: readonly ReportedState[] = ['closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only'];
const SESSION_STATES: readonly SessionState[] = ['active', 'paused_budget', 'paused_systemic'];

/** Transitions that happen by themselves. Transitions by hand get a series when they happen. */
const TRANSITIONS: readonly (readonly [ReportedState, ReportedState])[] = [
  ['closed', 'open'],
  ['open', 'half_open'],
  ['half_open', 'open'],
  ['half_open', 'closed'],
];
type Transition = `${ReportedState}>${ReportedState}`;

type RouteKey = Exclude<Route['kind'], 'alternative'> | `alternative:${Degradation}`;

const DISPOSITIONS = ['achievable', 'deferred'] as const;

type OutcomeKey = 'success' | `${Exclude<Outcome, 'success'>}:${ErrorCategory}`;

/** The series of one tool of one agent. */
export interface ToolSeries {
  /** The circuit of a group has a state but no calls: only `circuits`, `transitions` and `openedTime` are exported. */
  readonly isGroup: boolean;
  /** Each reason with its usual decision. Other pairs are in `otherDecisions`: see {@link decisionSeries}. */
  readonly decisions: Readonly<Record<Reason, Series>>;
  /** A reason with an unusual decision. A pair appears with its first use. */
  readonly otherDecisions: Map<`${Decision}/${Reason}`, Series>;
  /** Grows with outcomes from a user's own judgement. */
  readonly outcomes: Map<OutcomeKey, Series>;
  readonly transitions: Map<Transition, Series>;
  readonly circuits: Readonly<Record<ReportedState, Series>>;
  /** Unix seconds; a category appears with its first opening. */
  readonly openedTime: Map<ErrorCategory, Series>;
  readonly tokensWasted: Series;
  /** Failed calls that reported their cost, for the mean behind `tokensAvoided`. */
  readonly costedFailures: Series;
  readonly tokensAvoided: Series;
  readonly routes: ReadonlyMap<RouteKey, Series>;
  readonly freshness: Readonly<Record<FreshnessKind, Series>>;
  readonly prechecks: Readonly<Record<Availability, Series>>;
  /** Series of the duration histogram by category, `undefined` for success; one appears with its first call. */
  readonly duration: Map<ErrorCategory | undefined, DurationSeries>;
}

/** The series of one agent. */
export interface AgentSeries {
  readonly agent: string;
  readonly tools: Map<string, ToolSeries>;
  readonly budgetLimit: Series;
  readonly budgetRemaining: Series;
  readonly budgetConsumed: Series;
  readonly budgetLow: Series;
  readonly budgetExhaustions: Series;
  readonly sessions: Readonly<Record<SessionState, Series>>;
  readonly sessionsStarted: Series;
  readonly systemicActive: Series;
  readonly systemicEvents: Map<ErrorCategory | typeof MIXED_CATEGORY, Series>;
  readonly tasks: Readonly<Record<(typeof DISPOSITIONS)[number], Series>>;
}

/** A series at zero. */
export const newSeries = (attributes: Attributes): Series => ({ attributes, value: 0 });

const record = <K extends string>(keys: readonly K[], make: (key: K) => Series): Record<K, Series> =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, Series>;

/** All series of an agent, at zero. */
export const createAgentSeries = (agent: string): AgentSeries => {
  const base = { [ATTR.agent]: agent };
  const categories = [
    ...ERROR_CATEGORIES.filter((one) => DEFAULT_JUDGEMENT[one] === 'failure'),
    MIXED_CATEGORY,
  ] as const;
  return {
    agent,
    tools: new Map(),
    budgetLimit: newSeries(base),
    budgetRemaining: newSeries(base),
    budgetConsumed: newSeries(base),
    budgetLow: newSeries(base),
    budgetExhaustions: newSeries(base),
    sessions: record(SESSION_STATES, (state) => newSeries({ ...base, [ATTR.sessionState]: state })),
    sessionsStarted: newSeries(base),
    systemicActive: newSeries(base),
    systemicEvents: new Map(categories.map((one) => [one, newSeries({ ...base, [ATTR.errorType]: one })])),
    tasks: record(DISPOSITIONS, (one) => newSeries({ ...base, [ATTR.disposition]: one })),
  };
};

/** All series of a tool, at zero. */
export const createToolSeries = (
  agent: string,
  tool: string,
  judgements: Readonly<Record<ErrorCategory, Judgement>> = DEFAULT_JUDGEMENT,
): ToolSeries => {
  const base = { [ATTR.agent]: agent, [ATTR.tool]: tool };
  const reasons = Object.entries(REASONS) as [Reason, Decision][];
  const made: ToolSeries = {
    isGroup: false,
    decisions: Object.fromEntries(
      reasons.map(([reason, decision]) => [
        reason,
        newSeries({ ...base, [ATTR.decision]: decision, [ATTR.reason]: reason }),
      ]),
    ) as Record<Reason, Series>,
    otherDecisions: new Map(),
    outcomes: new Map(),
    transitions: new Map(),
    circuits: record(STATES, (state) => newSeries({ ...base, [ATTR.state]: state })),
    openedTime: new Map(),
    tokensWasted: newSeries(base),
    costedFailures: newSeries(base),
    tokensAvoided: newSeries(base),
    routes: new Map<RouteKey, Series>([
      ...DEGRADATIONS.map((one): [RouteKey, Series] => [
        `alternative:${one}`,
        newSeries({ ...base, [ATTR.route]: 'alternative', [ATTR.degradation]: one }),
      ]),
      ...(['manual', 'defer', 'stale'] as const).map((kind): [RouteKey, Series] => [
        kind,
        newSeries({ ...base, [ATTR.route]: kind }),
      ]),
    ]),
    freshness: record(FRESHNESS_KINDS, (kind) => newSeries({ ...base, [ATTR.freshnessLabel]: kind })),
    prechecks: record(AVAILABILITIES, (one) => newSeries({ ...base, [ATTR.availability]: one })),
    duration: new Map(),
  };
  for (const [from, to] of TRANSITIONS) transitionSeries(made, from, to);
  outcomeSeries(made, 'success', undefined);
  for (const category of ERROR_CATEGORIES) outcomeSeries(made, judgements[category], category);
  return made;
};

/** The states of a group's circuit. A mode has a series from its first use. */
const GROUP_STATES: readonly ReportedState[] = ['closed', 'open', 'half_open'];

/** All series of a group, at zero. */
export const createGroupSeries = (agent: string, group: string): ToolSeries => {
  const base = { [ATTR.agent]: agent, [ATTR.tool]: group };
  const made: ToolSeries = {
    ...createToolSeries(agent, group),
    isGroup: true,
    transitions: new Map(),
    circuits: recordWithLazyKeys(STATES, GROUP_STATES, (state) => newSeries({ ...base, [ATTR.state]: state })),
  };
  transitionSeries(made, 'closed', 'open');
  return made;
};

/** A record that has some of its keys from the start. Each other key appears when it is first read. */
const recordWithLazyKeys = <K extends string>(
  keys: readonly K[],
  atOnce: readonly K[],
  make: (key: K) => Series,
): Record<K, Series> => {
  const made = {} as Record<K, Series>;
  for (const key of keys) {
    const get = (): Series => {
      const value = make(key);
      Object.defineProperty(made, key, { value, enumerable: true });
      return value;
    };
    Object.defineProperty(made, key, { get, enumerable: false, configurable: true });
  }
  for (const key of atOnce) void made[key];
  return made;
};

/** The attributes that all series of a tool have. */
export const attributesOf = (series: ToolSeries): Attributes => {
  const { [ATTR.agent]: agent, [ATTR.tool]: tool } = series.circuits.closed.attributes;
  return { [ATTR.agent]: agent, [ATTR.tool]: tool };
};

/** The series of an outcome. */
export const outcomeSeries = (series: ToolSeries, outcome: Outcome, category: ErrorCategory | undefined): Series => {
  const key = outcome === 'success' || category === undefined ? 'success' : (`${outcome}:${category}` as const);
  let found = series.outcomes.get(key);
  if (found === undefined) {
    found = newSeries({
      ...attributesOf(series),
      [ATTR.outcome]: outcome,
      ...(category && { [ATTR.errorType]: category }),
    });
    series.outcomes.set(key, found);
  }
  return found;
};

/** The series of a change of state. */
export const transitionSeries = (series: ToolSeries, from: ReportedState, to: ReportedState): Series => {
  const key: Transition = `${from}>${to}`;
  const found =
    series.transitions.get(key) ?? newSeries({ ...attributesOf(series), [ATTR.stateFrom]: from, [ATTR.stateTo]: to });
  series.transitions.set(key, found);
  return found;
};

/** The series of a name: its own while the agent has fewer than `maxTools`, otherwise those of `_OTHER`. */
const seriesNamed = (
  series: AgentSeries,
  name: string,
  maxTools: number,
  make: (agent: string, name: string) => ToolSeries,
): ToolSeries => {
  const known = series.tools.get(name);
  if (known !== undefined) return known;
  const others = series.tools.has(OTHER_TOOL) ? 1 : 0;
  const label = series.tools.size - others < maxTools ? name : OTHER_TOOL;
  const made = series.tools.get(label) ?? (label === name ? make : createToolSeries)(series.agent, label);
  series.tools.set(label, made);
  return made;
};

/** The series of a tool: its own while there are fewer than `maxTools`, otherwise those of `_OTHER`. */
export const toolSeries = (
  series: AgentSeries,
  tool: string,
  maxTools: number,
  judgements: Readonly<Record<ErrorCategory, Judgement>> = DEFAULT_JUDGEMENT,
): ToolSeries => seriesNamed(series, tool, maxTools, (agent, name) => createToolSeries(agent, name, judgements));

/** The series of a group, whose name begins with `group:`. Groups and tools share `maxTools` and `_OTHER`. */
export const groupSeries = (series: AgentSeries, group: string, maxTools: number): ToolSeries =>
  seriesNamed(series, group, maxTools, createGroupSeries);

/** The series of a decision. Most reasons have one decision; `systemic` pauses, or in scope `process` skips. */
export const decisionSeries = (series: ToolSeries, decision: Decision, reason: Reason): Series => {
  if (REASONS[reason] === decision) return series.decisions[reason];
  const key = `${decision}/${reason}` as const;
  const found =
    series.otherDecisions.get(key) ??
    newSeries({ ...attributesOf(series), [ATTR.decision]: decision, [ATTR.reason]: reason });
  series.otherDecisions.set(key, found);
  return found;
};

/** The series of a systemic event; `undefined` if its circuits opened with different categories. */
export const systemicSeries = (series: AgentSeries, category: ErrorCategory | undefined): Series => {
  const key = category ?? MIXED_CATEGORY;
  const found = series.systemicEvents.get(key) ?? newSeries({ [ATTR.agent]: series.agent, [ATTR.errorType]: key });
  series.systemicEvents.set(key, found);
  return found;
};

/** The series of the last opening with this category. */
export const openedTimeSeries = (series: ToolSeries, category: ErrorCategory): Series => {
  const found = series.openedTime.get(category) ?? newSeries({ ...attributesOf(series), [ATTR.errorType]: category });
  series.openedTime.set(category, found);
  return found;
};

/**
 * C15: the openings of a tool are absorbed by its group's, and no longer count as openings of their own. The series stay at 0,
 * because an SDK keeps exporting the last value of a series that is no longer observed. A scrape leaves them out.
 */
export const withdrawOpened = ({ openedTime }: ToolSeries): void => {
  for (const opened of openedTime.values()) opened.value = 0;
};

/** Whether a series was withdrawn by {@link withdrawOpened}. */
export const isWithdrawn = (metric: string, { value }: Pick<Series, 'value'>): boolean =>
  value === 0 && metric === METRIC.openedTime.name;

/** Counts the fallback of a rejected call. */
export const countRoute = ({ routes }: ToolSeries, route: Route): void => {
  const series = routes.get(route.kind === 'alternative' ? `alternative:${route.degradation}` : route.kind);
  if (series !== undefined) series.value += 1;
};

/** O4: counts the tokens of a failed call. */
export const countWasted = ({ tokensWasted, costedFailures }: ToolSeries, tokens: number): void => {
  if (tokens === 0) return;
  tokensWasted.value += tokens;
  costedFailures.value += 1;
};

/** Estimates the tokens of a skipped call as the mean of the failed ones. */
export const countAvoided = ({ tokensWasted, costedFailures, tokensAvoided }: ToolSeries): void => {
  if (costedFailures.value > 0) tokensAvoided.value += Math.round(tokensWasted.value / costedFailures.value);
};

/** The series of a duration. */
export const durationSeries = (series: ToolSeries, category: ErrorCategory | undefined): DurationSeries => {
  let found = series.duration.get(category);
  if (found === undefined) {
    found = createDurationSeries({ ...attributesOf(series), ...(category && { [ATTR.errorType]: category }) });
    series.duration.set(category, found);
  }
  return found;
};
