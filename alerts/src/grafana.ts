import { Document, isMap, isScalar, isSeq, Scalar, type YAMLMap } from 'yaml';
import type { AlertDefinition } from './alert.ts';
import { checkedText, RuleOptionsError } from './check-settings.ts';
import { grafanaDialect } from './dialect.ts';
import { seconds } from './duration.ts';
import { withLevels } from './levels.ts';
import { GENERATED, type NamedText, unbroken, wrapped } from './prometheus.ts';
import { bracketed, indented } from './promql.ts';
import type { Ground, Reader, RecordKey } from './record.ts';
import { RECORDINGS } from './recording.ts';
import { alertsWith, annotationsOf, groundOf, type Resolved, type RuleOptions, resolved } from './rules.ts';

/** Options of Grafana-managed rules, in addition to those of all rules. */
export interface GrafanaOptions extends RuleOptions {
  /** Uid of the Prometheus data source in Grafana. Default `breakerbox-prometheus`. */
  readonly dataSourceUid?: string;
  /** Title of the folder that contains the rules. Default `Breakerbox`. */
  readonly folder?: string;
}

/**
 * The step of a subquery. Short ranges use the interval at which Grafana evaluates rules. Long ranges use a longer step, because each
 * step costs a query. In 6 hours, the step must still find a condition that was true for some minutes.
 */
const stepFor = (range: string): string => {
  const steps = [
    [5 * 60, '15s'],
    [3600, '1m'],
    [6 * 3600, '2m30s'],
    [2 * 24 * 3600, '10m'],
  ] as const;
  return steps.find(([longest]) => seconds(range) <= longest)?.[1] ?? '1h';
};

/** Writes the definition of a recorded series into the expression, because Grafana records nothing. */
export const inlined = (options: Resolved): Ground => {
  const definition = (key: RecordKey): string => {
    const found = RECORDINGS.find((one) => one.key === key);
    if (found === undefined) throw new Error(`alerts: no recording rule for ${key}. Add it to RECORDINGS.`);
    return bracketed(found.expr(ground));
  };
  const read: Reader = { now: definition, over: (key, range) => `${definition(key)}[${range}:${stepFor(range)}]` };
  const ground = groundOf(options, read);
  return ground;
};

/** True only if the expression has been true for this long. Applied before the keeping, so that kept time does not count as true. */
const lasted = (expr: string, lasting: string | undefined): string => {
  if (lasting === undefined) return expr;
  const step = stepFor(lasting);
  const steps = Math.max(1, Math.floor(seconds(lasting) / seconds(step)));
  return `(\n${indented(expr)}\n)\nand count_over_time(\n${indented(`(\n${indented(expr)}\n)[${lasting}:${step}]`)}\n) >= ${steps}`;
};

/**
 * The expression of a Grafana-managed rule. The time that an alert is kept after it was last true is part of the expression: Grafana
 * supports `keepFiringFor` from 12.0 on, and 11 ignores it silently. The time that it must have been true comes first, inside.
 */
export const grafanaExpr = (alert: AlertDefinition, ground: Ground): string => {
  const expr = alert.expr(ground);
  const kept = alert.keepFiringFor?.(ground.settings);
  if (kept === undefined) return expr;
  return `last_over_time(\n${indented(`(\n${indented(lasted(expr, alert.for?.(ground.settings)))}\n)[${kept}:1m]`)}\n)`;
};

/** `BreakerboxCircuitOpen` as a uid: `breakerbox-circuit-open`. */
const uidOf = ({ name, scope }: AlertDefinition): string => {
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  return scope === undefined ? words : `${words}-${scope}`;
};

/** Every other rule reads at most an hour, or few samples. These read a week at each evaluation. */
const READ_A_WEEK: readonly string[] = ['BreakerboxToolSlow', 'BreakerboxSpendBurn'];

/** Indented as deep as it is nested, with brackets on lines of their own, it would be a third longer. */
const compact = (expr: string): string => expr.replaceAll(/^ +/gm, '').replaceAll(/(?<=\()\n|\n(?=\))/g, '');

const queryOf = (refId: string, expr: string, { levels }: Resolved, datasourceUid: string): object => ({
  refId,
  relativeTimeRange: { from: 600, to: 0 },
  datasourceUid,
  model: {
    refId,
    editorMode: 'code',
    instant: true,
    range: false,
    intervalMs: 15_000,
    maxDataPoints: 43_200,
    expr: compact(withLevels(expr, levels)),
  },
});

