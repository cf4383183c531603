import type { Attributes, MeterProvider } from '@opentelemetry/api';
import { copies, type Source } from './copies.ts';
import type { Exemplars } from './durations.ts';
import type { AgentCells } from './metrics.ts';
import { sourceOf } from './source.ts';

/** A session that counts in the gauges until it ends or idles. */
export interface LiveSession {
  /** Takes the session out of the gauges if it has idled past its limit; true if it did. */
  retireIfIdle(): boolean;
}

/** The hold on a meter provider that a real SDK stands behind. */
export interface Binding {
  readonly provider: MeterProvider;
  /** Records with the SDK's own histogram. */
  recordDuration(seconds: number, attributes: Attributes): void;
  unbind(): void;
}

/** What all boxes of the process share, whichever copy of this package made them: copies of one shape, that is. */
export interface ProcessState {
  /** As copies of another shape know it. */
  readonly source: Source;
  readonly agents: Map<string, AgentCells>;
  readonly live: Set<LiveSession>;
  /** How far the look for idle sessions has come. */
  looked: Iterator<LiveSession>;
  binding: Binding | undefined;
  /** What follows from binding and readers, since each call asks for it. */
  measures: boolean;
  keepsDurations: boolean;
  keepsExemplars: boolean;
  /** An SDK is there, and nobody stands in for its instruments. */
  feedsSdk: boolean;
  /** Unix milliseconds of the beginning of all counting. */
  readonly sinceMs: number;
  /** Unix milliseconds of the first reader's coming; durations before are in no cell. */
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
 * Goes up with each change of {@link ProcessState} or of the cells, a new reason or category among them: a copy of another
 * release must not find cells that lack what it counts. Copies of different shapes read one another by copies.ts.
 */
export const SHAPE = 3;

const KEY = Symbol.for(`@breakerbox/core:telemetry:${SHAPE}`);

/** On globalThis: two copies of this package in one process would otherwise report one series twice, each its half. */
export const processState = (): ProcessState => {
  const globals = globalThis as { [KEY]?: ProcessState };
  globals[KEY] ??= createState();
  return globals[KEY];
};

/** Brings what follows from binding and readers up to date. */
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
