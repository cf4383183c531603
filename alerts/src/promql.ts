import {
  ATTR,
  GROUP_PREFIX,
  METRIC,
  type MetricDefinition,
  MODEL_PREFIX,
  OTHER_TOOL,
  type Outcome,
  type Reason,
  type ReportedState,
  type SessionState,
} from '@breakerbox/core';

export { ATTR, METRIC, type MetricDefinition };

type AttributeKey = (typeof ATTR)[keyof typeof ATTR];

/** The Prometheus label of an attribute: `gen_ai_tool_name`. */
export const label = (attribute: AttributeKey): string => attribute.replaceAll('.', '_');

export const AGENT = label(ATTR.agent);
export const TOOL = label(ATTR.tool);
export const ERROR = label(ATTR.errorType);
export const SUSPECT = label(ATTR.suspect);
export const PRIMARY = label(ATTR.primary);
export const LIMIT = label(ATTR.limit);
export const CURRENCY = label(ATTR.currency);

const MODEL_NAMES = `(?:${GROUP_PREFIX})?${MODEL_PREFIX}.+`;
/** L7: models, and the groups of their providers. Their circuits have names of tools. */
export const MODELS = `${TOOL}=~"${MODEL_NAMES}"`;
/** `_OTHER` collects all tools without a name of their own, so it is not a tool. Neither is a model (L7). */
export const ONLY_TOOLS = `${TOOL}!~"${OTHER_TOOL}|${MODEL_NAMES}"`;

/** The labels that series are grouped by. Naming them keeps instances and library versions from splitting a series. */
export const BY_AGENT = `job, ${AGENT}`;
export const BY_TOOL = `job, ${AGENT}, ${TOOL}`;

/** Values that core can emit. The types catch a misspelt value, which would never match. */
interface Values {
  readonly [ATTR.state]: ReportedState;
  readonly [ATTR.stateFrom]: ReportedState;
  readonly [ATTR.stateTo]: ReportedState;
  readonly [ATTR.outcome]: Outcome;
  readonly [ATTR.reason]: Reason;
  readonly [ATTR.decision]: 'call' | 'probe' | 'skip' | 'pause';
  readonly [ATTR.sessionState]: SessionState;
  readonly [ATTR.position]: 'primary' | 'fallback';
  readonly [ATTR.limitLevel]: 'advised' | 'reached' | 'observed';
}
export type Matchers = { readonly [Key in keyof Values]?: readonly Values[Key][] };

/** The states in which a circuit itself keeps calls from the tool. An operator who forces one open knows it. */
export const NOT_CLOSED: readonly ReportedState[] = ['open', 'half_open'];

const matcher = (key: string, values: readonly string[]): string =>
  values.length === 1 ? `${key}="${values[0]}"` : `${key}=~"${values.join('|')}"`;

/** Matchers for a recorded series, in braces. */
export const matching = (matchers: Matchers): string =>
  `{${Object.entries(matchers)
    .map(([key, values]) => matcher(label(key as AttributeKey), values))
    .join(', ')}}`;

/** Writes selectors of raw series. All rules use it, so that your own selector is in each query. */
export type Series = (
  metric: MetricDefinition,
  matchers?: Matchers,
  extra?: string,
  suffix?: '' | '_bucket' | '_count',
) => string;

/** @param selector matchers that narrow each selector, such as `job=~"agents-.+"`. */
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

/** An expression in brackets, on one line if it is short. */
export const bracketed = (expr: string): string =>
  expr.includes('\n') || expr.length > 100 ? `(\n${indented(expr)}\n)` : `(${expr})`;

/** `sum by (…) (…)`. */
export const aggregated = (operator: 'sum' | 'max' | 'count', by: string, expr: string): string =>
  `${operator} by (${by}) ${bracketed(expr)}`;

/** One operand per line. */
export const joined = (operator: string, ...operands: readonly string[]): string => operands.join(`\n${operator}\n`);