const ruleOf = (alert: AlertDefinition, options: Resolved, dataSourceUid: string): object => {
  const dialect = grafanaDialect(options);
  const annotations = { ...annotationsOf(alert, options, dialect) };
  return {
    uid: uidOf(alert),
    // Titles must be unique within a folder.
    title: alert.scope === undefined ? alert.name : `${alert.name} (${alert.scope})`,
    condition: 'C',
    for: (alert.keepFiringFor === undefined ? alert.for?.(options.settings) : undefined) ?? '0s',
    noDataState: 'OK',
    // While Grafana cannot query Prometheus, alerts keep their state, and only one rule reports the fault.
    execErrState: alert.name === 'BreakerboxTelemetryAbsent' ? 'Error' : 'KeepLast',
    labels: { severity: alert.severity, ...(alert.scope !== undefined && { scope: alert.scope }) },
    annotations,
    data: [
      queryOf('A', grafanaExpr(alert, inlined(options)), options, dataSourceUid),
      {
        // Every series that the query returns fires. Grafana needs a comparison to express that.
        refId: 'C',
        relativeTimeRange: { from: 0, to: 0 },
        datasourceUid: '__expr__',
        model: {
          refId: 'C',
          type: 'threshold',
          expression: 'A',
          conditions: [{ type: 'query', evaluator: { type: 'gt', params: [0] } }],
        },
      },
      // The texts read what these find.
      ...dialect.queries.map(({ refId, expr }) => queryOf(refId, expr, options, dataSourceUid)),
    ],
  };
};

const HEADER = `Alerts of Breakerbox for Grafana's own alerting, if no Prometheus of yours evaluates rules. Use these or the rules for Prometheus, not both. Put this file into Grafana's provisioning/alerting folder. Grafana 11 to 13.
${GENERATED} The comments in the rules for Prometheus explain each rule.

Every alert is one query. It contains the definitions of the series that Prometheus' rules record, as subqueries over time ranges. That costs more at each evaluation than recorded series do. With hundreds of agents, use the rules for Prometheus.
Grafana's templates cannot query. So rules have more queries, from D on, for the names in their texts: one tool with its error, and how many more.`;

/** Writes strings of several lines as they are, and folds long sentences. */
const laidOut = (node: unknown): void => {
  if (isSeq(node)) for (const one of node.items) laidOut(one);
  if (!isMap(node)) return;
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? key.value : undefined;
    if (isScalar(value) && name === 'expr') value.type = Scalar.BLOCK_LITERAL;
    if (isScalar(value) && name === 'description') value.type = Scalar.BLOCK_FOLDED;
    laidOut(value);
  }
};

/**
 * The same alerts as Grafana-managed rules, in a provisioning file. The expressions contain the definitions of recorded series.
 *
 * @throws RuleOptionsError that lists all faults: what is wrong, where, why, and how to fix it.
 * @example const { name, text } = grafanaAlerting({ dataSourceUid: 'prometheus', folder: 'Agents' });
 */
export const grafanaAlerting = (options: GrafanaOptions = {}): NamedText => {
  const { dataSourceUid = 'breakerbox-prometheus', folder = 'Breakerbox', ...others } = options;
  const issues = [
    ...checkedText(dataSourceUid, 'dataSourceUid', 'the uid that Grafana shows in the address of the data source'),
    ...checkedText(folder, 'folder', 'the title of a folder; Grafana creates it if it does not exist'),
  ];
  if (issues.length > 0) throw new RuleOptionsError(issues);
  const known = resolved(others);
  const rules = alertsWith(known.settings);
  const group = (name: string, interval: string, of: readonly AlertDefinition[]): object => ({
    orgId: 1,
    name,
    folder,
    interval,
    rules: of.map((alert) => ruleOf(alert, known, dataSourceUid)),
  });
  const document = new Document({
    apiVersion: 1,
    groups: [
      group(
        'breakerbox',
        '1m',
        rules.filter(({ name }) => !READ_A_WEEK.includes(name)),
      ),
      group(
        'breakerbox-week',
        '5m',
        rules.filter(({ name }) => READ_A_WEEK.includes(name)),
      ),
    ],
  });
  document.commentBefore = wrapped(HEADER, 118);
  laidOut(document.contents as YAMLMap);
  return { name: 'breakerbox-alerting.yml', text: unbroken(document.toString({ lineWidth: 120 })) };
};
