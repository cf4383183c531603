import type { Attributes, Span } from '@opentelemetry/api';
import type { Cell } from './metrics.ts';
import { reportThrown } from './safely.ts';
import { DURATION_BUCKETS } from './semconv.ts';

/** One series of the duration histogram. It takes ten nanoseconds a call, an SDK's own histogram 700. */
export interface DurationCell {
  readonly attributes: Attributes;
  /** Calls by bucket, not cumulative; one more than there are bounds. */
  readonly counts: number[];
  /** Seconds, as are `min` and `max`. */
  sum: number;
  min: number;
  max: number;
}

/** An example call behind a number, with its trace. */
export interface Exemplar {
  readonly traceId: string;
  readonly spanId: string;
  /** The call's contribution to the number: its seconds, or 1. */
  readonly value: number;
  readonly unixSeconds: number;
}

/** Exemplars of the series that have any: the last call of each bucket, and the last failure of each outcome. */
export interface Exemplars {
  readonly durations: Map<DurationCell, (Exemplar | undefined)[]>;
  readonly failures: Map<Cell, Exemplar>;
}

/** A series without a call. */
export const createDurationCell = (attributes: Attributes): DurationCell => ({
  attributes,
  counts: new Array<number>(DURATION_BUCKETS.length + 1).fill(0),
  sum: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
});

/** The first bucket whose bound isn't below the value. A bound belongs to its bucket. */
export const bucketOf = (bounds: readonly number[], value: number): number => {
  let bucket = 0;
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
  return bucket;
};

/** Counts a call. */
export const addDuration = (cell: DurationCell, seconds: number): void => {
  const bucket = bucketOf(DURATION_BUCKETS, seconds);
  cell.counts[bucket] = (cell.counts[bucket] as number) + 1;
  cell.sum += seconds;
  if (seconds < cell.min) cell.min = seconds;
  if (seconds > cell.max) cell.max = seconds;
};

/** Number of calls in a series. */
export const countOf = ({ counts }: { readonly counts: readonly number[] }): number =>
  counts.reduce((sum, one) => sum + one, 0);

const SAMPLED = 1;

/** Keeps a call as an exemplar if its trace is recorded, because a link to an unrecorded trace leads nowhere. */
export const keepExemplars = (
  { durations, failures }: Exemplars,
  cell: DurationCell,
  seconds: number,
  span: Span,
  failed: Cell | undefined,
): void => {
  try {
    const { traceId, spanId, traceFlags } = span.spanContext();
    if ((traceFlags & SAMPLED) === 0) return;
    const unixSeconds = Date.now() / 1000;
    const buckets = durations.get(cell) ?? [];
    durations.set(cell, buckets);
    buckets[bucketOf(DURATION_BUCKETS, seconds)] = { traceId, spanId, value: seconds, unixSeconds };
    if (failed !== undefined) failures.set(failed, { traceId, spanId, value: 1, unixSeconds });
  } catch (error) {
    reportThrown('the span of a call', error);
  }
};
