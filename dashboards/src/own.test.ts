import { RUNBOOK_URL, RuleOptionsError } from '@breakerbox/alerts';
import { SCOPE_NAME } from '@breakerbox/core';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { narrowed } from './adapt.ts';
import { builtDashboards } from './dashboards.ts';
import { type DashboardJson, rendered } from './finish.ts';
import { UID } from './links.ts';
import { METRIC, type MetricDefinition } from './names.ts';
import { dashboards } from './own.ts';
import { dashboardPanels, dashboardQueries, substitute, variableQueries } from './queries.ts';

const REPORTED = new Set(
  Object.values<MetricDefinition>(METRIC).flatMap(({ prometheus, kind }) =>
    kind === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((end) => prometheus + end) : [prometheus],
  ),
);

interface Selector {
  readonly metric: string;
  readonly matchers: readonly string[];
}

/** Every selector in a query, parsed with Prometheus' own grammar. */
const selectorsOf = (expr: string): readonly Selector[] => {
  const selectors: { metric: string; matchers: string[] }[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      expect(type.isError, `at ${from} of ${expr}`).toBe(false);
      const text = expr.slice(from, to);
      if (type.name === 'VectorSelector') selectors.push({ metric: '', matchers: [] });
      const last = selectors.at(-1);
      if (last === undefined) return;
      if (type.name === 'Identifier' && last.metric === '') last.metric = text;
      if (type.name === 'UnquotedLabelMatcher') last.matchers.push(text);
    },
  });
  return selectors;
};

const exprsOf = (json: Parameters<typeof dashboardQueries>[0]): readonly string[] => [
  ...dashboardQueries(json).map(({ expr }) => substitute(expr, { rateInterval: '4m', range: '1h' })),
  ...variableQueries(json).map(({ selector }) => substitute(selector, { rateInterval: '4m', range: '1h' })),
];

const plain = builtDashboards();

