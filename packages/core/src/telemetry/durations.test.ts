import { TraceFlags, trace } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { addDuration, countOf, keepExemplars } from './durations.ts';
import { DURATION_BUCKETS } from './semconv.ts';
import { createDurationSeries, type Exemplars, type Series } from './series.ts';

const spanOf = (traceFlags: number) =>
  trace.wrapSpanContext({ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags });

describe('a series of durations', () => {
  test('a bound belongs to the bucket below it, and what is over all bounds to the last', () => {
    const series = createDurationSeries({});
    for (const seconds of [0, ...DURATION_BUCKETS, 1e6]) addDuration(series, seconds);
    expect(series.counts).toEqual([2, ...DURATION_BUCKETS.slice(1).map(() => 1), 1]);
    expect(countOf(series)).toBe(DURATION_BUCKETS.length + 2);
  });

  test('has sum, least and most', () => {
    const series = createDurationSeries({});
    for (const seconds of [3, 0.5, 7]) addDuration(series, seconds);
    expect(series).toMatchObject({ sum: 10.5, min: 0.5, max: 7 });
  });
});

describe('exemplars', () => {
  const setUp = () => {
    const exemplars: Exemplars = { durations: new Map(), failures: new Map() };
    const failed: Series = { attributes: {}, value: 1 };
    return { exemplars, series: createDurationSeries({}), failed };
  };

  test('are the last sampled call of each bucket, and of a failure', () => {
    const { exemplars, series, failed } = setUp();
    keepExemplars(exemplars, series, 0.015, spanOf(TraceFlags.SAMPLED), undefined);
    keepExemplars(exemplars, series, 0.02, spanOf(TraceFlags.SAMPLED), failed);
    const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
    expect(exemplars.durations.get(series)).toEqual([
      undefined,
      { ...ids, value: 0.02, unixSeconds: expect.any(Number) },
    ]);
    expect(exemplars.failures.get(failed)).toEqual({ ...ids, value: 1, unixSeconds: expect.any(Number) });
  });

  test('are none of a span that is not recorded', () => {
    const { exemplars, series, failed } = setUp();
    keepExemplars(exemplars, series, 1, spanOf(TraceFlags.NONE), failed);
    expect(exemplars.durations.size + exemplars.failures.size).toBe(0);
  });

  test('are none of a span that throws, and the call goes on', () => {
    const { exemplars, series, failed } = setUp();
    const broken = {
      ...spanOf(TraceFlags.SAMPLED),
      spanContext: () => {
        throw new Error('no context');
      },
    };
    keepExemplars(exemplars, series, 1, broken as never, failed);
    expect(exemplars.durations.size).toBe(0);
  });
});
