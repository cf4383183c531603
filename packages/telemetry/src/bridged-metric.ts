import { METRIC } from '@breakerbox/core';
import {
  countOf,
  type Exemplar,
  type ExportedMetric,
  type HistogramSeries,
  type NumberSeries,
  type SeriesReader,
  scrapedNumbers,
} from '@breakerbox/core/internal';
import type { Aggregator, Registry, RegistryContentType } from 'prom-client';
import { labelName, PROM_TYPE } from './prometheus-format.ts';

type Labels = Readonly<Record<string, string>>;

/** One line of a scrape, as prom-client writes it. */
export interface BridgedSample {
  /** The name of the line, where it differs from the metric's own. */
  readonly metricName?: string;
  readonly labels: Labels;
  /** prom-client writes these labels as text once and keeps the text, so each scrape has to give the same object. */
  readonly sharedLabels: Labels;
  readonly value: number;
  readonly exemplar?: BridgedExemplar | undefined;
}

interface BridgedExemplar {
  readonly labelSet: { readonly trace_id: string; readonly span_id: string };
  readonly value: number;
  readonly timestamp: number;
}

/** The part of prom-client's metrics that a registry uses when it reads, but not when it counts. */
export interface BridgedMetric {
  /** prom-client removes `_total` itself in an OpenMetrics registry. */
  name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: Aggregator;
  /** Gives the values for the text of a scrape. */
  getForPromString(): Promise<BridgedFamily>;
  /** Gives the values for everything else, such as the data that a cluster worker sends to its primary. */
  get(): Promise<BridgedFamily>;
  /** Does nothing: prom-client must not reset the counts of the boxes. */
  reset(): void;
}

/** A metric with its values at one scrape. */
export interface BridgedFamily extends Pick<BridgedMetric, 'name' | 'help' | 'type' | 'aggregator'> {
  readonly values: readonly (BridgedSample | Omit<BridgedSample, 'sharedLabels'>)[];
}

type AnyRegistry = Registry<RegistryContentType>;

/** Gauges that have to drop idle sessions before they are read. */
const OF_SESSIONS: readonly string[] = [
  METRIC.sessions.name,
  METRIC.circuits.name,
  METRIC.budgetLimit.name,
  METRIC.budgetRemaining.name,
  METRIC.systemicActive.name,
];

const NO_LABELS: Labels = {};

const promLabels = new WeakMap<object, Labels>();

const labelsOf = ({ attributes }: Pick<NumberSeries, 'attributes'>): Labels => {
  let labels = promLabels.get(attributes);
  if (labels === undefined) {
    labels = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [labelName(name), String(value)]));
    promLabels.set(attributes, labels);
  }
  return labels;
};

const promExemplar = (exemplar: Exemplar | undefined): BridgedExemplar | undefined =>
  exemplar && {
    labelSet: { trace_id: exemplar.traceId, span_id: exemplar.spanId },
    value: exemplar.value,
    timestamp: exemplar.unixSeconds,
  };

const numberSample = (reader: SeriesReader, series: NumberSeries): BridgedSample => ({
  labels: NO_LABELS,
  sharedLabels: labelsOf(series),
  value: series.value,
  exemplar: promExemplar(reader.exemplar(series)),
});

const histogramSamples = (
  reader: SeriesReader,
  { prometheus, bounds = [] }: ExportedMetric,
  series: HistogramSeries,
): BridgedSample[] => {
  const sharedLabels = labelsOf(series);
  const exemplars = reader.exemplars(series);
  let value = 0;
  const buckets = series.counts.map((count, bucket): BridgedSample => {
    value += count;
    return {
      metricName: `${prometheus}_bucket`,
      labels: { le: String(bounds[bucket] ?? '+Inf') },
      sharedLabels,
      value,
      exemplar: promExemplar(exemplars[bucket]),
    };
  });
  return [
    ...buckets,
    { metricName: `${prometheus}_sum`, labels: NO_LABELS, sharedLabels, value: series.sum },
    { metricName: `${prometheus}_count`, labels: NO_LABELS, sharedLabels, value: countOf(series) },
  ];
};

const samplesOf = (reader: SeriesReader, metric: ExportedMetric): BridgedSample[] => {
  if (metric.kind === 'histogram') {
    return [...reader.histograms(metric)].flatMap((series) => histogramSamples(reader, metric, series));
  }
  if (OF_SESSIONS.includes(metric.name)) reader.retireIdle();
  return Array.from(scrapedNumbers(reader, metric), (series) => numberSample(reader, series));
};

const flat = ({ sharedLabels, labels, ...sample }: BridgedSample): Omit<BridgedSample, 'sharedLabels'> => ({
  ...sample,
  labels: { ...labels, ...sharedLabels },
});

export const isOpenMetrics = ({ contentType }: AnyRegistry): boolean =>
  contentType.startsWith('application/openmetrics-text');

/** A metric of the telemetry contract. Its values are read when prom-client asks for them. */
export const bridgedMetric = (metric: ExportedMetric, reader: SeriesReader, registry: AnyRegistry): BridgedMetric => {
  const { prometheus, description, kind } = metric;
  const base = {
    name: prometheus,
    help: description,
    type: PROM_TYPE[kind],
    // Across the workers of a cluster: the latest opening time for the gauge, the sum for every other metric.
    aggregator: kind === 'gauge' ? 'max' : 'sum',
  } as const;
  // prom-client adds `_total` to the name of each counter, but only in OpenMetrics text.
  const textName = (): string =>
    kind === 'counter' && isOpenMetrics(registry) ? prometheus.replace(/_total$/, '') : prometheus;
  return {
    ...base,
    getForPromString: async () => ({ ...base, name: textName(), values: samplesOf(reader, metric) }),
    get: async () => ({ ...base, values: samplesOf(reader, metric).map(flat) }),
    reset: () => {},
  };
};