describe('dashboards()', () => {
  it('returns those of the repository without options', () => {
    expect(dashboards().map(({ text }) => text)).toEqual(plain.map(({ json }) => rendered(json)));
    expect(dashboards().map(({ title }) => title)).toEqual(plain.map(({ json }) => json.title));
  });

  it('adds the matchers to every selector of every panel, variable and annotation, and changes nothing else', () => {
    const selector = 'job=~"agents-.+", cluster="eu", gen_ai_agent_name!="a\\\\.b"';
    const added = ['job=~"agents-.+"', 'cluster="eu"', 'gen_ai_agent_name!="a\\\\.b"'];
    const kept = added.filter((one) => !one.startsWith('cluster'));
    let narrowedOnes = 0;
    for (const [index, { json }] of dashboards({ selector }).entries()) {
      const before = exprsOf(plain[index]?.json ?? {}).map(selectorsOf);
      const after = exprsOf(json).map(selectorsOf);
      const expected = before.map((selectors) =>
        selectors.map(({ metric, matchers }) => {
          if (REPORTED.has(metric)) return { metric, matchers: [...added, ...matchers] };
          if (!matchers.includes('job=~".+|"')) return { metric, matchers: [...kept, ...matchers] };
          return { metric, matchers: ['job=~"(?:agents-.+)|"', kept[1], ...matchers] };
        }),
      );
      expect(after).toEqual(expected);
      narrowedOnes += after.flat().length;
    }
    expect(narrowedOnes).toBeGreaterThan(200);
  });

  it('adds the matchers to the definitions that variables show', () => {
    for (const { text } of dashboards({ selector: 'job="a"' })) {
      expect(text.replaceAll('{job=\\"a\\", job=~', '')).not.toMatch(/breakerbox_\w+\{/);
      expect(text).toContain('label_values(breakerbox_sessions{job=\\"a\\", job=~\\".+\\"}, job)');
    }
  });

  it.each([
    ['job="a.b|c"', 'job=~"a\\\\.b\\\\|c|"'],
    ['job="a\\\\b"', 'job=~"a\\\\\\\\b|"'],
    ['job=~"a|b"', 'job=~"(?:a|b)|"'],
    ['job!="a"', 'job!="a"'],
    ['cluster="eu"', ''],
  ])('lets alerts without a job pass %s', (selector, expected) => {
    const expr = 'ALERTS{job=~"$job|", alertname="x"}';
    const added = expected === '' ? '' : `${expected}, `;
    expect(narrowed({ expr }, selector)).toEqual({ expr: `ALERTS{${added}job=~"$job|", alertname="x"}` });
  });

  it('adds a dollar and other special characters unchanged', () => {
    expect(narrowed({ expr: 'breakerbox_sessions{job=~"$job"}' }, 'job="$&$1"')).toEqual({
      expr: 'breakerbox_sessions{job="$&$1", job=~"$job"}',
    });
  });

  it('selects the data source, and names none in the queries', () => {
    for (const { text, json } of dashboards({ dataSource: { uid: 'prometheus-eu', name: 'Prometheus EU' } })) {
      const { list } = json.templating as { list: readonly { name: string; current?: object }[] };
      expect(list.find(({ name }) => name === 'datasource')?.current).toEqual({
        selected: true,
        text: 'Prometheus EU',
        value: 'prometheus-eu',
      });
      expect(text.match(/prometheus-eu/g)).toHaveLength(1);
      expect(Object.keys(json)).toEqual(Object.keys(json).toSorted());
    }
    const [first] = dashboards({ dataSource: { uid: 'p' } });
    expect(first?.text).toContain('"text": "p"');
  });

  it('shows the thresholds of the rules', () => {
    const [overview] = dashboards({ settings: { absentLeastReported: '20m' } });
    expect(overview?.text).not.toBe(dashboards()[0]?.text);
  });

  it('rejects the options that the rules reject', () => {
    expect(() => dashboards({ selector: 'job=a' })).toThrow(RuleOptionsError);
    expect(() => dashboards({ settings: { openFor: 'soon' } })).toThrow(RuleOptionsError);
  });
});

describe('logs', () => {
  const panelsOf = (json: DashboardJson) => dashboardPanels(json).filter(({ type }) => type === 'logs');

  it('are a panel of all dashboards but the overview, from a Loki that users can replace', () => {
    for (const { uid, json, text } of dashboards({ logs: { uid: 'loki-eu', name: 'Loki EU' } })) {
      const { list } = json.templating as { list: readonly { name: string; type: string; query: string }[] };
      const variable = list.find(({ name }) => name === 'logs');
      if (uid === UID.fleetOverview) {
        expect(variable).toBeUndefined();
        expect(panelsOf(json)).toEqual([]);
        continue;
      }
      expect(variable).toMatchObject({
        type: 'datasource',
        query: 'loki',
        current: { selected: true, text: 'Loki EU', value: 'loki-eu' },
      });
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable.
      const datasource = { type: 'loki', uid: '${logs}' };
      const expr = `{service_name=~".+"} | scope_name="${SCOPE_NAME}" | gen_ai_agent_name=~"$agent" | gen_ai_tool_name=~"$tool|"`;
      expect(panelsOf(json)).toMatchObject([{ title: 'Events', datasource, targets: [{ datasource, expr }] }]);
      expect(text.match(/loki-eu/g)).toHaveLength(1);
      const ids = dashboardPanels(json).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('are narrowed by levels, and records without a level are there', () => {
    const levels = '| k8s_namespace_name=~"$namespace|" | k8s_cluster_name=~"$cluster|"';
    const expr = `{service_name=~".+"} | scope_name="${SCOPE_NAME}" ${levels} | gen_ai_agent_name=~"$agent" | gen_ai_tool_name=~"$tool|"`;
    const panels = dashboards({ logs: { uid: 'loki' }, levels: ['cluster', 'namespace'] }).flatMap(({ json }) =>
      panelsOf(json),
    );
    expect(panels).toHaveLength(3);
    for (const panel of panels) expect(panel).toMatchObject({ targets: [{ expr }] });
  });

  it('are not there without a Loki', () => {
    for (const { json, text } of dashboards()) {
      expect(panelsOf(json)).toEqual([]);
      expect(text).not.toMatch(/loki/i);
    }
  });
});

describe('levels', () => {
  const levels = ['cluster', 'namespace'] as const;
  const all = dashboards({ levels, selector: 'job=~"agents-.+"' });

  it('are in every query that reads a job, and valid PromQL', () => {
    for (const { json } of all) {
      for (const { expr } of dashboardQueries(json)) {
        const own = { rateInterval: '4m', range: '1h', variables: { cluster: '.*', namespace: '.*' } };
        const faults: string[] = [];
        parser.parse(substitute(expr, own)).iterate({ enter: ({ type }) => void (type.isError && faults.push(expr)) });
        expect(faults).toEqual([]);
        for (const [job] of expr.matchAll(/\w+=~"\$namespace\|?", job=~"\$job\|?"|job=~"\$job\|?"/g))
          expect(job).toMatch(/^namespace/);
        for (const [clause, inside = ''] of expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)) {
          if (/\bjob\b/.test(inside)) expect(clause).toContain('cluster, namespace, ');
        }
      }
    }
  });

  it('have a variable each, before the job, which offers what they select', () => {
    for (const { json, text } of all) {
      const chained = variableQueries(json).slice(0, 3);
      expect(chained).toEqual([
        { variable: 'cluster', label: 'cluster', selector: 'breakerbox_sessions{job=~"agents-.+"}' },
        {
          variable: 'namespace',
          label: 'namespace',
          selector: 'breakerbox_sessions{job=~"agents-.+", cluster=~"$cluster"}',
        },
        {
          variable: 'job',
          label: 'job',
          selector: 'breakerbox_sessions{job=~"agents-.+", cluster=~"$cluster", namespace=~"$namespace", job=~".+"}',
        },
      ]);
      expect(text).not.toMatch(/[?&]var-job=/.test(text) ? /(?<!namespace:queryparam\}&)var-job=/ : /never/);
    }
    expect(all[0]?.text).toContain('"namespace": "Namespace"');
    expect(() => dashboards({ levels: ['region'] as never })).toThrow(RuleOptionsError);
  });
});

it('the table of alerts links to your own runbooks', () => {
  const [overview] = dashboards({ runbookUrl: 'https://wiki.example.com/$breakerbox/' });
  expect(overview?.text).toContain('"https://wiki.example.com/$breakerbox/$' + '{__data.fields');
  expect(overview?.text).not.toContain(RUNBOOK_URL);
  expect(() => dashboards({ runbookUrl: 'wiki' })).toThrow(/runbookUrl: is "wiki"/);
});

it('the address of the console is checked, and slashes at its end make no difference', () => {
  const texts = (consoleUrl: string) => dashboards({ consoleUrl }).map(({ text }) => text);
  expect(texts('https://console.example.com/')).toEqual(texts('https://console.example.com'));
  expect(() => dashboards({ consoleUrl: 'console' })).toThrow(
    /consoleUrl: is "console", which cannot be the start of a link/,
  );
});
