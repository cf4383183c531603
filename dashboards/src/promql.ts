import { ERROR_CATEGORIES, type ReportedState } from '@breakerbox/core';
import {
  ATTR,
  type AttributeKey,
  type AttributeValues,
  type GroupKey,
  label,
  METRIC,
  type MetricDefinition,
} from './names.ts';

/**
 * PromQL in the forms that the dashboards need. Three rules hold throughout. Aggregations name the labels that they keep, so that
 * `otel_scope_*` labels and instances never split a series. A share is never NaN when nothing happened. Series that may not exist yet are
 * drawn as zero while agents report, so that 'no data' means 'no telemetry'.
 */

/**
 * The possible values of an attribute. Only values that core can emit compile. A missing series is drawn as zero, so a misspelt value would
 * give a panel that always shows zero, without an error.
 */
export type Matchers = { readonly [Key in keyof AttributeValues]?: readonly AttributeValues[Key][] };

/**
 * `$__rate_interval` follows the zoom and the scrape interval, and `$__range` is the whole time range shown. The other windows are those of
 * the alerts, for any time range. The part after a colon is the step.
 */
export const WINDOWS = [
  '$__rate_interval',
  '$__range',
  '5m',
  '30m',
  '1h',
  '6h',
  '1h:1m',
  '6h:5m',
  '2d:10m',
  '4d:10m',
  '$__range:$__interval',
] as const;
export type Window = (typeof WINDOWS)[number];

/** A matcher of one or several values. */
export const matcher = (name: string, values: readonly string[]): string =>
  values.length === 1 ? `${name}="${values[0]}"` : `${name}=~"${values.join('|')}"`;

/**
 * Series of a metric, filtered by the dashboard's variables, and by `$tool` if the metric has tools.
 * @param more matchers in PromQL
 */
export const series = (
  metric: MetricDefinition,
  matchers: Matchers = {},
  suffix: '' | '_bucket' | '_sum' = '',
  more: readonly string[] = [],
): string =>
  `${metric.prometheus}${suffix}{${[
    'job=~"$job"',
    'instance=~"$instance"',
    `${label(ATTR.agent)}=~"$agent"`,
    ...(metric.per === 'tool' ? [`${label(ATTR.tool)}=~"$tool"`] : []),
    ...Object.entries(matchers).map(([key, values]) => matcher(label(key as AttributeKey), values)),
    ...more,
  ].join(', ')}}`;

const grouping = (keys: readonly string[]): string => keys.join(', ');

/** `sum by (…)`; one total without attributes. */
export const sumBy = (by: readonly GroupKey[], expr: string): string =>
  by.length === 0 ? `sum(${expr})` : `sum by (${grouping(by.map(label))}) (${expr})`;

/** Events per second. */
export const rate = (metric: MetricDefinition, window: Window, matchers?: Matchers): string =>
  `rate(${series(metric, matchers)}[${window}])`;

/**
 * The increase of a counter in the window, including its first value. `increase()` ignores the first sample of a series, and a
 * short-lived agent is often scraped for the first time after its first session started. It also extrapolates to the whole window, so
 * that one event would be 1.33; the result is rounded. Over the whole range, where counts are large and must match the engine's, it is the
 * last value minus the value before the window, and `increase()` is used only if the counter restarted. The caller sums
 * the parts.
 *
 * The first value counts if the series was not seen in the hour before the window. A counter that comes back after a gap in the scrapes
 * counts nothing twice if the gap is shorter than that hour. After a longer gap, its whole total counts as new, once. Looking back further
 * would make each step of a graph read that much more.
 */
export const gained = (metric: MetricDefinition, window: Window, matchers?: Matchers): string => {
  const about = gainedAbout(metric, window, matchers);
  if (window !== '$__range') return about;
  const counter = series(metric, matchers);
  const [least, before] = [`min_over_time(${counter}[${window}])`, `last_over_time(${counter}[1h] offset ${window})`];
  const restarted = `(resets(${counter}[${window}]) > 0 or ${least} < ${before})`;
  const most = `max_over_time(${counter}[${window}])`;
  return `((${about} and ignoring (born) ${restarted}) or ignoring (born) (${most} - ${before} or ${most}))`;
};

/** {@link gained} by `increase()`, over any window. Short, for ranking. */
export const gainedAbout = (metric: MetricDefinition, window: Window, matchers?: Matchers): string => {
  const counter = series(metric, matchers);
  const born = `min_over_time(${counter}[${window}]) unless last_over_time(${counter}[1h] offset ${window})`;
  // A label keeps apart series of which `or` would drop one, so that each step of a graph queries nothing twice. The caller sums it.
  return `(round(increase(${counter}[${window}])) or label_replace(${born}, "born", "yes", "", ""))`;
};

/**
 * The increase of a counter around each point of a graph, without its first value. For counters with so many series that {@link gained}
 * would cost too much at every step. Such counters usually exist before they count anything.
 */
export const grew = (metric: MetricDefinition, matchers?: Matchers): string =>
  `round(increase(${series(metric, matchers)}[$__rate_interval]))`;

/** A share from 0 to 1, and 0 if the whole is zero. Both sides keep the same labels. */
export const share = (part: string, whole: string): string => `${part} / (${whole} > 0) or ${whole} * 0`;

