import type { Attributes, Span } from '@opentelemetry/api';
import type { SessionState } from '../budget/ledger.ts';
import { type SystemicEvent, suspectOf } from '../budget/systemic.ts';
import type { ReportedState } from '../circuit/circuit.ts';
import type { ErrorCategory, Outcome } from '../classify/taxonomy.ts';
import type { OperatorAction, OperatorResult } from '../events.ts';
import type { FreshnessKind } from '../freshness/freshness.ts';
import { AVAILABILITIES, type Availability } from '../precheck.ts';
import type { Decision, Reason } from '../reasons.ts';
import type { Degradation } from '../routing/capability.ts';
import type { Route } from '../routing/route.ts';
import { reportThrown } from '../safely.ts';
import {
  ATTR,
  DURATION_BUCKETS,
  METRIC,
  MIXED_CATEGORY,
  OTHER_CATEGORY,
  OTHER_TOOL,
  type TelemetryLevel,
} from './semconv.ts';

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

/** Exemplars of the series that have any: the last call of each bucket, and the last failure of each category. */
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

const SESSION_STATES: readonly SessionState[] = ['active', 'paused_budget', 'paused_systemic'];

type RouteKey = Exclude<Route['kind'], 'alternative'> | `alternative/${Degradation}`;
type Disposition = 'achievable' | 'deferred';
type Final = Exclude<Outcome, 'success'>;

/** The series of one metric. A series that no alert reads appears with its first use, because each one costs its user money. */
export type SeriesBy<Key> = Map<Key, Series>;

/** The series of one tool of one agent. */
export interface ToolSeries {
  /** The attributes that all of them have. */
  readonly base: Attributes;
  /** The circuit of a group has a state but no calls: only `circuits`, `transitions`, `openedTime` and `unavailableTime` are exported. */
  readonly isGroup: boolean;
  /** What readers see of it. Everything is counted. */
  level: TelemetryLevel;
  /** Decisions without reasons, for the level `state`. */
  readonly plainDecisions: SeriesBy<Decision>;
  readonly decisions: SeriesBy<`${Decision}/${Reason}`>;
  /** The one of `decisions` that counts nearly every call. */
  readonly closed: Series;
  readonly outcomes: Readonly<Record<Outcome, Series>>;
  readonly errors: SeriesBy<`${Final}/${ErrorCategory}`>;
  /** Ignored by the tool, because they count for a key (C14). */
  readonly keyErrors: SeriesBy<ErrorCategory>;
  readonly transitions: SeriesBy<`${ReportedState}/${ReportedState}`>;
  readonly circuits: SeriesBy<ReportedState>;
  /** Unix seconds. */
  readonly openedTime: SeriesBy<ErrorCategory>;
  /** Unix seconds; 0 while no circuit is unavailable. */
  readonly unavailableTime: SeriesBy<''>;
  /** Unix seconds; 0 once a call has succeeded. */
  readonly retryAfterTime: SeriesBy<''>;
  readonly tokensWasted: SeriesBy<''>;
  readonly tokensAvoided: SeriesBy<''>;
  /** Failed calls that reported their cost, for the mean behind `tokensAvoided`. */
  costedFailures: number;
  readonly routes: SeriesBy<RouteKey>;
  readonly freshness: SeriesBy<FreshnessKind>;
  readonly prechecks: SeriesBy<Availability>;
  /** Series of the duration histogram: of calls that succeeded, and of all others. */
  readonly duration: Map<'success' | typeof OTHER_CATEGORY, DurationSeries>;
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
  readonly systemicEvents: SeriesBy<`${ErrorCategory | typeof MIXED_CATEGORY}/${string}`>;
  readonly tasks: SeriesBy<Disposition>;
  readonly operatorActions: SeriesBy<`${OperatorAction}/${OperatorResult}`>;
  /** Empty without a fleet. */
  readonly fleetUp: SeriesBy<''>;
  /** Unix seconds. */
  readonly fleetReadTime: SeriesBy<''>;
  /** Empty until a record is ignored. */
  readonly fleetIgnored: SeriesBy<''>;
  /** By model and position. Empty without guarded models, as the next two. */
  readonly modelAnswers: SeriesBy<string>;
  /** By model and token type. */
  readonly modelTokens: SeriesBy<string>;
  /** By the first model of the list. */
  readonly modelFailures: SeriesBy<string>;
}

/** A series at zero. */
const newSeries = (attributes: Attributes): Series => ({ attributes, value: 0 });

