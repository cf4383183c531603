import { METRIC } from '@breakerbox/core';
import {
  type CellReader,
  countOf,
  type Exemplar,
  type HistogramSeries,
  type NumberSeries,
  type SharedMetric,
  scrapedNumbers,
} from '@breakerbox/core/internal';
import type { Aggregator, Registry, RegistryContentType } from 'prom-client';
import { labelName, PROM_TYPE } from './prom-words.ts';

type Labels = Readonly<Record<string, string>>;

/** One line of a scrape, as prom-client writes it down. */
export interface BridgedSample {
  /** Where it isn't the metric's own. */
  readonly metricName?: string;
  readonly labels: Labels;
  /** Written as text once, and kept by prom-client: so it has to be the same object at each scrape. */
  readonly sharedLabels: Labels;
  readonly value: number;
  readonly exemplar?: BridgedExemplar | undefined;
}

interface BridgedExemplar {
  readonly labelSet: { readonly trace_id: string; readonly span_id: string };
  readonly value: number;
  readonly timestamp: number;
}

/** What prom-client asks of a metric, as far as it isn't asked to count. */
export interface BridgedMetric {
  /** prom-client takes `_total` off itself where the registry is one for OpenMetrics. */
  name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: Aggregator;
  /** For the text of a scrape. */
  getForPromString(): Promise<BridgedFamily>;
  /** For everything else, such as what a worker of a cluster sends to its primary. */
  get(): Promise<BridgedFamily>;
  /** Nothing: what boxes have counted isn't prom-client's to forget. */
  reset(): void;
}

/** A metric at a scrape. */
export interface BridgedFamily extends Pick<BridgedMetric, 'name' | 'help' | 'type' | 'aggregator'> {
  readonly values: readonly (BridgedSample | Omit<BridgedSample, 'sharedLabels'>)[];
}

type AnyRegistry = Registry<RegistryContentType>;

/** Gauges that an idle session has to leave before they are read. */
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

const numberSample = (cells: CellReader, series: NumberSeries): BridgedSample => ({
  labels: NO_LABELS,
  sharedLabels: labelsOf(series),
  value: series.value,
  exemplar: promExemplar(cells.exemplar(series)),
});

const histogramSamples = (
  cells: CellReader,
  { prometheus, bounds = [] }: SharedMetric,
  series: HistogramSeries,
): BridgedSample[] => {
  const sharedLabels = labelsOf(series);
  const exemplars = cells.exemplars(series);
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

const samplesOf = (cells: CellReader, metric: SharedMetric): BridgedSample[] => {
  if (metric.kind === 'histogram') {
    return [...cells.histograms(metric)].flatMap((series) => histogramSamples(cells, metric, series));
  }
  if (OF_SESSIONS.includes(metric.name)) cells.retireIdle();
  return Array.from(scrapedNumbers(cells, metric), (series) => numberSample(cells, series));
};

const flat = ({ sharedLabels, labels, ...sample }: BridgedSample): Omit<BridgedSample, 'sharedLabels'> => ({
  ...sample,
  labels: { ...labels, ...sharedLabels },
});

export const isOpenMetrics = ({ contentType }: AnyRegistry): boolean =>
  contentType.startsWith('application/openmetrics-text');

/** A metric of the contract, read from the cells when prom-client asks for it. */
export const bridgedMetric = (metric: SharedMetric, cells: CellReader, registry: AnyRegistry): BridgedMetric => {
  const { prometheus, description, kind } = metric;
  const family = (name: string, values: BridgedFamily['values']): BridgedFamily => ({
    name,
    help,
    type,
    aggregator,
    values,
  });
  const help = description;
  const type = PROM_TYPE[kind];
  // Workers of a cluster: of the time of the last opening, the last; of all else, the sum.
  const aggregator = kind === 'gauge' ? 'max' : 'sum';
  return {
    name: prometheus,
    help,
    type,
    aggregator,
    // prom-client adds `_total` to the name of each counter in OpenMetrics' text, and there alone.
    getForPromString: async () =>
      family(
        type === 'counter' && isOpenMetrics(registry) ? prometheus.replace(/_total$/, '') : prometheus,
        samplesOf(cells, metric),
      ),
    get: async () => family(prometheus, samplesOf(cells, metric).map(flat)),
    reset: () => {},
  };
};
