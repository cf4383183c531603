import { GROUP_PREFIX, type ReportedState } from '@breakerbox/core';
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
 * PromQL in the forms that the dashboards need. Three habits run through them: aggregations always name what they keep,
 * so that `otel_scope_*` labels and instances never split a series; a share has no NaN when nothing happened; and what
 * might not exist yet is drawn as zero as long as the agents report at all, so that 'no data' means 'no telemetry'.
 */

/**
 * Values that an attribute may have. Only those that core can emit compile: zero is drawn for what isn't there, so a
 * misspelt one would give a panel that shows zero for ever, and no error.
 */
export type Matchers = { readonly [Key in keyof AttributeValues]?: readonly AttributeValues[Key][] };

/**
 * `$__rate_interval` follows the zoom and the scrape interval, `$__range` is all that the dashboard shows. The others are
 * those of the alerts, whatever is shown; after a colon, how often to look.
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

const matcher = (name: string, values: readonly string[]): string =>
  values.length === 1 ? `${name}="${values[0]}"` : `${name}=~"${values.join('|')}"`;

/**
 * Series of a metric, narrowed by the dashboard's variables: by `$tool` too where the metric has tools.
 * @param more matchers as PromQL has them
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
    ...(metric.scope === 'tool' ? [`${label(ATTR.tool)}=~"$tool"`] : []),
    ...Object.entries(matchers).map(([key, values]) => matcher(label(key as AttributeKey), values)),
    ...more,
  ].join(', ')}}`;

const grouping = (keys: readonly string[]): string => keys.join(', ');

/** `sum by (…)`; without attributes one total. */
export const sumBy = (by: readonly GroupKey[], expr: string): string =>
  by.length === 0 ? `sum(${expr})` : `sum by (${grouping(by.map(label))}) (${expr})`;

/** Events a second. */
export const rate = (metric: MetricDefinition, window: Window, matchers?: Matchers): string =>
  `rate(${series(metric, matchers)}[${window}])`;

/**
 * What a counter gained in the window, and what it was born with. `increase()` sees nothing of a series whose first
 * sample isn't zero, and a short-lived agent is often scraped for the first time after its first session has been
 * started. And it stretches what it saw to the whole window, so that one event would read 1.33: that is rounded.
 * Over longer windows, where counts are large and must be what the engine counted, it is the counter's last value less the
 * one before the window, and `increase()` only where the counter was started anew.
 *
 * Born means: not seen in the hour before the window. A counter that comes back after a gap in the scrapes counts nothing
 * twice while the gap is shorter than that hour; after a longer one all that it ever counted shows as new, once. To look
 * back further would make each graph read that much more at each of its steps.
 */
export const gained = (metric: MetricDefinition, window: Window, matchers?: Matchers): string => {
  const counter = series(metric, matchers);
  const least = `min_over_time(${counter}[${window}])`;
  const before = `last_over_time(${counter}[1h] offset ${window})`;
  const increase = `round(increase(${counter}[${window}]))`;
  // At each step of a graph nothing is asked twice: a label keeps apart what `or` would take one of. It is to be summed.
  if (window === '$__rate_interval') {
    return `(${increase} or label_replace(${least} unless ${before}, "born", "yes", "", ""))`;
  }
  const stretched = `${increase} + (${least} unless ${before}) or ${increase}`;
  const restarted = `(resets(${counter}[${window}]) > 0 or ${least} < ${before})`;
  const counted = `max_over_time(${counter}[${window}]) - (${before} or ${least} * 0) unless ${restarted}`;
  return `(${counted} or ${stretched})`;
};

/**
 * What a counter grew by around each point of a graph. Without what it was born with: for counters with so many series that
 * {@link gained} is too much to ask at every step, and that are mostly there before they have something to tell.
 */
export const grew = (metric: MetricDefinition, matchers?: Matchers): string =>
  `round(increase(${series(metric, matchers)}[$__rate_interval]))`;

/** A share from 0 to 1, and 0 where the whole is nothing. Both sides keep the same labels. */
export const share = (part: string, whole: string): string => `${part} / (${whole} > 0) or ${whole} * 0`;

const FAILURE = { [ATTR.outcome]: ['failure'] } satisfies Matchers;
const SUCCESS = { [ATTR.outcome]: ['success'] } satisfies Matchers;
/** Ignored outcomes are the caller's own doing: they say nothing of the tool. */
const JUDGED = { [ATTR.outcome]: ['success', 'failure'] } satisfies Matchers;
const NOT_RUN = { [ATTR.decision]: ['skip', 'pause'] } satisfies Matchers;

/** Failures over calls that succeeded or failed, as the alert on error rates has it. */
export const failedShare = (by: readonly GroupKey[], window: Window): string =>
  `${sumBy(by, rate(METRIC.outcomes, window, FAILURE))} / (${sumBy(by, rate(METRIC.outcomes, window, JUDGED))} > 0) or ${sumBy(by, rate(METRIC.outcomes, window, SUCCESS))} * 0`;