/** The series in `family` with the value of one or two attributes beyond `base`. It is made with its first use. */
const seriesOf = <Key extends string>(
  family: SeriesBy<Key>,
  base: Attributes,
  name: string,
  value: string,
  otherName = '',
  other?: string,
): Series => {
  const key = (other === undefined ? value : `${value}/${other}`) as Key;
  let found = family.get(key);
  if (found === undefined) {
    found = newSeries({ ...base, [name]: value, ...(other !== undefined && { [otherName]: other }) });
    family.set(key, found);
  }
  return found;
};

const record = <K extends string>(keys: readonly K[], make: (key: K) => Series): Record<K, Series> =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, Series>;

/** The series of an agent, those that alerts read at zero. */
export const createAgentSeries = (agent: string): AgentSeries => {
  const base = { [ATTR.agent]: agent };
  const made: AgentSeries = {
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
    systemicEvents: new Map(),
    tasks: new Map(),
    operatorActions: new Map(),
    fleetUp: new Map(),
    fleetReadTime: new Map(),
    fleetIgnored: new Map(),
    modelAnswers: new Map(),
    modelTokens: new Map(),
    modelFailures: new Map(),
  };
  systemicSeries(made, { category: undefined, layer: 'unknown', dependency: undefined, group: undefined });
  return made;
};

const withoutSeries = (agent: string, tool: string, isGroup: boolean): ToolSeries => {
  const base = { [ATTR.agent]: agent, [ATTR.tool]: tool };
  const decisions: ToolSeries['decisions'] = new Map();
  const made: ToolSeries = {
    base,
    isGroup,
    level: 'full',
    plainDecisions: new Map(),
    decisions,
    closed: decisionSeries({ decisions, base }, 'call', 'closed'),
    outcomes: record(['success', 'failure', 'ignored'], (one) => newSeries({ ...base, [ATTR.outcome]: one })),
    errors: new Map(),
    keyErrors: new Map(),
    transitions: new Map(),
    circuits: new Map(),
    openedTime: new Map(),
    unavailableTime: new Map(),
    retryAfterTime: new Map(),
    tokensWasted: new Map(),
    tokensAvoided: new Map(),
    costedFailures: 0,
    routes: new Map(),
    freshness: new Map(),
    prechecks: new Map(),
    duration: new Map(),
  };
  transitionSeries(made, 'closed', 'open');
  for (const state of ['closed', 'open', 'half_open'] as const) circuitSeries(made, state);
  return made;
};

/** The series of a tool, those that alerts read at zero. */
const createToolSeries = (agent: string, tool: string): ToolSeries => {
  const made = withoutSeries(agent, tool, false);
  decisionSeries(made, 'probe', 'probe_due');
  decisionSeries(made, 'skip', 'open');
  decisionSeries(made, 'pause', 'budget_exhausted');
  decisionSeries(made, 'pause', 'systemic');
  return made;
};

/** The series of a decision. */
export const decisionSeries = (
  { decisions, base }: Pick<ToolSeries, 'decisions' | 'base'>,
  decision: Decision,
  reason: Reason,
): Series => seriesOf(decisions, base, ATTR.decision, decision, ATTR.reason, reason);

/** The series of the category of a call that did not succeed. */
export const errorSeries = ({ errors, base }: ToolSeries, outcome: Final, category: ErrorCategory): Series =>
  seriesOf(errors, base, ATTR.outcome, outcome, ATTR.errorType, category);

/** The same for a call that blames its key. */
export const keyErrorSeries = ({ keyErrors, base }: ToolSeries, category: ErrorCategory): Series =>
  seriesOf(keyErrors, { ...base, [ATTR.outcome]: 'ignored', [ATTR.blames]: 'key' }, ATTR.errorType, category);

/** The decisions of one kind for any reason. The sum is made when it is read. */
export const plainDecisionSeries = ({ plainDecisions, decisions, base }: ToolSeries, decision: Decision): Series => {
  const found = seriesOf(plainDecisions, base, ATTR.decision, decision);
  found.value = 0;
  for (const [key, { value }] of decisions) if (key.startsWith(`${decision}/`)) found.value += value;
  return found;
};

/** The series of a change of state. */
export const transitionSeries = ({ transitions, base }: ToolSeries, from: ReportedState, to: ReportedState): Series =>
  seriesOf(transitions, base, ATTR.stateFrom, from, ATTR.stateTo, to);

