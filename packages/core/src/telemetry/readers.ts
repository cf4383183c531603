import type { Attributes, MeterProvider } from '@opentelemetry/api';
import { safely } from '../safely.ts';
import { noticeCopy } from '../warnings/warnings.ts';
import { DURATION_BUCKETS, METRIC, type MetricDefinition } from './semconv.ts';
import {
  type AgentSeries,
  allSeries,
  countOf,
  type DurationSeries,
  type Exemplar,
  type Exemplars,
  isWithdrawn,
  plainDecisionSeries,
  readUnavailable,
  type Series,
  seriesOf,
  type ToolSeries,
} from './series.ts';

/** A session that counts in the gauges until it ends or goes idle. */
export interface LiveSession {
  /** Removes the session from the gauges if it has been idle past its limit; returns true if it did. */
  retireIfIdle(): boolean;
}

/** The binding to the meter provider of a real SDK. */
export interface Binding {
  readonly provider: MeterProvider;
  /** Records with the SDK's own histogram. */
  recordDuration(seconds: number, attributes: Attributes): void;
  unbind(): void;
}

/** A reader of the series, beside an OpenTelemetry SDK. */
export interface ReaderOptions {
  /** Whether the SDK exports this reader's readings. From its own instruments it would export everything a second time. */
  readonly insteadOfSdk: boolean;
  /** Whether it wants exemplars: the calls behind the numbers. */
  readonly exemplars: boolean;
}

/** The state that all boxes of the process share, across all copies of this package with the same shape. */
export interface ProcessState {
  readonly agents: Map<string, AgentSeries>;
  readonly live: Set<LiveSession>;
  /** The position of the search for idle sessions. */
  nextLive: Iterator<LiveSession>;
  binding: Binding | undefined;
  readonly readers: Set<ReaderOptions>;
  /** Derived from binding and readers, because each call needs it. */
  keepsDurations: boolean;
  keepsExemplars: boolean;
  /** An SDK is there, and no reader replaces its instruments. */
  feedsSdk: boolean;
  /** Unix milliseconds when counting began. */
  readonly sinceMs: number;
  /** Unix milliseconds when the first reader came. Earlier durations are not counted. 0: no reader has come. */
  durationsSinceMs: number;
  readonly exemplars: Exemplars;
}

const createState = (): ProcessState => {
  const live = new Set<LiveSession>();
  return {
    agents: new Map(),
    live,
    nextLive: live.values(),
    binding: undefined,
    readers: new Set(),
    keepsDurations: false,
    keepsExemplars: false,
    feedsSdk: false,
    sinceMs: Date.now(),
    durationsSinceMs: 0,
    exemplars: { durations: new Map(), failures: new Map() },
  };
};

/** Increased with each change of {@link ProcessState} or of the series: copies of another shape have a state of their own. */
export const SHAPE = 17;

const KEY = Symbol.for(`@breakerbox/core:telemetry:${SHAPE}`);

/** On globalThis. Otherwise two copies of this package in one process would report one series twice, each with its half. */
export const processState = (): ProcessState => {
  const globals = globalThis as { [KEY]?: ProcessState };
  globals[KEY] ??= createState();
  return globals[KEY];
};

/** Updates the fields that are derived from binding and readers. */
export const updateReaders = (state: ProcessState): void => {
  const readers = [...state.readers];
  state.keepsDurations = readers.length > 0;
  state.keepsExemplars = readers.some(({ exemplars }) => exemplars);
  state.feedsSdk = state.binding !== undefined && !readers.some(({ insteadOfSdk }) => insteadOfSdk);
  if (state.keepsDurations && state.durationsSinceMs === 0) state.durationsSinceMs = Date.now();
  if (!state.keepsExemplars) {
    state.exemplars.durations.clear();
    state.exemplars.failures.clear();
  }
};

/** A metric, and for a histogram the upper bounds of its buckets except the last, ascending. A bound belongs to its bucket. */
export interface ExportedMetric extends MetricDefinition {
  readonly bounds?: readonly number[];
}

/** A series of a counter, an up-down counter or a gauge. */
export interface NumberSeries {
  /** The same object at each reading. Must not be changed. */
  readonly attributes: Attributes;
  readonly value: number;
}

