import { SCOPE_NAME } from '@breakerbox/core';
import type { ViewOptions } from '@opentelemetry/sdk-metrics';

/**
 * The most series that one Breakerbox metric may have. OpenTelemetry's 2000 is too few: 200 tools and `_OTHER`, by up to
 * 19 reasons for a decision, are 3819 for each agent. Series above the limit lose their labels.
 */
const SERIES_PER_METRIC = 20_000;

/**
 * Views that Breakerbox's metrics need: a higher limit of series for each metric than OpenTelemetry's default of 2000. Metrics of
 * others are not changed. {@link startTelemetry} uses them already; add them to an SDK of your own.
 *
 * @example
 * ```ts
 * new NodeSDK({ metricReaders: [new BreakerboxPrometheusExporter()], views: breakerboxViews }).start();
 * ```
 */
export const breakerboxViews: ViewOptions[] = [
  { meterName: SCOPE_NAME, instrumentName: '*', aggregationCardinalityLimit: SERIES_PER_METRIC },
];
