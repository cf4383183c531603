import type { Attributes, Span } from '@opentelemetry/api';
import type { SessionState } from '../budget/ledger.ts';
import { type SystemicEvent, suspectOf } from '../budget/systemic.ts';
import { shortened, visible } from '../checks/names.ts';
import { askedWaitOf, type Circuit, type ReportedState } from '../circuit/circuit.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { ErrorCategory, Outcome } from '../classify/taxonomy.ts';
import type { Clock } from '../clock.ts';
import type { OperatorAction, OperatorResult } from '../events.ts';
import type { FreshnessKind } from '../freshness/freshness.ts';
import type { LimitKind } from '../limits/limits.ts';
import type { Availability } from '../precheck.ts';
import type { Decision, Reason } from '../reasons.ts';
import type { Degradation } from '../routing/capability.ts';
import type { Route } from '../routing/route.ts';
import { reportThrown } from '../safely.ts';
import { warnOnce } from '../warnings/warnings.ts';
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

export const createDurationSeries = (attributes: Attributes): DurationSeries => ({
  attributes,
  counts: new Array<number>(DURATION_BUCKETS.length + 1).fill(0),
  sum: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
});

/** `observed`: reached, but the limit only advises or observes (D2). */
type LimitLevel = 'advised' | 'reached' | 'observed';
type Disposition = 'achievable' | 'deferred';
type MetricKey = keyof typeof METRIC;

/** The values of a metric's attributes, in the order of {@link METRIC}. A metric that is not here has no attributes. */
interface MetricValues {
  decisions: [Decision, Reason];
  outcomes: [Outcome];
  /** Ignored by the tool and of a key: it counts for the key (C14). */
  errors: [Exclude<Outcome, 'success'>, ErrorCategory, 'key'?];
  transitions: [ReportedState, ReportedState];
  circuits: [ReportedState];
  openedTime: [ErrorCategory];
  routes: [Route['kind'], Degradation?];
  freshness: [FreshnessKind];
  prechecks: [Availability];
  sessions: [SessionState];
  systemicEvents: [category: string, suspect: string];
  operatorActions: [OperatorAction, OperatorResult];
  tasks: [Disposition];
  limits: [LimitKind, LimitLevel];
  /** Without a currency where no limit of money names one. */
  spentCost: [currency?: string];
  modelAnswers: [model: string, position: 'primary' | 'fallback', primary: string];
  modelTokens: [model: string, type: 'input' | 'output'];
  modelCost: [model: string, currency: string];
  modelFailures: [model: string];
}
type ValuesOf<Key extends MetricKey> = Key extends keyof MetricValues
  ? MetricValues[Key]
  : (typeof METRIC)[Key]['attributes'] extends readonly []
    ? []
    : ['Add the values of its attributes to MetricValues'];

/** What has series: an agent or a tool. */
interface SeriesOwner {
  /** The attributes that all of them have. Names without a line feed, which `.*` of Prometheus 2 does not match. */
  readonly base: Attributes;
  /** By metric, then by the values of its attributes. A series that no alert reads appears with its first use, because each one costs its user money. */
  readonly families: { [Key in MetricKey]?: Map<string, Series> };
}

interface ToolOwner extends SeriesOwner {
  /** The circuit of a group has a state but no calls. */
  readonly isGroup: boolean;
}

interface AgentOwner extends SeriesOwner {
  readonly agent: string;
}

/** Only the series of the owner that {@link METRIC} names for a metric are exported. */
type OwnerOf<Key extends MetricKey> = (typeof METRIC)[Key]['per'] extends 'agent' ? AgentOwner : ToolOwner;

/** A circuit that keeps calls from its tool. Unix milliseconds; 0 for none. */
export interface UnavailableCircuit {
  /** Since when it has not been closed. */
  readonly sinceMs: number;
  /** No probe before, because the service asked for it (O3). */
  untilMs: number;
  /** Whether it waits as asked: no probe has failed since it opened. */
  isAsked: boolean;
  readonly clock: Pick<Clock, 'unixNow'>;
}

