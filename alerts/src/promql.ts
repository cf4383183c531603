import {
  ATTR,
  METRIC,
  type MetricDefinition,
  type Outcome,
  type Reason,
  type ReportedState,
  type SessionState,
} from '@breakerbox/core';
import { durationOf, seconds } from './duration.ts';

export { ATTR, METRIC };

type AttributeKey = (typeof ATTR)[keyof typeof ATTR];

/** The Prometheus label of an attribute: `gen_ai_tool_name`. */
export const label = (attribute: AttributeKey): string => attribute.replaceAll('.', '_');

export const AGENT = label(ATTR.agent);
export const TOOL = label(ATTR.tool);
export const ERROR = label(ATTR.errorType);

/** What series are grouped by, always named, so that instances and library versions never split one. */
export const BY_AGENT = `job, ${AGENT}`;
export const BY_TOOL = `job, ${AGENT}, ${TOOL}`;

/** Values that core can emit; a misspelt one would never match, and nobody would notice. */
interface Values {
  readonly [ATTR.state]: ReportedState;
  readonly [ATTR.stateFrom]: ReportedState;
  readonly [ATTR.stateTo]: ReportedState;
  readonly [ATTR.outcome]: Outcome;
  readonly [ATTR.reason]: Reason;
  readonly [ATTR.decision]: 'call' | 'probe' | 'skip' | 'pause';
  readonly [ATTR.sessionState]: SessionState;
}
export type Matchers = { readonly [Key in keyof Values]?: readonly Values[Key][] };

/** The states in which a circuit is kept from normal use. */
export const NOT_CLOSED: readonly ReportedState[] = ['open', 'half_open', 'forced_open'];

const matcher = (key: string, values: readonly string[]): string =>
  values.length === 1 ? `${key}="${values[0]}"` : `${key}=~"${values.join('|')}"`;

/** Writes selectors of raw series. Every one of the rules comes from here, so that a selector of one's own is in each. */
export type Series = (
  metric: MetricDefinition,
  matchers?: Matchers,
  extra?: string,
  suffix?: '' | '_bucket' | '_count',
) => string;

/** @param selector matchers that each selector is narrowed by, such as `job=~"agents-.+"`. */
export const seriesWith =
  (selector: string): Series =>
  (metric, matchers = {}, extra = '', suffix = '') => {
    const all = [
      ...Object.entries(matchers).map(([key, values]) => matcher(label(key as AttributeKey), values)),
      ...[extra, selector].filter((one) => one !== ''),
    ];
    return `${metric.prometheus}${suffix}${all.length === 0 ? '' : `{${all.join(', ')}}`}`;
  };

export const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

/** An expression in brackets, on one line where it is short. */
export const bracketed = (expr: string): string =>
  expr.includes('\n') || expr.length > 100 ? `(\n${indented(expr)}\n)` : `(${expr})`;

/** `sum by (…) (…)`. */
export const aggregated = (operator: 'sum' | 'max' | 'count', by: string, expr: string): string =>
  `${operator} by (${by}) ${bracketed(expr)}`;

/** One operand a line. */
export const joined = (operator: string, ...operands: readonly string[]): string => operands.join(`\n${operator}\n`);

/**
 * What counters gained in a window, summed: what they grew by, and what series that appeared in it were born with.
 * `increase()` sees nothing of a first sample, and a process that runs one session is often scraped for the first time after
 * that session's budget has been granted, or its circuit has opened.
 *
 * Born in the window means: not seen in the hours before it, while others of the same agent were, then and some minutes
 * earlier. Where the whole agent wasn't seen either, there was a hole in the scrapes, or the agent is new to this Prometheus,
 * and what its counters have gathered in their lives mustn't count as new. The minutes are for a Prometheus that has just
 * been started: it finds the processes of an agent one after the other.
 */
export const gained = (series: Series, counter: string, by: string, window: string): string =>
  aggregated(
    'sum',
    by,
    joined(
      'or',
      `increase(${counter}[${window}])`,
      `label_replace(\n${indented(`${born(series, counter, window)},\n"born", "yes", "", ""`)}\n)`,
    ),
  );

/** How far back a series is looked for. A day would be four times as dear: every sample in it is read at each evaluation. */
const LIFE_BEFORE = '6h';
/** Within this time, a Prometheus that starts has found all processes of an agent. */
const ALL_FOUND = '3m';

/** The label keeps what was born apart from what grew, or `or` would take one of the two. */
const born = (series: Series, counter: string, window: string): string =>
  [
    `min_over_time(${counter}[${window}])`,
    `unless last_over_time(${counter}[${LIFE_BEFORE}] offset ${window})`,
    `and on (${BY_AGENT}) sum by (${BY_AGENT}) (${series(METRIC.sessions)} offset ${window})`,
    `and on (${BY_AGENT}) sum by (${BY_AGENT}) (\n  last_over_time(${series(METRIC.sessions)}[5m] offset ${durationOf(seconds(window) + seconds(ALL_FOUND))})\n)`,
  ].join('\n');