/** A series of a histogram. */
export interface HistogramSeries {
  /** The same object at each reading. Must not be changed. */
  readonly attributes: Attributes;
  /** Calls by bucket, not cumulative; one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

type MetricKey = keyof typeof METRIC;

/** What is exported of a tool at the level `state`, beside all of its circuits. */
const STATE_READINGS: Partial<Readonly<Record<MetricKey, (tool: ToolSeries) => Iterable<Series>>>> = {
  decisions: (tool) => [plainDecisionSeries(tool, 'call'), plainDecisionSeries(tool, 'skip')],
  outcomes: (tool) => [seriesOf(tool, 'outcomes', 'failure')],
  transitions: (tool) => [seriesOf(tool, 'transitions', 'closed', 'open')],
};

/** The gauges that a reading makes. */
const OF_UNAVAILABLE: readonly MetricKey[] = ['unavailableTime', 'retryAfterTime', 'circuitsWaiting'];

/** The series behind a metric of a tool, at the tool's level. */
const readTool = (tool: ToolSeries, key: MetricKey): Iterable<Series> => {
  if (OF_UNAVAILABLE.includes(key)) readUnavailable(tool);
  const isOfState = key === 'circuits' || key === 'circuitsWaiting';
  if (tool.level === 'full' || (tool.level === 'state' && isOfState)) return allSeries(tool, key);
  const isOfCalls = key === 'decisions' || key === 'outcomes';
  return (tool.level === 'state' && !(tool.isGroup && isOfCalls) && STATE_READINGS[key]?.(tool)) || [];
};

const KEYS: ReadonlyMap<string, MetricKey> = new Map(
  (Object.keys(METRIC) as MetricKey[]).map((key) => [METRIC[key].name, key]),
);

const METRICS: readonly ExportedMetric[] = Object.values(METRIC).map((metric) =>
  metric.kind === 'histogram' ? { ...metric, bounds: DURATION_BUCKETS } : metric,
);

const state = processState();

/** All metrics. */
export const readMetrics = (): readonly ExportedMetric[] => METRICS;

/** Every series of a metric other than a histogram: the live series. */
export function* readNumbers({ name }: Pick<ExportedMetric, 'name'>): Iterable<Series> {
  const key = KEYS.get(name);
  if (key === undefined || key === 'duration') return;
  for (const agent of state.agents.values()) {
    if (METRIC[key].per === 'agent') yield* allSeries(agent, key);
    else for (const tool of agent.tools.values()) yield* readTool(tool, key);
  }
}

/** Every series of the duration histogram that was kept for a reader. */
function* readHistograms({ name }: Pick<ExportedMetric, 'name'>): Iterable<DurationSeries> {
  if (name !== METRIC.duration.name) return;
  for (const agent of state.agents.values()) {
    for (const tool of agent.tools.values()) {
      for (const series of tool.duration.values()) if (countOf(series) > 0) yield series;
    }
  }
}

/** Removes idle sessions from the gauges. */
export const retireIdle = (): void => {
  for (const session of state.live) {
    if (safely('a session or its clock', () => session.retireIfIdle()) ?? true) state.live.delete(session);
  }
};

/** A reader of the series, beside an OpenTelemetry SDK. */
export interface SeriesReader {
  /** Removes idle sessions from the gauges. Call it once before each reading of them. */
  retireIdle(): void;
  /** All metrics. */
  metrics(): readonly ExportedMetric[];
  /** Every series of a metric now; empty for a histogram. They may be the live series, which go on counting. */
  numbers(metric: ExportedMetric): Iterable<NumberSeries>;
  /** Every series of a histogram now, counted since the first reader came. They may be the live series, too. */
  histograms(metric: ExportedMetric): Iterable<HistogramSeries>;
  /** Unix milliseconds from which a metric is counted. */
  sinceMs(metric: ExportedMetric): number;
  /** The last sampled call of each bucket; empty if this reader did not ask for exemplars. */
  exemplars(series: HistogramSeries): readonly (Exemplar | undefined)[];
  /** The last sampled call that was counted in a series of `breakerbox.errors`; undefined if this reader did not ask for exemplars. */
  exemplar(series: NumberSeries): Exemplar | undefined;
  /** Closes the reader. Durations are no longer measured if no other reader wants them. */
  close(): void;
}

/** Opens a reader of the series. Durations are kept from now on; without a reader they are not. */
export const openSeries = (options: ReaderOptions): SeriesReader => {
  noticeCopy();
  const one = { ...options }; // A copy, so that the set distinguishes readers with equal options.
  const { durations, failures } = state.exemplars;
  state.readers.add(one);
  updateReaders(state);
  return {
    retireIdle,
    metrics: readMetrics,
    numbers: readNumbers,
    histograms: readHistograms,
    sinceMs: ({ name }) => (name === METRIC.duration.name ? state.durationsSinceMs : state.sinceMs),
    exemplars: (series) => (one.exemplars && durations.get(series as DurationSeries)) || [],
    exemplar: (series) => (one.exemplars ? failures.get(series as Series) : undefined),
    close() {
      state.readers.delete(one);
      updateReaders(state);
    },
  };
};

/**
 * Every series of a metric as a scrape shows it. A withdrawn opening (C15) has no series, so the next scrape shows that it is gone.
 * An exporter that pushes shows it as 0 instead, because a series that is no longer pushed keeps its last value for minutes.
 */
export const scrapedNumbers = (series: SeriesReader, metric: ExportedMetric): Iterable<NumberSeries> =>
  metric.kind === 'gauge'
    ? [...series.numbers(metric)].filter((one) => !isWithdrawn(metric.name, one))
    : series.numbers(metric);
