import type { Span } from '@opentelemetry/api';
import { reportThrown } from '../safely.ts';
import { DURATION_BUCKETS } from './semconv.ts';
import type { DurationSeries, Exemplars, Series } from './series.ts';

/** The first bucket whose bound isn't below the value. A bound belongs to its bucket. */
export const bucketOf = (bounds: readonly number[], value: number): number => {
  let bucket = 0;
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
  return bucket;
};

/** Counts a call. */
export const addDuration = (series: DurationSeries, seconds: number): void => {
  const bucket = bucketOf(DURATION_BUCKETS, seconds);
  series.counts[bucket] = (series.counts[bucket] as number) + 1;
  series.sum += seconds;
  if (seconds < series.min) series.min = seconds;
  if (seconds > series.max) series.max = seconds;
};

/** Number of calls in a series. */
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