const FAILURE = { [ATTR.outcome]: ['failure'] } satisfies Matchers;
const SUCCESS = { [ATTR.outcome]: ['success'] } satisfies Matchers;
/** Without ignored outcomes, which the caller causes: they say nothing about the tool. */
const JUDGED = { [ATTR.outcome]: ['success', 'failure'] } satisfies Matchers;
const NOT_RUN = { [ATTR.decision]: ['skip', 'pause'] } satisfies Matchers;

/** Failures divided by calls that succeeded or failed, as in the alert on error rates. */
export const failedShare = (by: readonly GroupKey[], window: Window): string =>
  `${sumBy(by, rate(METRIC.outcomes, window, FAILURE))} / (${sumBy(by, rate(METRIC.outcomes, window, JUDGED))} > 0) or ${sumBy(by, rate(METRIC.outcomes, window, SUCCESS))} * 0`;

/** The same over the whole time range, with the same result at each step, for ranking. */
export const failedOverall = (by: readonly GroupKey[]): string =>
  share(sumBy(by, overall(METRIC.outcomes, FAILURE)), sumBy(by, overall(METRIC.outcomes, JUDGED)));

/** Errors of the tool that count in no circuit, not even in that of a key: calls that were neither denied nor cancelled. */
const NOT_COUNTED = {
  [ATTR.outcome]: ['ignored'],
  [ATTR.blames]: [''],
  [ATTR.errorType]: ERROR_CATEGORIES.filter((category) => category !== 'denied' && category !== 'cancelled'),
} satisfies Matchers;

/**
 * Errors that are not counted divided by all calls: high for a broken tool whose errors are not worded like an outage. No value for tools
 * without such errors, because the calls of a large fleet are many series to read twice.
 */
export const notCountedShare = (by: readonly GroupKey[], window: Window): string =>
  `${sumBy(by, rate(METRIC.errors, window, NOT_COUNTED))} / (${sumBy(by, rate(METRIC.outcomes, window))} > 0)`;

/** Skips and pauses per second. */
export const notRun = (window: Window): string => rate(METRIC.decisions, window, NOT_RUN);

/** Skips and pauses divided by all decisions. */
export const notRunShare = (by: readonly GroupKey[], window: Window): string =>
  share(sumBy(by, notRun(window)), sumBy(by, rate(METRIC.decisions, window)));

/** Circuits in the given states; 0 for tools that have none, or whose agents do not know these states. */
export const circuitsIn = (by: readonly GroupKey[], states: readonly ReportedState[]): string =>
  `${sumBy(by, series(METRIC.circuits, { [ATTR.state]: states }))} or ${sumBy(by, series(METRIC.circuits))} * 0`;

/**
 * Keeps the `limit` groups that rank highest. The rank must be the same at all steps of a graph; otherwise hundreds of lines would each
 * appear for a moment. So evaluate it at the end of the range, with `[$__range] @ end()`.
 */
export const highest = (expr: string, limit: number, by: readonly GroupKey[], rank: string): string =>
  `(${expr}) and on (${grouping(by.map(label))}) topk(${limit}, ${rank})`;

/** Events per second over the whole time range, with the same result at each step, for ranking. */
export const overall = (metric: MetricDefinition, matchers?: Matchers, suffix: '' | '_sum' = ''): string =>
  `rate(${series(metric, matchers, suffix)}[$__range] @ end())`;

/** The mean number of circuits that were not closed in the whole time range, for ranking. */
export const trouble = (by: readonly GroupKey[]): string =>
  sumBy(
    by,
    `avg_over_time(${series(METRIC.circuits, { [ATTR.state]: ['open', 'half_open', 'forced_open'] })}[$__range] @ end())`,
  );

/** Observations per second in the buckets of a classic histogram. Each bucket includes those below it. */
export const buckets = (metric: MetricDefinition, by: readonly GroupKey[], window: Window): string =>
  `sum by (${grouping(['le', ...by.map(label)])}) (rate(${series(metric, {}, '_bucket')}[${window}]))`;

/**
 * No value, but the exemplars of a histogram. Prometheus looks for the exemplars of all selectors of a query, whatever its times, and no
 * series has a sample at the time 0. So the series of a large fleet are not read.
 */
export const exemplarsOf = (metric: MetricDefinition): string =>
  `sum(${series(metric, {}, '_bucket')} @ 0 or ${series(metric)} @ 0)`;

/** Observations per second in a native histogram: Prometheus can convert classic ones, and OTLP sends exponential ones as such. */
export const native = (metric: MetricDefinition, by: readonly GroupKey[], window: Window): string =>
  sumBy(by, rate(metric, window));

/** A quantile of a histogram, classic or else native. `>= 0` drops the NaN of a group without observations. */
export const quantile = (
  q: number,
  metric: MetricDefinition,
  by: readonly GroupKey[],
  window: Window = '$__rate_interval',
): string =>
  `histogram_quantile(${q}, ${buckets(metric, by, window)}) >= 0 or ${nativeQuantile(q, metric, by, window)}`;

/** The same of a native histogram alone. */
export const nativeQuantile = (q: number, metric: MetricDefinition, by: readonly GroupKey[], window: Window): string =>
  `histogram_quantile(${q}, ${native(metric, by, window)}) >= 0`;