/** The series of the circuits in a state. */
export const circuitSeries = ({ circuits, base }: ToolSeries, state: ReportedState): Series =>
  seriesOf(circuits, base, ATTR.state, state);

/** The states in which a circuit keeps calls from its tool. */
const UNAVAILABLE: readonly ReportedState[] = ['open', 'half_open', 'forced_open'];

/**
 * Counts circuits that enter a state, or leave it if `change` is negative. From the first unavailable circuit to the last one, the series
 * of the time since then has the time of the first. `unixNow` gives milliseconds.
 */
export const countCircuits = (
  tool: ToolSeries,
  state: ReportedState,
  change: number,
  { unixNow }: { unixNow(): number },
): void => {
  circuitSeries(tool, state).value += change;
  if (!UNAVAILABLE.includes(state)) return;
  const { circuits, unavailableTime, base } = tool;
  const unavailable = UNAVAILABLE.reduce((sum, one) => sum + (circuits.get(one)?.value ?? 0), 0);
  const since = onlySeries(unavailableTime, base);
  if (unavailable <= 0) since.value = 0;
  else if (since.value === 0) since.value = unixNow() / 1000;
};

/** O3: the tool asked to wait until this Unix time in seconds. The latest answer counts. */
export const noteRetryAfter = ({ retryAfterTime, base }: ToolSeries, untilSeconds: number): void => {
  onlySeries(retryAfterTime, base).value = untilSeconds;
};

/** The series of the results with a freshness label. */
export const freshnessSeries = ({ freshness, base }: ToolSeries, kind: FreshnessKind): Series =>
  seriesOf(freshness, base, ATTR.freshnessLabel, kind);

/** The series of the answers of a tool's pre-check. */
export const precheckSeries = ({ prechecks, base }: ToolSeries, availability: Availability): Series =>
  seriesOf(prechecks, base, ATTR.availability, availability);

/** A tool with a pre-check has the series of all answers at zero. */
export const createPrecheckSeries = (series: ToolSeries): void => {
  for (const one of AVAILABILITIES) precheckSeries(series, one);
};

/** Counts planned tasks. */
export const countTasks = ({ tasks, agent }: AgentSeries, disposition: Disposition, count: number): void => {
  if (count > 0) seriesOf(tasks, { [ATTR.agent]: agent }, ATTR.disposition, disposition).value += count;
};

/** Counts what a model answered (L7). `base` has the attributes of the model; `more` is in the name of the series. */
export const countModel = (
  family: SeriesBy<string>,
  { base }: Pick<ToolSeries, 'base'>,
  more: Attributes = {},
  count = 1,
): void => {
  const key = [base[ATTR.tool], ...Object.values(more)].join(' ');
  const found = family.get(key) ?? newSeries({ ...base, ...more });
  family.set(key, found);
  found.value += count;
};

