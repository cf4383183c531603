import { ATTR, DEFAULT_JUDGEMENT, ERROR_CATEGORIES, METRIC, type MetricDefinition, REASONS } from '@breakerbox/core';
import { namesIn, selectorsIn } from '../../alerts/promql-names.ts';
import { ruleFiles } from '../../alerts/src/index.ts';

const labelOf = (attribute: string): string => attribute.replaceAll('.', '_');

const METRICS: readonly MetricDefinition[] = Object.values(METRIC);
const RECORDED = ruleFiles().flatMap(({ text }) =>
  [...text.matchAll(/record: "?([\w:]+)/g)].map(([, name = '']) => name),
);

/** What Prometheus itself puts to every series, or makes. */
const SCRAPED = ['job', 'instance'];
const LABELS = new Set([...SCRAPED, 'le', ...Object.values(ATTR).map(labelOf)]);

const labelsOf = ({ per, attributes, kind }: MetricDefinition): readonly string[] => [
  ...SCRAPED,
  ...[ATTR.agent, ...(per === 'tool' ? [ATTR.tool] : []), ...attributes].map(labelOf),
  ...(kind === 'histogram' ? ['le'] : []),
];

const LABELS_OF = new Map<string, readonly string[]>([
  ['up', SCRAPED],
  ...METRICS.flatMap((metric) =>
    ['', '_bucket', '_sum', '_count'].map((end): [string, readonly string[]] => [
      metric.prometheus + end,
      labelsOf(metric),
    ]),
  ),
  ...RECORDED.map((name): [string, readonly string[]] => [name, [...LABELS]]),
]);

/** What a label may be, for those that documents match. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  [labelOf(ATTR.decision)]: Object.values(REASONS),
  [labelOf(ATTR.reason)]: Object.keys(REASONS),
  [labelOf(ATTR.outcome)]: ['success', ...Object.values(DEFAULT_JUDGEMENT)],
  [labelOf(ATTR.errorType)]: ERROR_CATEGORIES,
};
/** Anything may be a name. */
const FREE = [...SCRAPED, labelOf(ATTR.agent), labelOf(ATTR.tool)];

const MATCHER = /(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g;

/** @throws where it asks for what nothing here exports, by a metric, a label or a label's value, or has a syntax error. */
export const checkPromql = (code: string): void => {
  const { metrics, labels } = namesIn(code.trim());
  for (const metric of metrics) {
    if (!LABELS_OF.has(metric)) throw new Error(`asks for ${metric}, which nothing here exports or records.`);
  }
  for (const label of labels) {
    if (!LABELS.has(label)) throw new Error(`asks for the label ${label}, which nothing here has.`);
  }
  for (const { metric, text } of selectorsIn(code.trim())) {
    for (const [, label = '', value = ''] of text.matchAll(MATCHER)) {
      if (!LABELS_OF.get(metric)?.includes(label)) throw new Error(`asks for ${label} of ${metric}, which has none.`);
      const known = VALUES[label] ?? [];
      const wrong = FREE.includes(label) ? [] : value.split('|').filter((one) => !known.includes(one));
      if (wrong.length > 0) throw new Error(`asks for ${label} of ${wrong.join(', ')}, which it never is.`);
    }
  }
};
