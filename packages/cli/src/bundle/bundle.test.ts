/** A bundle as a team would make it, checked with the programs that read it: Prometheus, Alertmanager and Grafana. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  type DashboardQuery,
  dashboardQueries,
  substitute,
  variableQueries,
} from '../../../../dashboards/src/queries.ts';
import { runTool } from '../../../../stack/tools.ts';
import { findProgram, freePort, isReady, startChild } from '../../../demo/src/child.ts';
import { startWatchdog } from '../../../demo/src/watchdog.ts';
import { runBundle, type TestFolder, testFolder } from './test-support.ts';

const SELECTOR = 'job=~"agents-.+", cluster="eu"';
const GRAFANA = 'https://grafana.example.com/sub';
const CONSOLE = 'https://console.example.com';
const RUNBOOKS = 'https://wiki.example.com/runbooks';
const FLAGS = [
  ...['--selector', SELECTOR, '--data-source', 'prom-1:Prometheus EU', '--folder', "The agents' health"],
  ...['--namespace', 'monitoring', '--rule-label', 'release=kps', '--rule-label', 'team=agents'],
  ...[
    '--grafana-url',
    `${GRAFANA}/`,
    '--console-url',
    CONSOLE,
    '--runbook-url',
    RUNBOOKS,
    '--set',
    'openFor=20m',
    '--set',
    'errorRatio=0.4',
  ],
];

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

let at: TestFolder;
let files: Readonly<Record<string, string>>;
beforeAll(async () => {
  at = await testFolder();
  expect(await runBundle('--out', at.out, ...FLAGS)).toMatchObject({ code: 0, err: '' });
  files = await at.files();
});
afterAll(() => at.remove());

const file = (path: string): string => files[`out/${path}`] ?? '';
const RULES = ['prometheus/rules/breakerbox.recording.yml', 'prometheus/rules/breakerbox.alerts.yml'];
const rules = (): readonly Rule[] =>
  RULES.flatMap((path) => {
    const { groups }: { groups: readonly { rules: readonly Rule[] }[] } = parse(file(path));
    return groups.flatMap((group) => group.rules);
  });
const alerts = (): readonly Rule[] => rules().filter(({ alert }) => alert !== undefined);

/** Every selector of an expression, found with Prometheus' own grammar. */
const selectorsOf = (expr: string): readonly string[] => {
  const found: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      expect(type.isError, `at ${from} of ${expr}`).toBe(false);
      if (type.name === 'VectorSelector') found.push(expr.slice(from, to));
    },
  });
  return found;
};