export interface ToolSeries extends ToolOwner {
  /** What readers see of it. Everything is counted. */
  level: TelemetryLevel;
  /** Decisions without reasons, for the level `state`. */
  readonly plainDecisions: Map<Decision, Series>;
  /** The one of the decisions, and the one of the outcomes, that counts nearly every call. */
  readonly closed: Series;
  readonly succeeded: Series;
  /** Its circuits that keep calls from it: three gauges are made of them when they are read. */
  readonly unavailable: Set<UnavailableCircuit>;
  /** Failed calls that reported their cost, for the mean behind `tokensAvoided`. */
  costedFailures: number;
  /** Series of the duration histogram: of calls that succeeded, and of all others. */
  readonly duration: Map<'success' | typeof OTHER_CATEGORY, DurationSeries>;
}

export interface AgentSeries extends AgentOwner {
  readonly tools: Map<string, ToolSeries>;
}

/** The series of a metric with these values of its attributes. It is made with its first use. Times are Unix seconds; 0: they no longer apply. */
export const seriesOf = <Key extends MetricKey>(owner: OwnerOf<Key>, metric: Key, ...values: ValuesOf<Key>): Series => {
  const family = owner.families[metric] ?? new Map<string, Series>();
  owner.families[metric] = family;
  let key: string = values[0] ?? '';
  for (let index = 1; index < values.length; index += 1) key += `/${values[index] ?? ''}`;
  let found = family.get(key);
  if (found === undefined) {
    const names: readonly string[] = METRIC[metric].attributes;
    const own = names.flatMap((name, index) => (values[index] === undefined ? [] : [[name, values[index]]]));
    found = { attributes: { ...owner.base, ...Object.fromEntries(own) }, value: 0 };
    family.set(key, found);
  }
  return found;
};

/** All series that a metric has so far. */
export const allSeries = ({ families }: SeriesOwner, metric: MetricKey): Iterable<Series> =>
  families[metric]?.values() ?? NONE;

const NONE: readonly Series[] = [];

/** The series of an agent, those that alerts read at zero. */
export const createAgentSeries = (agent: string): AgentSeries => {
  const made: AgentSeries = { agent, base: { [ATTR.agent]: visible(agent) }, tools: new Map(), families: {} };
  seriesOf(made, 'budgetLimit');
  seriesOf(made, 'budgetRemaining');
  seriesOf(made, 'budgetConsumed');
  seriesOf(made, 'budgetLow');
  seriesOf(made, 'budgetExhaustions');
  for (const state of ['active', 'paused_budget', 'paused_systemic'] as const) seriesOf(made, 'sessions', state);
  seriesOf(made, 'sessionsStarted');
  seriesOf(made, 'systemicActive');
  systemicSeries(made, { category: undefined, layer: 'unknown', dependency: undefined, group: undefined });
  return made;
};

/** The series of a tool or a group, those that alerts read at zero. */
const createToolSeries = (agent: string, tool: string, isGroup: boolean): ToolSeries => {
  const owner: ToolOwner = {
    base: { [ATTR.agent]: visible(agent), [ATTR.tool]: visible(tool) },
    families: {},
    isGroup,
  };
  seriesOf(owner, 'transitions', 'closed', 'open');
  for (const state of ['closed', 'open', 'half_open'] as const) seriesOf(owner, 'circuits', state);
  const ofCalls = isGroup ? { ...owner, families: {} } : owner;
  const made: ToolSeries = {
    ...owner,
    level: 'full',
    plainDecisions: new Map(),
    closed: seriesOf(ofCalls, 'decisions', 'call', 'closed'),
    succeeded: seriesOf(ofCalls, 'outcomes', 'success'),
    unavailable: new Set(),
    costedFailures: 0,
    duration: new Map(),
  };
  seriesOf(ofCalls, 'outcomes', 'failure');
  seriesOf(ofCalls, 'outcomes', 'ignored');
  seriesOf(ofCalls, 'decisions', 'probe', 'probe_due');
  seriesOf(ofCalls, 'decisions', 'skip', 'open');
  seriesOf(ofCalls, 'decisions', 'pause', 'budget_exhausted');
  seriesOf(ofCalls, 'decisions', 'pause', 'systemic');
  return made;
};

