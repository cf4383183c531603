import type { Attributes } from '@opentelemetry/api';
import type { HistogramSeries, NumberSeries, SharedMetric, Source } from './copies.ts';
import { bucketOf, type Exemplar } from './durations.ts';
import { safely } from './safely.ts';

/** An error in another copy of this package must not prevent the report. */
const ask = <T>(run: () => T): T | undefined => safely('another copy of @breakerbox/core', run);

const keys = new WeakMap<Attributes, string>();

/** The same string for the same attributes, in any order. */
const keyOf = (attributes: Attributes): string => {
  let key = keys.get(attributes);
  if (key === undefined) {
    key = JSON.stringify(Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1)));
    keys.set(attributes, key);
  }
  return key;
};

const later = (one: Exemplar | undefined, other: Exemplar | undefined): Exemplar | undefined =>
  one === undefined || (other !== undefined && other.unixSeconds > one.unixSeconds) ? other : one;

/** One series for all with the same attributes. The attributes of the first one are kept. */
const joined = <T extends { readonly attributes: Attributes }>(
  all: Iterable<T>,
  join: (one: T, other: T) => T,
): T[] => {
  const byKey = new Map<string, T>();
  for (const one of all) {
    const key = keyOf(one.attributes);
    const found = byKey.get(key);
    byKey.set(key, found === undefined ? one : join(found, one));
  }
  return [...byKey.values()];
};

/** Every metric that a source counts, as the first source describes it. */
export const metricsOf = (sources: Iterable<Source>): SharedMetric[] => {
  const byName = new Map<string, SharedMetric>();
  for (const { metrics } of sources) {
    for (const metric of metrics) if (!byName.has(metric.name)) byName.set(metric.name, metric);
  }
  return [...byName.values()];
};

/** Unix milliseconds from which the first source counts a metric; 0 if no source counts it. */
export const sinceMsOf = (sources: Iterable<Source>, name: string): number => {
  const begun = [...sources].flatMap((source) => ask(() => source.sinceMs(name)) || []);
  return begun.length === 0 ? 0 : Math.min(...begun);
};

/** The series of all sources: sums, or for gauges that are points in time, the last. */
export const numbersOf = (sources: Iterable<Source>, { name, kind }: SharedMetric): NumberSeries[] =>
  joined(
    [...sources].flatMap((source) => ask(() => source.read(name))?.numbers ?? []),
    (one, other) => ({
      attributes: one.attributes,
      value: kind === 'gauge' ? Math.max(one.value, other.value) : one.value + other.value,
      exemplar: later(one.exemplar, other.exemplar),
    }),
  );

type Bounds = readonly number[];

/** Converts to other buckets. For a bucket whose bound isn't among them, only its upper bound is known. */
const rebound = (series: HistogramSeries, from: Bounds, to: Bounds): HistogramSeries => {
  const counts = new Array<number>(to.length + 1).fill(0);
  const exemplars: (Exemplar | undefined)[] = [];
  for (const [index, count] of series.counts.entries()) {
    const bucket = bucketOf(to, from[index] ?? Number.POSITIVE_INFINITY);
    counts[bucket] = (counts[bucket] ?? 0) + count;
  }
  for (const exemplar of series.exemplars ?? []) {
    if (exemplar === undefined) continue;
    const bucket = bucketOf(to, exemplar.value);
    exemplars[bucket] = later(exemplars[bucket], exemplar);
  }
  return { ...series, counts, exemplars };
};

const add = (one: HistogramSeries, other: HistogramSeries): HistogramSeries => ({
  attributes: one.attributes,
  counts: one.counts.map((count, bucket) => count + (other.counts[bucket] ?? 0)),
  sum: one.sum + other.sum,
  min: Math.min(one.min, other.min),
  max: Math.max(one.max, other.max),
  exemplars: one.counts.map((_, bucket) => later(one.exemplars?.[bucket], other.exemplars?.[bucket])),
});

/** The series of all sources, in the buckets of the first that has the metric. */
export const histogramsOf = (sources: Iterable<Source>, { name }: Pick<SharedMetric, 'name'>): HistogramSeries[] => {
  const boundsIn = (all: Iterable<Source>): Bounds => metricsOf(all).find((one) => one.name === name)?.bounds ?? [];
  const bounds = boundsIn(sources);
  const inBounds = (source: Source): HistogramSeries[] =>
    (ask(() => source.read(name))?.histograms ?? []).map((series) => rebound(series, boundsIn([source]), bounds));
  return joined([...sources].flatMap(inBounds), add);
};