/** Metrics that agents report: neither recorded series nor alerts. */
const isReported = (selector: string): boolean => /^(breakerbox_|gen_ai_)\w+(\{|$)/.test(selector);

describe('a bundle', () => {
  it('has all its parts in its folder, and writes nothing outside it', () => {
    const paths = Object.keys(files);
    expect(paths.filter((path) => !path.startsWith('out/'))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(RULES.map((path) => `out/${path}`)));
    const fixed = [
      'README.md',
      'alertmanager/inhibit_rules.yml',
      'alertmanager/receivers.yml',
      'grafana/alerting/breakerbox-alerting.yml',
      'grafana/provisioning/dashboards/breakerbox.yml',
    ];
    expect(paths).toEqual(expect.arrayContaining(fixed.map((path) => `out/${path}`)));
    expect(paths.filter((path) => /^out\/alertmanager\/.+\.tmpl$/.test(path))).toHaveLength(1);
    expect(paths.filter((path) => /^out\/dashboards\/[\w-]+\.json$/.test(path))).toHaveLength(4);
    const names = ['README', ...new Set(alerts().map(({ alert }) => alert))].map((name) => `out/runbooks/${name}.md`);
    expect(paths.filter((path) => path.startsWith('out/runbooks/'))).toEqual(names.toSorted());
  });

  it('is made again byte for byte by the command in its README', async () => {
    const [, command = ''] = /```sh\nbreakerbox bundle (--out \.[^`]*)```/.exec(file('README.md')) ?? [];
    const script = `printf '%s\\n' ${command}`;
    const { output } = await runTool('sh', ['-c', script]);
    const again = output.trimEnd().split('\n');
    expect(again.slice(0, 2)).toEqual(['--out', '.']);
    const { code, out } = await runBundle('--out', at.out, ...again.slice(2));
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/: (\d+) files \(\1 unchanged\)/) });
  });
});

describe('its rules', () => {
  it('are valid rules for promtool', async () => {
    const { code, output } = await runTool('promtool', ['check', 'rules', ...RULES.map((path) => join(at.out, path))]);
    expect(code, output).toBe(0);
  });

  it('are the groups of the PrometheusRule too, which has the chosen namespace and labels', () => {
    const { metadata, spec } = parse(file('prometheus/operator/breakerbox.prometheusrule.yml'));
    expect(metadata).toEqual({
      name: 'breakerbox',
      namespace: 'monitoring',
      labels: { release: 'kps', team: 'agents' },
    });
    expect(spec.groups).toEqual(RULES.flatMap((path) => parse(file(path)).groups));
    expect(file('README.md')).toContain('`release: kps`, `team: agents`');
  });

  it('query only the selected series, in annotations too', () => {
    const asked = alerts().flatMap(({ annotations }) =>
      Object.values(annotations ?? {}).flatMap((text) =>
        [...text.matchAll(/printf\s+`([^`]+)`/g)].map(([, query = '']) =>
          query.replaceAll('%q', '"x"').replaceAll('%.0f', '0'),
        ),
      ),
    );
    const reported = [...rules().map(({ expr }) => expr), ...asked].flatMap(selectorsOf).filter(isReported);
    expect(reported.length).toBeGreaterThan(20);
    for (const selector of reported) expect(selector).toContain(SELECTOR);
    expect(asked.flatMap(selectorsOf).filter(isReported).length).toBeGreaterThan(0);
  });

  it('fire at the threshold that was set, for the selected series', async () => {
    const series = (labels: string, state: string, values: string) => ({
      series: `breakerbox_circuits{${labels}, instance="i", gen_ai_agent_name="a", gen_ai_tool_name="t", breakerbox_state="${state}"}`,
      values,
    });
    const session = (labels: string) => ({
      series: `breakerbox_sessions{${labels}, instance="i", gen_ai_agent_name="a", breakerbox_session_state="active"}`,
      values: '1x60',
    });
    const open = (labels: string) => [
      series(labels, 'open', '1x60'),
      series(labels, 'closed', '0x60'),
      session(labels),
    ];
    const chosen = 'job="agents-1", cluster="eu"';
    const alertsAt = (time: string, firing: boolean) => ({
      eval_time: time,
      alertname: 'BreakerboxCircuitOpen',
      exp_alerts: firing
        ? [
            {
              exp_labels: { job: 'agents-1', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
              exp_annotations: alertTexts,
            },
          ]
        : [],
    });
    // alerts/ tests the wording of the texts. This compares only what the bundle makes of them.
    const { runbook_url = '' } = alerts().find(({ alert }) => alert === 'BreakerboxCircuitOpen')?.annotations ?? {};
    const alertTexts = {
      runbook_url,
      dashboard_url: `${GRAFANA}/d/breakerbox-tool-detail?var-job=agents-1&var-agent=a&var-tool=t&from=900000&to=now`,
    };
    const stripped = rules().map(({ annotations, ...rule }) =>
      annotations === undefined
        ? rule
        : { ...rule, annotations: { runbook_url: annotations.runbook_url, dashboard_url: annotations.dashboard_url } },
    );
    await writeFile(join(at.folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'all', rules: stripped }] }));
    const test = {
      interval: '1m',
      input_series: [chosen, 'job="agents-1", cluster="us"', 'job="other", cluster="eu"'].flatMap(open),
      alert_rule_test: [alertsAt('15m', false), alertsAt('30m', true)],
    };
    const path = join(at.folder, 'threshold.test.yml');
    await writeFile(path, JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [test] }));
    const { code, output } = await runTool('promtool', ['test', 'rules', path]);
    expect(code, output).toBe(0);
  });

  it('have annotations that render with any selector', async () => {
    const odd = join(at.folder, 'odd');
    const value = String.raw`100%d-\"x\"|it's`;
    expect((await runBundle('--out', odd, '--only', 'rules', '--selector', `job="${value}"`)).err).toBe('');
    const agent = `job="${value}", instance="i", gen_ai_agent_name="a"`;
    const labels = `${agent}, gen_ai_tool_name="t"`;
    const test = {
      interval: '1m',
      input_series: [
        { series: `breakerbox_circuits{${labels}, breakerbox_state="open"}`, values: '1x30' },
        { series: `breakerbox_sessions{${agent}, breakerbox_session_state="active"}`, values: '1x30' },
        { series: `breakerbox_circuit_opened_time_seconds{${labels}, error_type="network"}`, values: '1x30' },
      ],
      // The alert fires, so promtool shows it instead of the expected nothing. No text has to be repeated here.
      alert_rule_test: [{ eval_time: '30m', alertname: 'BreakerboxCircuitOpen', exp_alerts: [] }],
    };
    const path = join(odd, 'texts.test.yml');
    await writeFile(path, JSON.stringify({ rule_files: RULES, evaluation_interval: '1m', tests: [test] }));
    const { output } = await runTool('promtool', ['test', 'rules', path]);
    expect(output).toContain('alertname="BreakerboxCircuitOpen"');
    expect(output).toMatch(/description="[^\n]*network/);
    expect(output).not.toContain('error expanding template');
  });

  it("are loaded by Prometheus from the bundle's folder", async () => {
    const config = join(at.folder, 'prometheus.yml');
    // As the README says, with the bundle's own folder instead of /etc/prometheus/rules.
    expect(file('README.md')).toContain('rule_files:\n  - /etc/prometheus/rules/breakerbox.*.yml');
    await writeFile(config, JSON.stringify({ rule_files: [join(at.out, 'prometheus/rules/breakerbox.*.yml')] }));
    const program = findProgram(['prometheus']);
    expect(program, "prometheus isn't on PATH: `npm test` brings it").toBeDefined();
    const url = `http://127.0.0.1:${await freePort()}`;
    const storage = join(at.folder, 'tsdb');
    const watchdog = startWatchdog(storage);
    const prometheus = startChild(program ?? '', [
      `--config.file=${config}`,
      `--storage.tsdb.path=${storage}`,
      `--web.listen-address=${url.slice('http://'.length)}`,
    ]);
    watchdog.guard(prometheus.pid === undefined ? [] : [prometheus.pid]);
    try {
      expect(await isReady(prometheus, `${url}/-/ready`, new AbortController().signal), prometheus.lastWords).toBe(
        true,
      );
      const { data } = (await (await fetch(`${url}/api/v1/rules`)).json()) as {
        data: { groups: readonly { rules: readonly { name: string }[] }[] };
      };
      const names = data.groups.flatMap((group) => group.rules.map(({ name }) => name));
      expect(names.toSorted()).toEqual(
        rules()
          .map(({ alert, record }) => alert ?? record)
          .toSorted(),
      );
    } finally {
      await prometheus.stop();
      watchdog.guard([]);
      await watchdog.close();
    }
  });

  it('have links to files of the bundle', () => {
    expect(alerts().length).toBeGreaterThan(10);
    for (const { alert, annotations = {} } of alerts()) {
      expect(annotations.runbook_url).toBe(`${RUNBOOKS}/${alert}.md`);
      expect(annotations.console_url).toMatch(`${CONSOLE}/#`);
      expect(file(`runbooks/${alert}.md`)).toContain(`${alert}`);
      const { url = '', uid } = /^(?<url>.*)\/d\/(?<uid>[\w-]+)\?/.exec(annotations.dashboard_url ?? '')?.groups ?? {};
      expect(url).toBe(GRAFANA);
      expect(JSON.parse(file(`dashboards/${uid}.json`))).toMatchObject({ uid });
    }
  });
});

