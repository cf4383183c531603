import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { builtDashboards } from '../dashboards/src/dashboards.ts';
import { ATTR, METRIC, type MetricDefinition } from '../packages/core/src/telemetry/semconv.ts';
import { runTool } from '../stack/tools.ts';
import { namesIn, selectorsIn } from './promql-names.ts';
import { seconds } from './src/duration.ts';
import { grafanaAlerting } from './src/grafana.ts';
import { operatorRules } from './src/operator.ts';
import { type PrometheusRule, ruleFiles } from './src/prometheus.ts';
import { withTables } from './src/readme-tables.ts';
import { ALERTS } from './src/rules.ts';
import { settingDocs } from './src/setting-docs.ts';

const here = import.meta.dirname;
const read = (path: string): string => readFileSync(`${here}/${path}`, 'utf8');

const rulesOf = (files: readonly { readonly text: string }[]): PrometheusRule[] =>
  files.flatMap(({ text }) => {
    const document: { groups: { rules: PrometheusRule[] }[] } = parse(text);
    return document.groups.flatMap((group) => group.rules);
  });
const rules = rulesOf(ruleFiles());
const recordings = rules.flatMap(({ record, expr }) => (record === undefined ? [] : [{ record, expr }]));
const alerts = rules.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));

/** The queries of Grafana-managed rules, by title. */
const managed = (text: string): { title: string; for: string; expr: string }[] => {
  const document: { groups: { rules: { title: string; for: string; data: { model: { expr?: string } }[] }[] }[] } =
    parse(text);
  return document.groups.flatMap((group) =>
    group.rules.map((rule) => ({ title: rule.title, for: rule.for, expr: rule.data[0]?.model.expr ?? '' })),
  );
};

/** Every series name that core can emit. */
const seriesNames = new Set(
  Object.values<MetricDefinition>(METRIC).flatMap(({ prometheus, kind }) =>
    kind === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((end) => prometheus + end) : [prometheus],
  ),
);
const recordedNames = new Set(recordings.map(({ record }) => record));
/** OpenTelemetry's attributes in Prometheus' notation, and the labels that Prometheus adds. */
const labelNames = new Set(['job', 'instance', 'le', ...Object.values(ATTR).map((name) => name.replaceAll('.', '_'))]);

/** Prometheus' own series of an alert. */
const FOR_STATE = 'ALERTS_FOR_STATE';

function expectKnownNames(expression: string, recorded: ReadonlySet<string> = recordedNames): void {
  const { metrics, labels } = namesIn(expression);
  for (const name of metrics) {
    expect(seriesNames.has(name) || recorded.has(name), `${name} in: ${expression}`).toBe(true);
  }
  for (const name of labels) expect(labelNames.has(name), `label ${name} in: ${expression}`).toBe(true);
}

