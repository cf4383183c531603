import {
  copies,
  type HistogramSeries,
  type NumberSeries,
  noticeCopy,
  type ReaderWishes,
  type SharedMetric,
} from './copies.ts';
import type { DurationCell, Exemplar } from './durations.ts';
import { histogramsOf, metricsOf, numbersOf, sinceMsOf } from './merged.ts';
import { type Cell, isWithdrawn } from './metrics.ts';
import { processState } from './process-state.ts';
import { safely } from './safely.ts';
import { cellsOf, durationCellsOf } from './source.ts';

const state = processState();

/** Nearly always: then series are read as they are, without a merge. */
const isAlone = (): boolean => copies().sources.size === 1;

/** All metrics: those of semconv.ts, and those that only copies of another release count. */
export const readMetrics = (): readonly SharedMetric[] => metricsOf(copies().sources);

/** Every series of a metric other than a histogram, with the numbers of copies of other releases. */
export const readNumbers = (metric: SharedMetric): Iterable<NumberSeries> =>
  isAlone() ? cellsOf(state, metric.name) : numbersOf(copies().sources, metric);

const readHistograms = (metric: SharedMetric): Iterable<HistogramSeries> =>
  isAlone() ? durationCellsOf(state, metric.name) : histogramsOf(copies().sources, metric);

/** Removes idle sessions from the gauges. */
export const retireIdle = (): void => {
  for (const source of copies().sources) safely('a session or its clock', () => source.retireIdle());
};

/** A reader of the series, beside an OpenTelemetry SDK. */
export interface CellReader {
  /** Removes idle sessions from the gauges. Call it once before each reading of them. */
  retireIdle(): void;
  /** All metrics now. Metrics of copies of another release may be added later. */
  metrics(): readonly SharedMetric[];
  /** Every series of a metric now; empty for a histogram. They may be the live series, which go on counting. */
  numbers(metric: SharedMetric): Iterable<NumberSeries>;
  /** Every series of a histogram now, counted since the first reader came. They may be the live series, too. */
  histograms(metric: SharedMetric): Iterable<HistogramSeries>;
  /** Unix milliseconds from which a metric is counted. */
  sinceMs(metric: SharedMetric): number;
  /** The last sampled call of each bucket; empty if this reader did not ask for exemplars. */
  exemplars(series: HistogramSeries): readonly (Exemplar | undefined)[];
  /** The last sampled call that was counted in a failed outcome; undefined if this reader did not ask for exemplars. */
  exemplar(series: NumberSeries): Exemplar | undefined;
  /** Closes the reader. Durations are no longer measured if no other reader wants them. */
  close(): void;
}

const readersChanged = (): void => {
  for (const source of copies().sources) safely('another copy of @breakerbox/core', () => source.readersChanged());
};

/** Opens a reader of the series. Durations are kept from now on; without a reader they are not. */
export const openCells = (wishes: ReaderWishes): CellReader => {
  noticeCopy();
  const one = { ...wishes }; // A copy, so that the set distinguishes readers with equal wishes.
  const { readers, sources } = copies();
  const { durations, failures } = state.exemplars;
  readers.add(one);
  copies().wasRead = true;
  readersChanged();
  return {
    retireIdle,
    metrics: readMetrics,
    numbers: readNumbers,
    histograms: readHistograms,
    sinceMs: ({ name }) => sinceMsOf(sources, name),
    exemplars: (series) => (one.exemplars && (series.exemplars ?? durations.get(series as DurationCell))) || [],
    exemplar: (series) => (one.exemplars ? (series.exemplar ?? failures.get(series as Cell)) : undefined),
    close() {
      readers.delete(one);
      readersChanged();
    },
  };
};

/**
 * Every series of a metric as a scrape shows it. A withdrawn opening (C15) has no series, so the next scrape shows that it is gone.
 * An exporter that pushes shows it as 0 instead, because a series that is no longer pushed keeps its last value for minutes.
 */
export const scrapedNumbers = (cells: CellReader, metric: SharedMetric): Iterable<NumberSeries> =>
  metric.kind === 'gauge'
    ? [...cells.numbers(metric)].filter((one) => !isWithdrawn(metric.name, one))
    : cells.numbers(metric);