describe('its runbooks', () => {
  it('have links that work', () => {
    const all = Object.entries(files).filter(([path]) => path.startsWith('out/runbooks/'));
    const links = all.flatMap(([, text]) => [...text.matchAll(/\]\((?!https?:)([^)#]*)/g)].map(([, to = '']) => to));
    expect(links.length).toBeGreaterThan(10);
    for (const to of new Set(links)) expect(to === '' || file(`runbooks/${to}`), to).toBeTruthy();
  });
});

describe('its dashboards', () => {
  const all = () => Object.keys(files).filter((path) => /^out\/dashboards\//.test(path));

  it('query only the selected series, and use the chosen data source', () => {
    for (const path of all()) {
      const json = JSON.parse(files[path] ?? '');
      const queries: readonly string[] = [
        ...dashboardQueries(json).map(({ expr }: DashboardQuery) => expr),
        ...variableQueries(json).map(({ selector }) => selector),
      ];
      const filled = queries.map((expr) => substitute(expr, { rateInterval: '4m', range: '1h' }));
      const reported = filled.flatMap(selectorsOf).filter(isReported);
      expect(reported.length).toBeGreaterThan(5);
      for (const selector of reported) expect(selector).toContain(`{${SELECTOR}, `);
      expect(json.templating.list[0].current).toMatchObject({ value: 'prom-1', text: 'Prometheus EU' });
    }
  });

  it('A9: link each line and row of an agent to the console', () => {
    const texts = all().map((path) => files[path] ?? '');
    const urls = texts.flatMap((text) =>
      [...text.matchAll(/"url": "(https:\/\/console[^\n]*)"/g)].map(([, url]) => url),
    );
    expect(urls.length).toBeGreaterThan(10);
    expect(urls).toContain(
      `${CONSOLE}/#agent=\${__data.fields[\\"Agent\\"]:percentencode}&tool=\${__data.fields[\\"Tool\\"]:percentencode}`,
    );
    for (const url of urls) expect(url).toMatch(/#agent=\$\{__(?:data|field)\.[^&]*\}(?:&tool=\$\{__[^&]*\})?$/);
  });

  it('are provisioned into the chosen folder from the path in the README', () => {
    const { providers } = parse(file('grafana/provisioning/dashboards/breakerbox.yml'));
    expect(providers).toMatchObject([{ folder: "The agents' health", type: 'file', allowUiUpdates: false }]);
    expect(file('README.md')).toContain(`cp dashboards/*.json ${providers[0].options.path}/`);
  });
});

describe('its alerts for Grafana', () => {
  interface Query {
    readonly datasourceUid: string;
    readonly model: { readonly expr?: string };
  }
  const groups = (): readonly { folder: string; rules: readonly { title: string; data: readonly Query[] }[] }[] =>
    parse(file('grafana/alerting/breakerbox-alerting.yml')).groups;

  it('query the chosen data source for the selected series, in the chosen folder', () => {
    for (const { folder } of groups()) expect(folder).toBe("The agents' health");
    const queries = groups().flatMap((group) => group.rules.flatMap(({ data }) => data));
    expect(new Set(queries.map(({ datasourceUid }) => datasourceUid))).toEqual(new Set(['prom-1', '__expr__']));
    const reported = queries.flatMap(({ model }) => (model.expr === undefined ? [] : selectorsOf(model.expr)));
    expect(reported.length).toBeGreaterThan(20);
    for (const selector of reported.filter(isReported)) expect(selector).toContain(SELECTOR);
  });

  it('are as many as the alerts for Prometheus', () => {
    expect(groups().flatMap((group) => group.rules)).toHaveLength(alerts().length);
  });
});