/** The queries inside a template (printf `…` args | query), which promtool does not check. */
function queriesOf(template: string): string[] {
  return [...template.matchAll(/printf\s+`([^`]+)`[^}]*\|\s*query/g)].map((match) =>
    (match[1] ?? '').replaceAll('%q', '"x"').replaceAll('%.0f', '9').replaceAll('%%', '%'),
  );
}
const annotationQueries = (of: readonly PrometheusRule[]): string[] =>
  of.flatMap(({ annotations }) => Object.values(annotations ?? {}).flatMap(queriesOf));

/** Address of this repository, from the root's package.json: https://host/owner/name. */
function repository(): string {
  const { repository }: { repository: { url: string } } = JSON.parse(read('../package.json'));
  expect(repository.url).toMatch(/^git\+https:.+\.git$/);
  return repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
}

describe('the files', () => {
  const grafana = grafanaAlerting();
  const operator = operatorRules();
  const files = [
    ...ruleFiles().map(({ name, text }) => ({ path: `rules/${name}`, text })),
    { path: `operator/${operator.name}`, text: operator.text },
    { path: `grafana/${grafana.name}`, text: grafana.text },
  ];

  it.each(files)('$path matches what alerts/src generates', ({ path, text }) => {
    expect(
      read(path),
      `alerts/${path} was edited by hand, or not generated after a change: run "node scripts/pnpm/pnpm.mjs run generate" and commit the result`,
    ).toBe(text);
  });

  it('are the only files in their folders', () => {
    const found = ['rules', 'operator', 'grafana'].flatMap((folder) =>
      readdirSync(`${here}/${folder}`).map((name) => `${folder}/${name}`),
    );
    expect(found.sort()).toEqual(files.map(({ path }) => path).sort());
  });

  it('name no paths in their comments, because copies and bundles have other paths', () => {
    for (const { path, text } of files) {
      const comments = text.split('\n').filter((line) => /^\s*#/.test(line));
      expect(comments.join('\n'), path).not.toMatch(/\.\.\/|README|alerts\/|\bsrc\b/);
    }
    const header = (grafanaUrl?: string): string =>
      ruleFiles(grafanaUrl === undefined ? {} : { grafanaUrl })
        .at(-1)
        ?.text.split('groups:')[0] ?? '';
    expect(header()).toContain('until the external label grafana_url');
    expect(header('https://grafana.example.com')).not.toContain('grafana_url');
  });

  it('are valid, by promtool', async () => {
    const paths = files.map(({ path }) => path).filter((path) => path.startsWith('rules/'));
    const { code, output } = await runTool(
      'promtool',
      ['check', 'rules', '--lint=all', '--lint-fatal', ...paths],
      here,
    );
    expect(code, output).toBe(0);
    expect(output).toContain('SUCCESS');
  });

  it('are not reported as invalid when promtool was killed', async () => {
    await expect(runTool('sh', ['-c', 'echo so far; kill -KILL $$'])).rejects.toThrow(
      'sh was killed by SIGKILL.\nso far',
    );
  });

  it('have at most 20 rules in a group, which is the limit of a Mimir with its defaults', () => {
    for (const { text } of ruleFiles()) {
      for (const { name, rules } of (parse(text) as { groups: { name: string; rules: object[] }[] }).groups)
        expect(rules.length, name).toBeLessThanOrEqual(20);
    }
  });

  it('says how to get promtool if it is missing', async () => {
    await expect(runTool('promtool-that-is-not-there', [])).rejects.toThrow(/not on PATH.*npm test/);
  });
});

describe('names', () => {
  it.each(rules.map((rule) => [rule.record ?? rule.alert, rule.expr]))('of %s exist in the code', (_, expression) => {
    expectKnownNames(expression ?? '');
  });

  it.each(managed(grafanaAlerting().text))(
    'of $title in Grafana exist in the code, and are not recorded series',
    ({ expr }) => {
      expectKnownNames(expr, new Set());
    },
  );

  it('of recorded series are level:metric:operation, and the expression groups by the level', () => {
    const levels: Readonly<Record<string, string>> = {
      job: 'job',
      instance: 'instance',
      le: 'le',
      state: 'breakerbox_state',
      from: 'breakerbox_state_from',
      to: 'breakerbox_state_to',
      status: 'breakerbox_session_state',
      decision: 'breakerbox_decision',
      reason: 'breakerbox_reason',
      outcome: 'breakerbox_outcome',
      agent: 'gen_ai_agent_name',
      tool: 'gen_ai_tool_name',
      error: 'error_type',
      currency: 'breakerbox_currency',
    };
    // An expression names the labels that it groups by, or reads a series that is grouped by them.
    const byName = new Map(recordings.map(({ record, expr }) => [record, expr]));
    // Rules may read their own values, and those of one another, of the last evaluation.
    const grouping = (expr: string, readers: readonly string[] = []): string[] => [
      ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].map((match) => match[1] ?? ''),
      ...[...namesIn(expr).metrics].flatMap((name) => {
        const inner = byName.get(name);
        return inner === undefined || [expr, ...readers].includes(inner) ? [] : grouping(inner, [expr, ...readers]);
      }),
    ];
    for (const { record, expr } of recordings) {
      const level = /^([a-z]+(?:_[a-z]+)*):[a-z_]+:[a-z0-9_]+$/.exec(record)?.[1] ?? '';
      const labels = level.split('_').map((one) => levels[one]);
      expect(labels, record).not.toContain(undefined);
      expect(grouping(expr), record).toEqual(
        expect.arrayContaining([expect.stringMatching(new RegExp(`^${labels.join(', ')}(, le)?$`))]),
      );
    }
  });

  it('inside annotations exist in the code too', () => {
    const queries = annotationQueries(alerts);
    expect(queries.length).toBeGreaterThan(20);
    const own = new RegExp(`${FOR_STATE}\\{alertname="(?:${alerts.map(({ alert }) => alert).join('|')})", `);
    for (const query of queries) {
      expect(query.includes(FOR_STATE)).toBe(own.test(query));
      expectKnownNames(query.replace(/min\(min_over_time\(ALERTS_FOR_STATE\{[^}]*\}\[6h\]\)\)/, 'vector(0)'));
    }
  });

  it('are at most the eleven that the README names, because each alert that fires asks them at each evaluation', () => {
    expect(Math.max(...alerts.map((one) => annotationQueries([one]).length))).toBeLessThanOrEqual(11);
  });

  it('rejects a name that core does not emit, and a syntax error', () => {
    expect(() => expectKnownNames('breakerbox_circuit_state > 0')).toThrow(/breakerbox_circuit_state/);
    expect(() => namesIn('sum by (job (breakerbox_circuits)')).toThrow(/syntax error/);
  });

  it('cover every metric except those that need no action', () => {
    const read = new Set(
      rules.flatMap(({ expr }) => [...namesIn(expr).metrics]).map((name) => name.replace(/_(bucket|count)$/, '')),
    );
    const unread = Object.values<MetricDefinition>(METRIC).filter(({ prometheus }) => !read.has(prometheus));
    const names = unread.map(({ name }) => name);
    expect(
      names,
      'of a new metric: read it in a rule of alerts/src, or add it to this list if it needs no action',
    ).toEqual([
      'breakerbox.systemic.tools',
      'breakerbox.operator.actions',
      'breakerbox.fleet.read.time',
      'breakerbox.fleet.ignored',
      'breakerbox.routes',
      'breakerbox.tasks',
      'breakerbox.circles',
      'breakerbox.spent.calls',
      'breakerbox.freshness',
      'breakerbox.prechecks',
      'breakerbox.model.tokens',
      'breakerbox.model.cost',
    ]);
  });

  it('of recorded series are each read by a rule or a dashboard', () => {
    const used = new Set(rules.flatMap(({ expr }) => [...namesIn(expr).metrics]));
    const panels = builtDashboards()
      .map(({ json }) => JSON.stringify(json))
      .join();
    for (const { record } of recordings) expect(used.has(record) || panels.includes(record), record).toBe(true);
  });
});

describe('your own selector', () => {
  const selector = 'job=~"agents-.+", cluster!="100% `test`"';
  const options = { selector };
  const narrowed = (expr: string): void => {
    const own = selectorsIn(expr).filter(({ metric }) => seriesNames.has(metric));
    for (const { text } of own) expect(text).toContain(selector);
  };

  it('is in every selector of a raw series, and in no other', () => {
    const own = rulesOf(ruleFiles(options));
    expect(own).toHaveLength(rules.length);
    for (const { expr } of own) narrowed(expr);
    // Longer selectors are broken into several lines.
    const squeezed = (expr: string): string => expr.replaceAll(/\s+/g, '');
    const without = (expr: string): string =>
      squeezed(expr.replaceAll(`{${selector}}`, '').replaceAll(`, ${selector}`, ''));
    expect(own.map(({ expr }) => without(expr))).toEqual(rules.map(({ expr }) => squeezed(expr)));
    for (const { expr } of managed(grafanaAlerting(options).text)) narrowed(expr);
  });

  it('is in the queries of the texts, escaped for printf and for the end of the string', () => {
    const own = annotationQueries(rulesOf(ruleFiles(options)));
    expect(own.length).toBeGreaterThan(20);
    for (const query of own) {
      // A recorded series has it in its rule, and Prometheus' own series of an alert is about what a rule found.
      const raw = selectorsIn(query).filter(({ metric }) => !recordedNames.has(metric) && metric !== FOR_STATE);
      for (const { text } of raw) expect(text).toContain('cluster!="100% \\x60test\\x60"');
    }
  });
});

describe('each alert', () => {
  it('has a test', () => {
    const tests = readdirSync(`${here}/tests`)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => read(`tests/${name}`))
      .join('\n');
    for (const { name } of ALERTS) {
      const short = name.replace('Breakerbox', '');
      expect(tests, `${name}: texts`).toMatch(new RegExp(`alert: '${short}',\\s+labels`));
    }
  });

  it.each(alerts.map((rule) => [rule.alert, rule] as const))('%s has severity and annotations', (name, rule) => {
    expect(name).toMatch(/^Breakerbox[A-Z][A-Za-z]+$/);
    expect(['critical', 'warning']).toContain(rule.labels?.severity);
    expect(Object.keys(rule.annotations ?? {}).filter((key) => key !== 'began')).toEqual([
      'summary',
      'description',
      'runbook_url',
      'dashboard_url',
      'console_url',
    ]);
    expect(rule.annotations?.console_url).toMatch(/^\{\{ with \$externalLabels\.console_url \}\}.*\{\{ end \}\}$/);
    expect(rule.annotations?.runbook_url).toBe(`${repository()}/blob/main/alerts/runbooks/${name}.md`);
    expect(rule.annotations?.dashboard_url).toMatch(
      /^\{\{ \$externalLabels\.grafana_url \}\}\/d\/breakerbox-[a-z-]+\?var-/,
    );
  });

  it('links to your Grafana and to your runbooks', () => {
    const options = { grafanaUrl: 'https://grafana.example.com/', runbookUrl: 'https://wiki.example.com/books' };
    for (const { alert, annotations } of rulesOf(ruleFiles(options))) {
      if (alert === undefined) continue;
      expect(annotations?.dashboard_url).toMatch(/^https:\/\/grafana\.example\.com\/d\/breakerbox-/);
      expect(annotations?.runbook_url).toBe(`https://wiki.example.com/books/${alert}.md`);
    }
    expect(() => ruleFiles({ grafanaUrl: 'grafana' })).toThrow(/grafanaUrl: is "grafana".*https:/);
  });

  it('says what to do, with a command', () => {
    for (const { alert, annotations } of alerts)
      expect(annotations?.description, alert).toMatch(/breakerbox ctl (?:list|resume|confirm|force-open|extend)\b/);
  });

  it('A9: links to your console at the agent and the tool, if you have one', () => {
    const found = rulesOf(ruleFiles({ consoleUrl: 'https://console.example.com/' }));
    const linkOf = (name: string) => found.find(({ alert }) => alert === name)?.annotations?.console_url;
    expect(linkOf('BreakerboxCircuitOpen')).toBe(
      'https://console.example.com/#agent={{ $labels.gen_ai_agent_name | urlquery }}&tool={{ $labels.gen_ai_tool_name | urlquery }}',
    );
    expect(linkOf('BreakerboxBudgetExhausted')).toBe(
      'https://console.example.com/#agent={{ $labels.gen_ai_agent_name | urlquery }}',
    );
    expect(() => ruleFiles({ consoleUrl: 'console' })).toThrow(/consoleUrl: is "console".*https:/);
  });

  it('has a title that begins with the agent, or with the tool if it covers several agents', () => {
    for (const { annotations, labels } of alerts) {
      const [first] = [...(annotations?.summary ?? '').matchAll(/\$labels\.(\w+)/g)].map((match) => match[1]);
      expect(first).toBe(labels?.scope === 'fleet' ? 'gen_ai_tool_name' : 'gen_ai_agent_name');
      expect(annotations?.summary).toMatch(/^\{\{ \$labels/);
    }
  });

  it('is evaluated in Grafana for each minute of an hour or less, so that a condition of one minute is not missed', () => {
    const steps = managed(grafanaAlerting().text).flatMap(({ expr }) => [...expr.matchAll(/\[(\w+):(\w+)\]/g)]);
    expect(steps.length).toBeGreaterThan(10);
    for (const [text, range = '', step = ''] of steps) {
      if (seconds(range) <= 3600) expect(seconds(step), text).toBeLessThanOrEqual(60);
      else expect(seconds(range) / seconds(step), text).toBeGreaterThan(30);
    }
  });

  it('must last before it is kept, in Grafana’s query too, so that kept time does not count as lasting', () => {
    const grafana = managed(grafanaAlerting().text);
    const both = alerts.filter((rule) => rule.for !== undefined && rule.keep_firing_for !== undefined);
    expect(both.map(({ alert }) => alert)).toEqual(['BreakerboxCircuitOpen']);
    for (const rule of both) {
      const [one] = grafana.filter(({ title }) => title === rule.alert);
      expect(one?.for).toBe('0s');
      expect(one?.expr).toMatch(
        new RegExp(
          `^last_over_time\\([^]*count_over_time\\([^]*\\[${rule.for}:15s\\][^]*\\[${rule.keep_firing_for}:1m\\]`,
        ),
      );
    }
  });
});