/** Counts an action of an operator. */
export const countAction = (
  { operatorActions, agent }: AgentSeries,
  action: OperatorAction,
  result: OperatorResult,
): void => {
  seriesOf(operatorActions, { [ATTR.agent]: agent }, ATTR.action, action, ATTR.result, result).value += 1;
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
export const toolSeries = (series: AgentSeries, tool: string, maxTools: number): ToolSeries =>
  seriesNamed(series, tool, maxTools, createToolSeries);

/** The series of a group, whose name begins with `group:`. Groups and tools share `maxTools` and `_OTHER`. */
export const groupSeries = (series: AgentSeries, group: string, maxTools: number): ToolSeries =>
  seriesNamed(series, group, maxTools, (agent, name) => withoutSeries(agent, name, true));

/** Most series of an agent's events. Dependencies and groups are declared by code, which may name them after a tenant. */
const MOST_EVENT_SERIES = 100;

/** The series of a systemic event. Beyond the limit, it names the layer only. */
export const systemicSeries = (
  { systemicEvents, agent }: AgentSeries,
  event: Pick<SystemicEvent, 'category' | 'layer' | 'dependency' | 'group'>,
): Series => {
  const category = event.category ?? MIXED_CATEGORY;
  const suspect = suspectOf(event);
  const isOver = systemicEvents.size >= MOST_EVENT_SERIES && !systemicEvents.has(`${category}/${suspect}`);
  const told = isOver ? event.layer : suspect;
  return seriesOf(systemicEvents, { [ATTR.agent]: agent }, ATTR.errorType, category, ATTR.suspect, told);
};

/** The series of the last opening with this category. */
export const openedTimeSeries = ({ openedTime, base }: ToolSeries, category: ErrorCategory): Series =>
  seriesOf(openedTime, base, ATTR.errorType, category);

/**
 * Times that no longer apply. The series stay at 0, because an SDK keeps exporting the last value of a series that is no longer observed.
 * A scrape leaves them out.
 */
export const withdraw = (times: SeriesBy<unknown>): void => {
  for (const time of times.values()) time.value = 0;
};

const TIMES: readonly string[] = [METRIC.openedTime, METRIC.unavailableTime, METRIC.retryAfterTime].map(
  ({ name }) => name,
);

/** Whether a series shows a time that no longer applies, such as one that was {@link withdraw}n. */
export const isWithdrawn = (metric: string, { value }: Pick<Series, 'value'>): boolean =>
  value === 0 && TIMES.includes(metric);

/** Counts the fallback of a rejected call. */
export const countRoute = ({ routes, base }: ToolSeries, route: Route): void => {
  const degradation = route.kind === 'alternative' ? route.degradation : undefined;
  seriesOf(routes, base, ATTR.route, route.kind, ATTR.degradation, degradation).value += 1;
};

/** The one series of a metric without attributes of its own. It is made with its first use. */
const onlySeries = (family: SeriesBy<''>, base: Attributes): Series => {
  const found = family.get('') ?? newSeries(base);
  family.set('', found);
  return found;
};

const countTokens = (family: SeriesBy<''>, base: Attributes, tokens: number): void => {
  if (tokens === 0) return;
  onlySeries(family, base).value += tokens;
};

/** O4: counts the tokens of a failed call. */
export const countWasted = (series: ToolSeries, tokens: number): void => {
  if (tokens === 0) return;
  countTokens(series.tokensWasted, series.base, tokens);
  series.costedFailures += 1;
};

/** Estimates the tokens of a skipped call as the mean of the failed ones. */
export const countAvoided = ({ tokensWasted, costedFailures, tokensAvoided, base }: ToolSeries): void => {
  const wasted = tokensWasted.get('')?.value ?? 0;
  if (costedFailures > 0) countTokens(tokensAvoided, base, Math.round(wasted / costedFailures));
};

/**
 * The series of a duration. All calls that did not succeed share one, because each has 17 series in Prometheus; their categories are in
 * {@link METRIC.errors}.
 */
export const durationSeries = ({ duration, base }: ToolSeries, category: ErrorCategory | undefined): DurationSeries => {
  const key = category === undefined ? 'success' : OTHER_CATEGORY;
  let found = duration.get(key);
  if (found === undefined) {
    found = createDurationSeries(key === 'success' ? base : { ...base, [ATTR.errorType]: key });
    duration.set(key, found);
  }
  return found;
};

/** The first bucket whose bound isn't below the value. A bound belongs to its bucket. */
const bucketOf = (bounds: readonly number[], value: number): number => {
  let bucket = 0;
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
  return bucket;
};

/** Counts a call. */
export const addDuration = (series: DurationSeries, seconds: number): void => {
  const bucket = bucketOf(DURATION_BUCKETS, seconds);
  series.counts[bucket] = (series.counts[bucket] as number) + 1;
  series.sum += seconds;
  if (seconds < series.min) series.min = seconds;
  if (seconds > series.max) series.max = seconds;
};

/** Number of calls in a series. */
export const countOf = ({ counts }: { readonly counts: readonly number[] }): number =>
  counts.reduce((sum, one) => sum + one, 0);

const SAMPLED = 1;

/** Keeps a call as an exemplar if its trace is recorded, because a link to an unrecorded trace leads nowhere. */
export const keepExemplars = (
  { durations, failures }: Exemplars,
  series: DurationSeries,
  seconds: number,
  span: Span,
  failed: Series | undefined,
): void => {
  try {
    const { traceId, spanId, traceFlags } = span.spanContext();
    if ((traceFlags & SAMPLED) === 0) return;
    const unixSeconds = Date.now() / 1000;
    const buckets = durations.get(series) ?? [];
    durations.set(series, buckets);
    buckets[bucketOf(DURATION_BUCKETS, seconds)] = { traceId, spanId, value: seconds, unixSeconds };
    if (failed !== undefined) failures.set(failed, { traceId, spanId, value: 1, unixSeconds });
  } catch (error) {
    reportThrown('the span of a call', error);
  }
};
