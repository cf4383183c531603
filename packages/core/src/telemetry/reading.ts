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

/** Nearly always: then cells are read as they are, and nothing is put together. */
const isAlone = (): boolean => copies().sources.size === 1;

/** Every metric that there is: those of semconv.ts, and what only copies of another release count. */
export const readMetrics = (): readonly SharedMetric[] => metricsOf(copies().sources);

/** Every series of a metric that is no histogram, with what copies of other releases have counted. */
export const readNumbers = (metric: SharedMetric): Iterable<NumberSeries> =>
  isAlone() ? cellsOf(state, metric.name) : numbersOf(copies().sources, metric);

const readHistograms = (metric: SharedMetric): Iterable<HistogramSeries> =>
  isAlone() ? durationCellsOf(state, metric.name) : histogramsOf(copies().sources, metric);

/** Takes sessions that idle out of the gauges. */
export const retireIdle = (): void => {
  for (const source of copies().sources) safely('a session or its clock', () => source.retireIdle());
};

/** Somebody's hold on the cells, besides whatever OpenTelemetry SDK there is. */
export interface CellReader {
  /** Takes sessions that idle out of the gauges: once before each reading of them. */
  retireIdle(): void;
  /** Every metric now; those of copies of another release may come later. */
  metrics(): readonly SharedMetric[];
  /** Every series of a metric now; none of a histogram. They may be the cells themselves, which go on counting. */
  numbers(metric: SharedMetric): Iterable<NumberSeries>;
  /** Every series of a histogram now, from the first reader's coming on. They may be the cells themselves, too. */
  histograms(metric: SharedMetric): Iterable<HistogramSeries>;
  /** Unix milliseconds from which a metric is counted. */
  sinceMs(metric: SharedMetric): number;
  /** The last sampled call by bucket; none where this reader asked for none. */
  exemplars(series: HistogramSeries): readonly (Exemplar | undefined)[];
  /** The last sampled call that was counted in an outcome that is a failure; none where this reader asked for none. */
  exemplar(series: NumberSeries): Exemplar | undefined;
  /** Lets go: durations are measured no longer, if nobody else wants them. */
  close(): void;
}

const readersChanged = (): void => {
  for (const source of copies().sources) safely('another copy of @breakerbox/core', () => source.readersChanged());
};

/** Reads the cells from now on, durations among them, which nobody keeps for no reader. */
export const openCells = (wishes: ReaderWishes): CellReader => {
  noticeCopy();
  const one = { ...wishes }; // The set tells readers apart that wish the same.
  const { readers, sources } = copies();
  const { durations, failures } = state.exemplars;
  readers.add(one);
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
 * Every series of a metric as a scrape shows it. An opening that was taken back (C15) has no series: the scrape's next sample says
 * that it is gone. An exporter that pushes shows it as 0 instead, because a series that is pushed no more stays at its last value for minutes.
 */
export const scrapedNumbers = (cells: CellReader, metric: SharedMetric): Iterable<NumberSeries> =>
  metric.kind === 'gauge'
    ? [...cells.numbers(metric)].filter((one) => !isWithdrawn(metric.name, one))
    : cells.numbers(metric);
