import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { ALERT } from './alert-state.ts';
import { OPENED_AT } from './correlation.ts';
import { builtDashboards } from './dashboards.ts';
import { ATTR, INSTANCE, JOB, label, METRIC, type MetricDefinition } from './names.ts';
import { WINDOWS } from './promql.ts';
import { dashboardQueries, substitute, variableQueries } from './queries.ts';
import { LEVELS, RECORDED } from './recorded.ts';

const dashboards = builtDashboards().map(({ json }) => json);
const queries = dashboards.flatMap(dashboardQueries);
const cases = queries.map(({ dashboard, panel, refId, expr }) => [`${dashboard}: ${panel} ${refId}`, expr] as const);
const asGrafana = (expr: string): string => substitute(expr, { rateInterval: '4m', range: '1h' });

/** The nodes of a parsed query, with their text. */
interface Node {
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  readonly ancestors: readonly string[];
}

const nodesOf = (expr: string): readonly Node[] => {
  const nodes: Node[] = [];
  const ancestors: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      nodes.push({ name: type.name, text: expr.slice(from, to), isError: type.isError, ancestors: [...ancestors] });
      ancestors.push(type.name === 'FunctionCall' ? (/^\w+/.exec(expr.slice(from, to))?.[0] ?? '') : type.name);
    },
    leave: () => {
      ancestors.pop();
    },
  });
  return nodes;
};

const definitions: readonly MetricDefinition[] = Object.values(METRIC);
const seriesOf = (metric: MetricDefinition): readonly string[] =>
  metric.kind === 'histogram'
    ? ['', '_bucket', '_sum', '_count'].map((end) => metric.prometheus + end)
    : [metric.prometheus];
const definitionOf = (name: string): MetricDefinition | undefined =>
  definitions.find((metric) => seriesOf(metric).includes(name));

/** Labels of a metric in addition to `job`, `instance` and `le`. */
const labelsOf = (metric: MetricDefinition): readonly string[] =>
  [ATTR.agent, ...(metric.per === 'tool' ? [ATTR.tool] : []), ...metric.attributes].map((one) =>
    label(one as Parameters<typeof label>[0]),
  );

/** The labels of a recorded series, from the level in its name, and the label that switches it on. */
const labelsOfRecorded = (name: string): readonly string[] => {
  const known = { agent: ATTR.agent, tool: ATTR.tool, state: ATTR.state, decision: ATTR.decision, reason: ATTR.reason };
  const more = {
    from: ATTR.stateFrom,
    to: ATTR.stateTo,
    status: ATTR.sessionState,
    outcome: ATTR.outcome,
    error: ATTR.errorType,
  };
  const all: Readonly<Record<string, string>> = { ...known, ...more, job: JOB, le: 'le' };
  const kinds = (name.split(':')[0] ?? '').split('_');
  return [
    JOB, // A series of all jobs has none, and the matcher also matches an empty one.
    ...kinds.map((kind) => (all[kind] ?? kind).replaceAll('.', '_')),
    ...Object.values(LEVELS).map((level) => `bbx_${level}`),
  ];
};

/**
 * Series outside the contract, with their labels: Prometheus' own series of pending and firing alerts, and recorded series. No other series
 * may be queried.
 */
const ABOUT_ALERTS: Readonly<Record<string, readonly string[]>> = {
  ALERTS: [JOB, label(ATTR.agent), label(ATTR.tool), ...Object.values(ALERT)],
  ALERTS_FOR_STATE: [JOB, label(ATTR.agent), label(ATTR.tool), ALERT.name, ALERT.severity],
  ...Object.fromEntries(Object.values(RECORDED).map((name) => [name, labelsOfRecorded(name)])),
};
const nameOf = (selector: string): string => /^[\w:]+/.exec(selector)?.[0] ?? '';

