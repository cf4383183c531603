import type { Attributes, MeterProvider } from '@opentelemetry/api';
import type { AgentSeries, Exemplars } from './series.ts';

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
export const SHAPE = 4;

const KEY = Symbol.for(`@breakerbox/core:telemetry:${SHAPE}`);

/** On globalThis. Otherwise two copies of this package in one process would report one series twice, each with its half. */
export const processState = (): ProcessState => {
  const globals = globalThis as { [KEY]?: ProcessState };
  globals[KEY] ??= createState();
  return globals[KEY];
};

/** Updates the fields that are derived from binding and readers. */
export const settleReaders = (state: ProcessState): void => {
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
