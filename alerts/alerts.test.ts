import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createBreakerbox } from '../packages/core/src/index.ts';
import { ATTR, METRIC, type MetricDefinition } from '../packages/core/src/telemetry/semconv.ts';
import { runTool } from '../stack/tools.ts';
import { namesIn } from './promql.ts';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const here = import.meta.dirname;
const read = (path: string): string => readFileSync(`${here}/${path}`, 'utf8');
const files = (folder: string, end: string): string[] =>
  readdirSync(`${here}/${folder}`)
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name}`);

const ruleFiles = files('rules', '.yml');
const testFiles = files('tests', '.test.yml');
const runbookFiles = files('runbooks', '.md');
const rules: Rule[] = ruleFiles.flatMap((file) => {
  const document: { groups: { rules: Rule[] }[] } = parse(read(file));
  return document.groups.flatMap((group) => group.rules);
});
const recordings = rules.filter((rule) => rule.record !== undefined);
const alerts = rules.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));

/** Every series name that the code can emit. */
const seriesNames = new Set(
  Object.values<MetricDefinition>(METRIC).flatMap(({ prometheus, kind }) =>
    kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => prometheus + end) : [prometheus],
  ),
);
const recordedNames = new Set(recordings.map((rule) => rule.record));
/** OpenTelemetry's attributes as Prometheus writes them, and the label that Prometheus adds. */
const labelNames = new Set(['job', ...Object.values(ATTR).map((name) => name.replaceAll('.', '_'))]);

function expectKnownNames(expression: string): void {
  const { metrics, labels } = namesIn(expression);
  for (const name of metrics) {
    expect(seriesNames.has(name) || recordedNames.has(name), `${name} in: ${expression}`).toBe(true);
  }
  for (const name of labels) expect(labelNames.has(name), `label ${name} in: ${expression}`).toBe(true);
}

/** The queries inside a template, which promtool doesn't check: printf `…` args | query. */
function queriesOf(template: string): string[] {
  return [...template.matchAll(/printf\s+`([^`]+)`[^}]*\|\s*query/g)].map((match) =>
    (match[1] ?? '').replaceAll('%q', '"x"'),
  );
}

/** Where a person finds this repository, by the root's package.json: https://host/owner/name. */
function repository(): string {
  const { repository }: { repository: { url: string } } = JSON.parse(read('../package.json'));
  expect(repository.url).toMatch(/^git\+https:.+\.git$/);
  return repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
}

describe('rules, by promtool', () => {
  it('are valid', async () => {
    const { code, output } = await runTool(
      'promtool',
      ['check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles],
      here,
    );
    expect(code, output).toBe(0);
    expect(output).toContain('SUCCESS');
  });

  it('pass their tests', async () => {
    const { code, output } = await runTool('promtool', ['test', 'rules', ...testFiles], here);
    expect(code, output).toBe(0);
  });

  it('says how to get promtool where it is missing', async () => {
    await expect(runTool('promtool-that-is-not-there', [])).rejects.toThrow(/not on PATH.*npm test/);
  });
});

describe('names', () => {
  it.each(rules.map((rule) => [rule.record ?? rule.alert, rule.expr]))('of %s are the code’s', (_, expression) => {
    expectKnownNames(expression ?? '');
  });

  it('of recorded series are level:metric:operation, over labels that the expression keeps', () => {
    for (const { record, expr } of recordings) {
      expect(record).toMatch(/^job_agent(_tool)?:[a-z_]+:[a-z0-9_]+$/);
      expect(namesIn(expr).labels.has(ATTR.tool.replaceAll('.', '_'))).toBe(record?.startsWith('job_agent_tool:'));
    }
  });

  it('inside annotations are the code’s too', () => {
    const queries = alerts.flatMap(({ annotations }) => Object.values(annotations ?? {}).flatMap(queriesOf));
    expect(queries).toHaveLength(2);
    queries.forEach(expectKnownNames);
  });

  it('refuses a name nobody emits, and a typing error', () => {
    expect(() => expectKnownNames('breakerbox_circuit_state > 0')).toThrow(/breakerbox_circuit_state/);
    expect(() => namesIn('sum by (job (breakerbox_circuits)')).toThrow(/syntax error/);
  });
});

describe('each alert', () => {
  it('is tested', () => {
    const tests = testFiles.map(read).join('\n');
    for (const { alert } of alerts) expect(tests).toContain(`alertname: ${alert}`);
  });

  it.each(alerts.map((rule) => [rule.alert, rule] as const))(
    '%s has severity, annotations and a runbook',
    (name, rule) => {
      expect(name).toMatch(/^Breakerbox[A-Z][A-Za-z]+$/);
      expect(['critical', 'warning', 'info']).toContain(rule.labels?.severity);
      expect(Object.keys(rule.annotations ?? {}).sort()).toEqual([
        'dashboard_url',
        'description',
        'runbook_url',
        'summary',
      ]);
      expect(rule.annotations?.runbook_url).toBe(`${repository()}/blob/main/alerts/runbooks/${name}.md`);
      expect(runbookFiles).toContain(`runbooks/${name}.md`);
      expect(rule.annotations?.dashboard_url).toMatch(
        /^\{\{ \$externalLabels\.grafana_url \}\}\/d\/breakerbox-fleet-overview\?var-agent=/,
      );
    },
  );

  it('links to a dashboard that exists, by variables that it has', () => {
    const dashboard: { uid: string; templating: { list: { name: string }[] } } = JSON.parse(
      read('../dashboards/generated/breakerbox-fleet-overview.json'),
    );
    const variables = dashboard.templating.list.map(({ name }) => `var-${name}`);
    for (const { annotations } of alerts) {
      const link = new URL(annotations?.dashboard_url?.replaceAll(/\{\{.*?\}\}/g, '') ?? '', 'http://grafana');
      expect(link.pathname).toBe(`/d/${dashboard.uid}`);
      expect(variables).toEqual(expect.arrayContaining([...link.searchParams.keys()]));
    }
  });

  it('says the same summary for all tools that Alertmanager groups under it', () => {
    for (const { annotations } of alerts) {
      const labels = [...(annotations?.summary ?? '').matchAll(/\$labels\.(\w+)/g)].map((match) => match[1]);
      expect(['gen_ai_agent_name', 'job']).toEqual(expect.arrayContaining(labels));
      expect(annotations?.summary).not.toContain('$value');
    }
  });
});

describe('each runbook', () => {
  it.each(runbookFiles)('%s names only what can be called on a session', (file) => {
    const session = createBreakerbox({ agent: 'runbooks' }).session();
    const called = [...read(file).matchAll(/\bsession\.(\w+)/g)].map((match) => match[1] ?? '');
    for (const name of called) expect(session, `session.${name} in ${file}`).toHaveProperty(name);
  });

  it('belongs to an alert', () => {
    expect(runbookFiles.map((file) => basename(file, '.md')).sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  });

  it.each(runbookFiles)('%s has queries that parse, on names of the code', (file) => {
    const queries = [...read(file).matchAll(/```promql\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
    expect(queries.length).toBeGreaterThan(1);
    queries.forEach(expectKnownNames);
  });
});