/** The same over all that is shown, the same at each step: something to rank by. */
export const failedOverall = (by: readonly GroupKey[]): string =>
  share(sumBy(by, overall(METRIC.outcomes, FAILURE)), sumBy(by, overall(METRIC.outcomes, JUDGED)));

/** Skips and pauses a second. */
export const notRun = (window: Window): string => rate(METRIC.decisions, window, NOT_RUN);

/** Skips and pauses over all decisions. */
export const notRunShare = (by: readonly GroupKey[], window: Window): string =>
  share(sumBy(by, notRun(window)), sumBy(by, rate(METRIC.decisions, window)));

/** Zero for whatever agents report at all. */
const silence = (): string => `sum(${series(METRIC.sessions)}) * 0`;

/** One total; 0 where the series don't exist while agents report. */
export const orZero = (expr: string): string => `${expr} or ${silence()}`;

/** Zero while agents report, with a label that says of what. */
export const zeroNamed = (attribute: string, text: string): string =>
  `label_replace(${silence()}, "${attribute}", "${text}", "", "")`;

/**
 * Several series; where there are none while agents report, one zero whose `attribute` says so.
 * @param text shown in the legend, such as `none`
 */
export const orZeroNamed = (expr: string, attribute: AttributeKey, text: string): string =>
  `(${expr}) or on () ${zeroNamed(label(attribute), text)}`;

const GROUPS = `${label(ATTR.tool)}=~"${GROUP_PREFIX}.+"`;
const NO_GROUPS = `${label(ATTR.tool)}!~"${GROUP_PREFIX}.+"`;

/** The name of a zero that is drawn where nothing but circuits of groups is chosen, and calls are asked for. */
export const GROUP_NOTE = 'a group has no calls of its own';

/** Circuits of groups, where nothing else is chosen. */
const groupsAlone = (): string =>
  `(${sumBy([], series(METRIC.circuits, {}, '', [GROUPS]))} unless on () ${sumBy([], series(METRIC.circuits, {}, '', [NO_GROUPS]))})`;

/** Agents whose circuits of groups are chosen. */
export const agentsOfGroups = (by: readonly GroupKey[]): string =>
  `count(${sumBy(by, series(METRIC.circuits, {}, '', [GROUPS]))})`;

/** One total about calls; -1 where only groups are chosen, which have none. */
export const orGroup = (expr: string): string => `(${expr}) or (${groupsAlone()} * 0 - 1) or ${silence()}`;

/** Several series about calls; where only groups are chosen, one zero that says so, and else as {@link orZeroNamed}. */
export const orGroupNamed = (expr: string, attribute: AttributeKey, text: string): string =>
  `(${expr}) or on () label_replace(${groupsAlone()} * 0, "${label(attribute)}", "${GROUP_NOTE}", "", "") or on () ${zeroNamed(label(attribute), text)}`;

/** Circuits in the given states; 0 for tools that have none, or whose agents don't know these states. */
export const circuitsIn = (by: readonly GroupKey[], states: readonly ReportedState[]): string =>
  `${sumBy(by, series(METRIC.circuits, { [ATTR.state]: states }))} or ${sumBy(by, series(METRIC.circuits))} * 0`;

/**
 * Keeps those `limit` groups that rank highest. The rank must not change from one step of a graph to the next, or
 * hundreds of lines would each have their moment: let it look at the end of the range, with `[$__range] @ end()`.
 */
export const highest = (expr: string, limit: number, by: readonly GroupKey[], rank: string): string =>
  `(${expr}) and on (${grouping(by.map(label))}) topk(${limit}, ${rank})`;

/** Events a second over all that is shown, the same at each step: something to rank by. */
export const overall = (metric: MetricDefinition, matchers?: Matchers, suffix: '' | '_sum' = ''): string =>
  `rate(${series(metric, matchers, suffix)}[$__range] @ end())`;

/** How many circuits weren't closed, on average over all that is shown: something to rank by. */
export const trouble = (by: readonly GroupKey[]): string =>
  sumBy(
    by,
    `avg_over_time(${series(METRIC.circuits, { [ATTR.state]: ['open', 'half_open', 'forced_open'] })}[$__range] @ end())`,
  );

/** Observations a second in the buckets of a classic histogram, each with those below it. */
export const buckets = (metric: MetricDefinition, by: readonly GroupKey[], window: Window): string =>
  `sum by (${grouping(['le', ...by.map(label)])}) (rate(${series(metric, {}, '_bucket')}[${window}]))`;

/** A quantile of a classic histogram. `>= 0` drops the NaN of a group with no observation. */
export const quantile = (
  q: number,
  metric: MetricDefinition,
  by: readonly GroupKey[],
  window: Window = '$__rate_interval',
): string => `histogram_quantile(${q}, ${buckets(metric, by, window)}) >= 0`;
