import { SCOPE_NAME } from '@breakerbox/core';
import { readMetrics } from '@breakerbox/core/internal';
import { DataPointType, type MetricData, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { log } from './log.ts';
import { PROM_TYPE } from './prometheus-format.ts';

const isCounter = (metric: MetricData): boolean => metric.dataPointType === DataPointType.SUM && metric.isMonotonic;

/** The name that OpenTelemetry's serializer writes. The rules are copied from it, because it does not export them. */
export const scrapedName = (metric: MetricData): string => {
  const name = metric.descriptor.name.replace(/[^a-z0-9_]/gi, '_').replace(/_{2,}/g, '_');
  return isCounter(metric) && !name.endsWith('_total') ? `${name}_total` : name;
};

const typeOf = (metric: MetricData): string => {
  if (isCounter(metric)) return 'counter';
  if (metric.dataPointType === DataPointType.HISTOGRAM) return 'histogram';
  return metric.dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM ? 'untyped' : 'gauge';
};

const PARTS = ['_bucket', '_sum', '_count'];

/** Breakerbox's names in a scrape, with their types. */
const ourTypes = (): ReadonlyMap<string, string> =>
  new Map(
    readMetrics().flatMap(({ prometheus, kind }) => [
      [prometheus, PROM_TYPE[kind]] as const,
      ...(kind === 'histogram' ? PARTS.map((part) => [prometheus + part, 'part'] as const) : []),
    ]),
  );

const warned = new Set<string>();
const warnOnce = (name: string, other: string, scope: string): void => {
  if (warned.has(name)) return;
  warned.add(name);
  log(
    'warn',
    `Breakerbox telemetry: the metric "${other}" of "${scope}" is left out of /metrics. It would be scraped as ${name}, and Breakerbox has a metric of that name with another type. Rename your metric in the code or with a View.`,
  );
};

/**
 * The metrics without those of others that would be scraped under a Breakerbox name with another type. A scrape allows one type
 * for a name, and the serializer would drop both.
 */
export const withoutClashes = (metrics: ResourceMetrics): ResourceMetrics => {
  const ours = ourTypes();
  const stays = (scope: string, metric: MetricData): boolean => {
    const name = scrapedName(metric);
    const type = ours.get(name);
    if (scope === SCOPE_NAME || type === undefined || type === typeOf(metric)) return true;
    warnOnce(name, metric.descriptor.name, scope);
    return false;
  };
  const scopeMetrics = metrics.scopeMetrics.map((scoped) => ({
    ...scoped,
    metrics: scoped.metrics.filter((metric) => stays(scoped.scope.name, metric)),
  }));
  return { ...metrics, scopeMetrics };
};
