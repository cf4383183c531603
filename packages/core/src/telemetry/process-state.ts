import type { Attributes, MeterProvider } from '@opentelemetry/api';
import { copies, type Source } from './copies.ts';
import type { Exemplars } from './durations.ts';
import type { AgentCells } from './metrics.ts';
import { sourceOf } from './source.ts';

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

/** The state that all boxes of the process share, across all copies of this package with the same shape. */
export interface ProcessState {
  /** The source for copies of another shape. */
  readonly source: Source;
  readonly agents: Map<string, AgentCells>;
  readonly live: Set<LiveSession>;
  /** The position of the search for idle sessions. */
  looked: Iterator<LiveSession>;
  binding: Binding | undefined;
  /** Derived from binding and readers, because each call needs it. */
  measures: boolean;
  keepsDurations: boolean;
  keepsExemplars: boolean;
  /** An SDK is there, and no reader replaces its instruments. */
  feedsSdk: boolean;
  /** Unix milliseconds when counting began. */
  readonly sinceMs: number;
  /** Unix milliseconds when the first reader came. Earlier durations are not counted. */
  durationsSinceMs: number;
  readonly exemplars: Exemplars;
}

const createState = (): ProcessState => {
  const live = new Set<LiveSession>();
  const counted: Omit<ProcessState, 'source'> = {
    agents: new Map(),
    live,
    looked: live.values(),
    binding: undefined,
    measures: false,
    keepsDurations: false,
    keepsExemplars: false,
    feedsSdk: false,
    sinceMs: Date.now(),
    durationsSinceMs: 0,
    exemplars: { durations: new Map(), failures: new Map() },
  };
  const state: ProcessState = Object.assign(counted, { source: sourceOf(counted, () => settleReaders(state)) });
  copies().sources.add(state.source);
  settleReaders(state); // Readers may have come before.
  return state;
};

/**
 * Increased with each change of {@link ProcessState} or of the series, such as a new reason or category: a copy of another release
 * must not find series that lack what it counts. Copies of different shapes read one another by copies.ts.
 */
export const SHAPE = 3;

const KEY = Symbol.for(`@breakerbox/core:telemetry:${SHAPE}`);

/** On globalThis. Otherwise two copies of this package in one process would report one series twice, each with its half. */
export const processState = (): ProcessState => {
  const globals = globalThis as { [KEY]?: ProcessState };
  globals[KEY] ??= createState();
  return globals[KEY];
};

/** Updates the fields that are derived from binding and readers. */
export const settleReaders = (state: ProcessState): void => {
  const readers = [...copies().readers];
  state.keepsDurations = readers.length > 0;
  state.keepsExemplars = readers.some(({ exemplars }) => exemplars);
  state.feedsSdk = state.binding !== undefined && !readers.some(({ insteadOfSdk }) => insteadOfSdk);
  state.measures = state.keepsDurations || state.feedsSdk;
  if (state.keepsDurations && state.durationsSinceMs === 0) state.durationsSinceMs = Date.now();
  if (!state.keepsExemplars) {
    state.exemplars.durations.clear();
    state.exemplars.failures.clear();
  }
};
