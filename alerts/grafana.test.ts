/** The Grafana-managed rules against what Grafana's file provisioning reads (apiVersion 1, Grafana 11 to 13). */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { namesIn } from './promql-names.ts';
import { grafanaAlerting } from './src/grafana.ts';
import { alertsWith } from './src/rules.ts';
import { DEFAULT_SETTINGS } from './src/settings.ts';

const duration = z.string().regex(/^(\d+[smhdw])+$/);
/** Grafana replaces `$name` and `${name}` in most strings with variables of its environment. */
const plain = z
  .string()
  .min(1)
  .regex(/^[^$]*$/);
/** In annotations it does so only from 13 on, and only for `${name}`. */
const template = z
  .string()
  .min(1)
  .regex(/^(?!.*\$\{)/s);
const relativeTimeRange = z.strictObject({ from: z.number(), to: z.number() });

/** The condition reads A. The texts read the others, for names. */
const refId = z.string().regex(/^[AD-Z]$/);
const query = z.strictObject({
  refId,
  relativeTimeRange,
  datasourceUid: plain,
  model: z.strictObject({
    refId,
    editorMode: z.literal('code'),
    instant: z.literal(true),
    range: z.literal(false),
    intervalMs: z.number(),
    maxDataPoints: z.number(),
    expr: z.string().min(1),
  }),
});
const threshold = z.strictObject({
  refId: z.literal('C'),
  relativeTimeRange,
  datasourceUid: z.literal('__expr__'),
  model: z.strictObject({
    refId: z.literal('C'),
    type: z.literal('threshold'),
    expression: z.literal('A'),
    conditions: z.tuple([
      z.strictObject({
        type: z.literal('query'),
        evaluator: z.strictObject({ type: z.literal('gt'), params: z.tuple([z.literal(0)]) }),
      }),
    ]),
  }),
});
const rule = z.strictObject({
  uid: plain.max(40).regex(/^[a-z0-9_-]+$/i),
  title: plain.max(190),
  condition: z.literal('C'),
  for: duration,
  noDataState: z.enum(['Alerting', 'NoData', 'OK', 'KeepLast']),
  execErrState: z.enum(['Alerting', 'Error', 'OK', 'KeepLast']),
  labels: z.record(plain, plain),
  annotations: z.strictObject({
    summary: template,
    description: template,
    runbook_url: template,
    dashboard_url: template,
  }),
  data: z.tuple([query, threshold]).rest(query),
});
const file = z.strictObject({
  apiVersion: z.literal(1),
  groups: z.array(
    z.strictObject({
      orgId: z.number(),
      name: plain,
      folder: plain,
      interval: duration.refine((text) => /^[15]m$/.test(text), 'a multiple of 10 s'),
      rules: z.array(rule).min(1),
    }),
  ),
});

const parsed = file.parse(parse(grafanaAlerting().text));
const rules = parsed.groups.flatMap((group) => group.rules);

describe('Grafana-managed rules', () => {
  it('include all alerts, each with its own uid and title', () => {
    expect(rules.map(({ title }) => title.replace(/ .*/, '')).sort()).toEqual(
      alertsWith(DEFAULT_SETTINGS)
        .map(({ name }) => name)
        .sort(),
    );
    for (const key of ['uid', 'title'] as const) expect(new Set(rules.map((one) => one[key])).size).toBe(rules.length);
    expect(rules.map(({ uid }) => uid)).toContain('breakerbox-correlated-openings-fleet');
  });

  it.each(rules)(
    '$title has queries that parse, each with its own letter',
    ({ data: [query, threshold, ...named] }) => {
      const queries = [query, ...named];
      for (const { model } of queries) expect(() => namesIn(model.expr)).not.toThrow();
      expect(query.refId).toBe('A');
      const letters = [...queries, threshold].map((one) => one.refId);
      expect(new Set(letters).size).toBe(letters.length);
      for (const one of queries) expect(one.model.refId).toBe(one.refId);
    },
  );

  // A rule does not fire if one of its queries has no data. A text reads the series with the labels of the alert, and no alert has this one.
  it.each(rules)(
    '$title asks for names with queries that always have data',
    ({ data: [, , ...named], annotations }) => {
      const texts = Object.values(annotations).join();
      for (const { refId: letter, model } of named) {
        expect(model.expr).toMatch(/ or label_replace\(vector\(0\), "none", "none", "", ""\)$/);
        expect(texts).toContain(`{{ with $values.${letter} }}`);
      }
    },
  );

  it.each(rules)('the texts of $title are in Grafana’s dialect', ({ annotations }) => {
    for (const text of Object.values(annotations)) {
      expect(text).not.toMatch(/\| query\b|\$externalLabels|\$value\b/);
      const used = [...text.matchAll(/\$(\w+)(?:\.(\w+))?/g)].map((match) =>
        match[0].replace(/^\$values\.[AD-Z]$/, '$values'),
      );
      for (const name of used) expect(name).toMatch(/^\$(values|labels\.\w+)$/);
    }
    expect(annotations.dashboard_url).toMatch(/^\{\{ reReplaceAll "\/\+\$" "" externalURL \}\}\/d\/breakerbox-/);
    // Grafana rejects __dashboardUid__ without __panelId__, and panels may move.
    expect(Object.keys(annotations)).not.toContain('__dashboardUid__');
  });

  const both = { selector: 'namespace="agents", job=~"agents-.+"', levels: ['cluster', 'namespace'] as const };

  // BudgetBurnSlow looks back at its own condition, and at those of two other alerts.
  it.each([[{}, []] as const, [both, ['BreakerboxBudgetBurnSlow']] as const])(
    'have queries of at most 8 kB, because proxies and VictoriaMetrics reject long ones (%o)',
    (options, longer) => {
      const long = file
        .parse(parse(grafanaAlerting(options).text))
        .groups.flatMap((group) => group.rules)
        .filter(({ data: [query, , ...named] }) => [query, ...named].some(({ model }) => model.expr.length > 8192))
        .map(({ title }) => title);
      expect(long).toEqual(longer);
    },
  );

  it('do not fire without data, and one of them reports that Grafana cannot query Prometheus', () => {
    expect(new Set(rules.map(({ noDataState }) => noDataState))).toEqual(new Set(['OK']));
    expect(rules.filter(({ execErrState }) => execErrState === 'Error').map(({ uid }) => uid)).toEqual([
      'breakerbox-telemetry-absent',
    ]);
  });
});