describe.each(cases)('the query of %s', (_, expr) => {
  const nodes = nodesOf(asGrafana(expr));
  const selectors = nodes.filter(({ name }) => name === 'VectorSelector');

  it('is PromQL', () => {
    expect(nodes.filter(({ isError }) => isError)).toEqual([]);
    expect(nodes[0]?.name).toBe('PromQL');
  });

  it('reads only metrics and labels of the contract', () => {
    expect(selectors.length).toBeGreaterThan(0);
    for (const { text } of selectors) {
      const metric = definitionOf(nameOf(text));
      const labels =
        metric === undefined
          ? ABOUT_ALERTS[nameOf(text)]
          : [JOB, 'instance', ...Object.values(LEVELS).map((level) => `bbx_${level}`), ...labelsOf(metric)];
      expect(labels, text).toBeDefined();
      const asked = [...text.matchAll(/(\w+)(?:=~?|!=)"/g)].map(([, name]) => name);
      expect(labels).toEqual(expect.arrayContaining(asked));
    }
    const known = [...definitions.flatMap(labelsOf), 'le', JOB, INSTANCE, OPENED_AT, ALERT.name, ALERT.state, 'born'];
    for (const { text } of nodes.filter(({ name }) => name === 'GroupingLabels')) {
      expect(known).toEqual(expect.arrayContaining(text.match(/\w+/g) ?? []));
    }
  });

  it('is filtered by the variables, and by no fixed job or instance', () => {
    for (const text of expr.match(/[\w:]+\{[^}]*\}/g) ?? []) {
      const narrowed = ABOUT_ALERTS[nameOf(text)]
        ? // Alerts have no instance, and alerts about several agents or tools have neither agent nor tool.
          /\{job=~"\$job(\|", gen_ai_agent_name=~"\$agent\|", gen_ai_tool_name=~"\$tool\|", alertname=~"Breakerbox.+"|\|?"\}|".*bbx_(rules|fleet)!~"\$\2"(, bbx_fleet=~"\$fleet")?\})/
        : /\{job=~"\$job", instance=~"\$instance", (bbx_(rules|fleet)[=!]~"\$\2", )*gen_ai_agent_name=~"\$agent"/;
      expect(text).toMatch(narrowed);
    }
    expect(expr).not.toMatch(/(job|instance)=~?"(?!\$(job|instance)\|?")/);
  });

  it('never shows the raw value of a counter', () => {
    const gains = ['rate', 'increase', 'min_over_time', 'max_over_time', 'resets', 'last_over_time'];
    for (const { text, ancestors } of selectors) {
      const kind = definitionOf(nameOf(text))?.kind;
      if (kind !== 'counter' && kind !== 'histogram') continue;
      // No value, but exemplars: exemplarsOf() in promql.ts.
      if (expr.endsWith(' @ 0)')) continue;
      expect(
        ancestors.some((name) => gains.includes(name)),
        text,
      ).toBe(true);
    }
  });

  it('aggregates before it joins or draws, so that scopes and instances split no series', () => {
    for (const { text, ancestors } of selectors) expect(ancestors, text).toContain('AggregateExpr');
  });

  it('follows the scrape interval: rates over $__rate_interval, the whole range, or hours', () => {
    for (const [, window] of expr.matchAll(/\[([^\]]+)\]/g)) {
      expect(WINDOWS).toContain(window);
    }
  });
});

describe('the queries together', () => {
  it('use every metric of the contract that panels can show', () => {
    const text = [
      ...queries.map(({ expr }) => expr),
      ...dashboards.flatMap(variableQueries).map(({ selector }) => selector),
    ].join('\n');
    const unused = definitions.filter((metric) => !text.includes(metric.prometheus));
    // Alerts read the wait that a service asked for. The message of BreakerboxCircuitOpen says it.
    const names = unused.map(({ name }) => name);
    expect(names, 'of a new metric: show it in a panel of dashboards/src/rows').toEqual([
      'breakerbox.retry_after.time',
      'breakerbox.circuits.waiting',
      'breakerbox.systemic.tools',
      'breakerbox.skips.waiting',
    ]);
  });

  it('use every window of the type', () => {
    const used = new Set(
      queries.flatMap(({ expr }) => [...expr.matchAll(/\[([^\]]+)\]/g)].map(([, window]) => window)),
    );
    expect(used).toEqual(new Set(WINDOWS));
  });

  it('never divide by zero', () => {
    for (const { expr } of queries) {
      const divisors = [...expr.matchAll(/ \/ (.{0,12})/g)].map(([, divisor]) => divisor);
      for (const divisor of divisors) expect(divisor, expr).toMatch(/^(\(|clamp_min\()/);
      expect([...expr.matchAll(/ > 0\)|\/ clamp_min\(/g)].length).toBeGreaterThanOrEqual(divisors.length);
    }
  });
});
