import { SCOPE_NAME } from '@breakerbox/core';
import type { ViewOptions } from '@opentelemetry/sdk-metrics';

/**
 * Series that one of our metrics may have. OpenTelemetry's 2000 is too few: 200 tools and `_OTHER`, by success, 8 categories
 * of failure and 4 of ignored outcomes, are 2613 for each agent, and whatever is over is lumped together without its labels.
 */
const SERIES_PER_METRIC = 20_000;

/**
 * Views that Breakerbox's metrics need: more series than OpenTelemetry's default of 2000 for each metric. Metrics of others
 * are left alone. {@link startTelemetry} uses them already; give them to an SDK of your own.
 *
 * @example
 * ```ts
 * new NodeSDK({ metricReaders: [new BreakerboxPrometheusExporter()], views: breakerboxViews }).start();
 * ```
 */
export const breakerboxViews: ViewOptions[] = [
  { meterName: SCOPE_NAME, instrumentName: '*', aggregationCardinalityLimit: SERIES_PER_METRIC },
];