describe('the README', () => {
  const text = read('README.md');

  it('has the tables of alerts and settings that the definitions give (otherwise run "node scripts/pnpm/pnpm.mjs run generate")', () => {
    expect(text).toBe(withTables(text));
  });

  /** Settings in the row of an alert. */
  const listed = (name: string): readonly (string | undefined)[] => {
    const row = text.split('\n').find((line) => line.startsWith(`| [${name}]`)) ?? '';
    return [...row.matchAll(/`(\w+)` \d/g)].map(([, setting]) => setting);
  };

  it.each(ALERTS)('lists with $name each setting that is named after it', ({ name }) => {
    const own = settingDocs().filter(({ meaning }) => meaning.startsWith(`${name.replace('Breakerbox', '')}:`));
    expect(own, `settings.ts has no setting whose comment begins with the name of ${name}`).not.toEqual([]);
    expect(listed(name)).toEqual(expect.arrayContaining(own.map((doc) => doc.name)));
  });

  it('lists a setting that an alert reads through a recorded series or another alert, and no other', () => {
    const outage = ['gap', 'openFor', 'openShare', 'keyOpenShare', 'keyOpenLeastDecisions', 'openKeep'];
    expect(listed('BreakerboxCircuitOpen').toSorted()).toEqual(outage.toSorted());
    expect(listed('BreakerboxToolSlow')).toEqual(expect.arrayContaining(['openShare', 'afterOpen']));
    expect(listed('BreakerboxToolSlow')).not.toContain('errorRatio');
  });

  it('lists every recorded series', () => {
    for (const { record } of recordings) expect(text).toContain(`\`${record}\``);
  });
});