/** The decisions of one kind for any reason. The sum is made when it is read. */
export const plainDecisionSeries = (tool: ToolSeries, decision: Decision): Series => {
  const found = tool.plainDecisions.get(decision) ?? {
    attributes: { ...tool.base, [ATTR.decision]: decision },
    value: 0,
  };
  tool.plainDecisions.set(decision, found);
  found.value = 0;
  for (const { attributes, value } of allSeries(tool, 'decisions')) {
    if (attributes[ATTR.decision] === decision) found.value += value;
  }
  return found;
};

/** Counts circuits that enter a state, or leave it if `change` is negative. */
export const countCircuits = (tool: ToolSeries, state: ReportedState, change: number): void => {
  seriesOf(tool, 'circuits', state).value += change;
};

/** Of a tool or a group. */
interface SpecOfCircuit {
  readonly name: string;
  readonly series: ToolSeries;
  readonly policy: CircuitPolicy;
}

/** The states in which a circuit keeps calls from its tool. */
const UNAVAILABLE: readonly ReportedState[] = ['open', 'half_open', 'forced_open'];

/**
 * The unavailable circuits of a session, or those that the sessions of a box share (C12), by the names of their tools. It refers to series and
 * clocks only, so it keeps no box alive.
 */
export type UnavailableCircuits = Map<string, readonly [UnavailableCircuit, ToolSeries]>;

/** A circuit was created or restored, or has changed its state. `isCounted`: the gauges show it. */
export const noteCircuit = (
  all: UnavailableCircuits,
  { name, series, policy }: SpecOfCircuit,
  state: ReportedState,
  circuit: Circuit,
  clock: Clock,
  isCounted: boolean,
): void => {
  const known = all.get(name)?.[0];
  if (!UNAVAILABLE.includes(state)) {
    if (known !== undefined) series.unavailable.delete(known);
    all.delete(name);
    return;
  }
  const unixMs = clock.unixNow();
  const unixAtZeroMs = unixMs - clock.now();
  const openedMs = circuit.state === 'closed' ? unixMs : unixAtZeroMs + circuit.outage.openedAt.ms;
  const one = known ?? { sinceMs: Math.min(openedMs, unixMs), untilMs: 0, isAsked: false, clock };
  const { notBeforeMs, isAsked } = askedWaitOf(circuit, policy);
  one.untilMs = notBeforeMs === 0 ? 0 : unixAtZeroMs + notBeforeMs;
  one.isAsked = isAsked;
  all.set(name, [one, series]);
  if (isCounted) series.unavailable.add(one);
};

/** The circuits enter the gauges, or leave them. */
export const countUnavailable = (all: UnavailableCircuits, isCounted: boolean): void => {
  for (const [one, { unavailable }] of all.values()) {
    if (isCounted) unavailable.add(one);
    else unavailable.delete(one);
  }
};

/** Brings the gauges of a tool's unavailable circuits up to date. A reading does it, so that a change of a circuit need not. */
export const readUnavailable = (tool: ToolSeries): void => {
  let since = Number.POSITIVE_INFINITY;
  let until = 0;
  let waiting = 0;
  for (const { sinceMs, untilMs, isAsked, clock } of tool.unavailable) {
    since = Math.min(since, sinceMs);
    until = Math.max(until, untilMs);
    if (isAsked && untilMs > clock.unixNow()) waiting += 1;
  }
  const { unavailableTime, retryAfterTime, circuitsWaiting } = tool.families;
  const isUnavailable = since !== Number.POSITIVE_INFINITY;
  // A series appears with its first value, and stays.
  if (isUnavailable || unavailableTime) seriesOf(tool, 'unavailableTime').value = isUnavailable ? since / 1000 : 0;
  if (until > 0 || retryAfterTime) seriesOf(tool, 'retryAfterTime').value = until / 1000;
  if (waiting > 0 || circuitsWaiting) seriesOf(tool, 'circuitsWaiting').value = waiting;
};

/**
 * The series of a name: its own while the agent has fewer than `maxTools`, otherwise those of `_OTHER`. Groups and tools share both. A name
 * of which nothing is exported counts for neither.
 */
export const toolSeries = (
  series: AgentSeries,
  name: string,
  maxTools: number,
  { isGroup = false, level = 'full' }: { readonly isGroup?: boolean; readonly level?: TelemetryLevel } = {},
): ToolSeries => {
  const known = series.tools.get(name);
  if (known !== undefined) return known;
  const label = level === 'none' || hasPlace(series, maxTools) ? name : OTHER_TOOL;
  if (label !== name) warnOfOthers(series.agent, name, maxTools);
  const made = series.tools.get(label) ?? createToolSeries(series.agent, label, isGroup && label === name);
  if (label === name) made.level = level;
  series.tools.set(label, made);
  return made;
};

/** With how many names there was no place, and for how many: a box may have thousands of tools beyond. */
const full = new WeakMap<AgentSeries['tools'], readonly [names: number, maxTools: number]>();

/** Whether fewer than `maxTools` names are exported. */
const hasPlace = ({ tools }: AgentSeries, maxTools: number): boolean => {
  if (tools.size < maxTools) return true;
  const [names, most] = full.get(tools) ?? [];
  if (names === tools.size && most === maxTools) return false;
  let count = 0;
  for (const [name, { level }] of tools) if (name !== OTHER_TOOL && level !== 'none') count += 1;
  if (count >= maxTools) full.set(tools, [tools.size, maxTools]);
  return count < maxTools;
};

const warnOfOthers = (agent: string, name: string, maxTools: number): void =>
  warnOnce(
    'BREAKERBOX_TOO_MANY_SERIES',
    agent,
    () =>
      `Agent '${agent}' has ${maxTools} tools and groups with metrics of their own (maxTools). '${shortened(name, 60)}' and all that follow are counted together as '${OTHER_TOOL}', so dashboards and alerts do not name them. Raise maxTools; with defaults: { telemetry: 'state' } each tool has few series. If the names contain ids or URLs, name the kind of tool instead.`,
  );

/** Most series of an agent's events. Dependencies and groups are declared by code, which may name them after a tenant. */
const MOST_EVENT_SERIES = 100;

/** The series of a systemic event. Beyond the limit, it names the layer only. */
export const systemicSeries = (
  agent: AgentSeries,
  event: Pick<SystemicEvent, 'category' | 'layer' | 'dependency' | 'group'>,
): Series => {
  const category = event.category ?? MIXED_CATEGORY;
  const suspect = suspectOf(event);
  const known = agent.families.systemicEvents;
  const isOver = known !== undefined && known.size >= MOST_EVENT_SERIES && !known.has(`${category}/${suspect}`);
  return seriesOf(agent, 'systemicEvents', category, isOver ? event.layer : suspect);
};

/**
 * Times that no longer apply. The series stay at 0, because an SDK keeps exporting the last value of a series that is no longer observed.
 * A scrape leaves them out.
 */
export const withdrawOpenings = (tool: ToolSeries): void => {
  for (const time of allSeries(tool, 'openedTime')) time.value = 0;
};

const TIMES: readonly string[] = [METRIC.openedTime, METRIC.unavailableTime, METRIC.retryAfterTime].map(
  ({ name }) => name,
);

/** Whether a series shows a time that no longer applies, such as one that was {@link withdrawOpenings withdrawn}. */
export const isWithdrawn = (metric: string, { value }: Pick<Series, 'value'>): boolean =>
  value === 0 && TIMES.includes(metric);

/** O4: counts the tokens of a failed call. */
export const countWasted = (series: ToolSeries, tokens: number): void => {
  if (tokens === 0) return;
  seriesOf(series, 'tokensWasted').value += tokens;
  series.costedFailures += 1;
};

/** Estimates the tokens of a skipped call as the mean of the failed ones. */
export const countAvoided = (series: ToolSeries): void => {
  if (series.costedFailures === 0) return;
  const mean = Math.round(seriesOf(series, 'tokensWasted').value / series.costedFailures);
  if (mean > 0) seriesOf(series, 'tokensAvoided').value += mean;
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

export const addDuration = (series: DurationSeries, seconds: number): void => {
  const bucket = bucketOf(DURATION_BUCKETS, seconds);
  series.counts[bucket] = (series.counts[bucket] as number) + 1;
  series.sum += seconds;
  if (seconds < series.min) series.min = seconds;
  if (seconds > series.max) series.max = seconds;
};

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
