import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DCLinter } from 'dclint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { ATTR, METRIC } from '../packages/core/src/telemetry/semconv.ts';
import { AGENT_NAMES } from '../packages/demo/src/agent-names.ts';
import type { DemoOptions } from '../packages/demo/src/demo.ts';
import { demoCommand } from '../packages/demo/src/demo-command.ts';
import { CYCLE_MS, INCIDENTS } from '../packages/demo/src/incidents.ts';
import type { SharedDemoOptions } from '../packages/demo/src/shared/shared-demo.ts';
import { COMPOSE_SCALE, DEMO_RULES, demoRules } from './demo-rules.ts';
import {
  ROOT,
  readAlertmanager,
  readCollector,
  readCompose,
  readDashboardProviders,
  readDataSources,
  readPrometheus,
  readText,
  type TracesToMetrics,
} from './files.ts';
import { runTool } from './tools.ts';

const compose = readCompose();
const services = Object.entries(compose.services);
const prometheus = readPrometheus();
const collector = readCollector();
const dataSources = readDataSources();
const { tracesToMetrics } = (dataSources.find(({ type }) => type === 'tempo')?.jsonData ?? {}) as unknown as {
  readonly tracesToMetrics: TracesToMetrics;
};
const AGENTS = services.filter(([name]) => name.startsWith('agent-'));

describe('docker-compose.yml', () => {
  it('follows the compose schema and good practice', () => {
    const off = ['service-keys-order', 'require-quotes-in-ports'];
    const rules = Object.fromEntries(off.map((name) => [name, 0 as const]));
    // dclint's own types do not resolve under nodenext.
    const results: readonly { readonly messages: readonly unknown[] }[] = new DCLinter({
      rules,
      quiet: true,
      debug: false,
      exclude: [],
    }).lintFiles([join(ROOT, 'docker-compose.yml')], false);
    expect(results).toHaveLength(1);
    expect(results.flatMap(({ messages }) => messages)).toEqual([]);
  });

  describe.each(services)('%s', (name, service) => {
    it('has an image with an exact version, or a Dockerfile whose base has one', () => {
      const dockerfile = services.find(([, one]) => one.image === service.image && one.build)?.[1].build?.dockerfile;
      const image = dockerfile === undefined ? service.image : /^FROM (\S+)$/m.exec(readText(dockerfile))?.[1];
      expect(image).toMatch(/^[a-z0-9./-]+:v?\d+\.\d+\.\d+(-[a-z-]+)?$/);
    });

    it('mounts files that exist, read-only, and volumes that are declared', () => {
      for (const volume of service.volumes ?? []) {
        const [source = '', target, mode] = volume.split(':');
        expect(target).toMatch(/^\//);
        if (source.startsWith('.')) {
          expect(existsSync(resolve(ROOT, source)), `${source}, mounted by ${name}`).toBe(true);
          expect(mode, volume).toBe('ro');
        } else expect(Object.keys(compose.volumes)).toContain(source);
      }
    });

    it('publishes only on 127.0.0.1', () => {
      expect(service.ports?.length ?? 0).toBe(
        service.ports?.filter((port) => port.startsWith('127.0.0.1:')).length ?? 0,
      );
    });

    it('has a health check, or says why not; is restarted; has a memory limit', () => {
      const check = service.healthcheck?.test[0] === 'CMD' ? 'checked' : service['x-no-healthcheck'];
      expect(check).toBeTruthy();
      expect(service.restart).toBe('unless-stopped');
      expect(service.mem_limit).toMatch(/^\d+m$/);
    });

    it('waits only for existing services, and for health only with a check', () => {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect(compose.services[other], other).toBeDefined();
        if (condition === 'service_healthy') expect(compose.services[other]?.healthcheck, other).toBeDefined();
      }
    });
  });

  it('builds its own image once, with any service that is started, and never pulls it from a registry', () => {
    const own = services.filter(([name]) => name === 'pager' || name.startsWith('agent-'));
    expect(new Set(own.map(([, { image }]) => image)).size).toBe(1);
    expect(own.every(([, service]) => service.pull_policy === 'never')).toBe(true);
    const builders = services.filter(([, { build }]) => build).map(([name]) => name);
    expect(builders).toHaveLength(1);
    for (const [name, { depends_on = {} }] of own) expect([name, ...Object.keys(depends_on)]).toContain(builders[0]);
  });

  it('works without Tempo: no service waits for its health', () => {
    const conditions = services.flatMap(([, { depends_on = {} }]) => depends_on.tempo?.condition ?? []);
    expect(conditions).toEqual(['service_started', 'service_started']);
  });

  it('requires a password for Grafana', () => {
    const environment = compose.services.grafana?.environment ?? {};
    expect(Object.keys(environment).filter((name) => /ANONYMOUS|DISABLE_LOGIN|AUTH_PROXY/.test(name))).toEqual([]);
    expect(environment.GF_SECURITY_ADMIN_PASSWORD).toMatch(/^\$\{GRAFANA_ADMIN_PASSWORD:-.+\}$/);
  });

  it('exports the metrics of each demo agent in one way: two are scraped, one pushes', () => {
    const scraped = prometheus.scrape_configs.flatMap((job) => job.static_configs.flatMap(({ targets }) => targets));
    for (const [name, { environment = {} }] of AGENTS) {
      const isScraped = scraped.some((target) => target.startsWith(`${name}:`));
      expect(environment.OTEL_METRICS_EXPORTER, name).toBe(isScraped ? 'prometheus' : 'otlp');
    }
    expect(AGENTS.map(([, { environment }]) => environment?.OTEL_METRICS_EXPORTER).sort()).toEqual([
      'otlp',
      'prometheus',
      'prometheus',
    ]);
  });

  it('pushes as often as Prometheus scrapes, so that panels have no gaps', () => {
    const [[, ops] = []] = AGENTS.filter(([, { environment }]) => environment?.OTEL_METRICS_EXPORTER === 'otlp');
    const seconds = Number.parseInt(prometheus.global.scrape_interval, 10);
    expect(Number(ops?.environment?.OTEL_METRIC_EXPORT_INTERVAL)).toBe(seconds * 1000);
  });

  it('has each agent of the fleet once, all at the same pace, with traces and logs under its own name', async () => {
    const run: DemoOptions[] = [];
    for (const [, { command = [] }] of AGENTS) {
      const demo = demoCommand(async (options) => void run.push(options));
      await demo.parseAsync([...command], { from: 'user' });
    }
    expect(run.flatMap(({ names }) => names).sort()).toEqual([...AGENT_NAMES].sort());
    expect(new Set(run.map(({ pace }) => pace)).size).toBe(1);
    expect(run.every(({ stack, host }) => !stack && host === '0.0.0.0')).toBe(true);
    const environments = AGENTS.map(([, { environment = {} }]) => environment);
    expect(new Set(environments.map(({ OTEL_SERVICE_NAME }) => OTEL_SERVICE_NAME)).size).toBe(3);
    for (const environment of environments) {
      expect(environment).toMatchObject({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_LOGS_EXPORTER: 'otlp' });
    }
  });

  it('has processes that share circuits through its own Redis, which keeps nothing and publishes nothing', async () => {
    const { redis, 'shared-agents': shared } = compose.services;
    const run: SharedDemoOptions[] = [];
    const demo = demoCommand(
      async () => undefined,
      async (options) => void run.push(options),
    );
    await demo.parseAsync([...(shared?.command ?? [])], { from: 'user' });
    expect(run).toEqual([{ forMs: undefined, json: false, pace: 20, redisUrl: 'redis://redis:6379' }]);
    expect(shared?.environment).toMatchObject({ OTEL_METRICS_EXPORTER: 'otlp' });
    expect([redis?.volumes, redis?.ports]).toEqual([undefined, undefined]);
    expect(redis?.command?.join(' ')).toContain('--save  --appendonly no');
  });

  it('loads rules that are fast enough for each outage to be reported and resolved within a round', () => {
    // Calculated: CircuitOpen waits for half of the median's window and for its `for`. A circuit opens after 3 failures.
    const pace = Number(AGENTS[0]?.[1].command?.at(AGENTS[0][1].command.indexOf('--pace') + 1));
    const minute = 60_000 * COMPOSE_SCALE.factor;
    const gap = Math.max(2.5 * minute, COMPOSE_SCALE.leastRangeMs);
    const untilFired = gap / 2 + 5 * minute + 2 * 5000;
    for (const title of ['tickets answers 429 with Retry-After', 'the MCP server is killed', 'orders answers 503']) {
      const incident = INCIDENTS.find((one) => one.title === title);
      const untilOpened = 3000 * pace;
      const lasts = ((incident?.endMs ?? 0) - (incident?.beginMs ?? 0)) * pace;
      expect(lasts - untilOpened, title).toBeGreaterThanOrEqual(0);
      // The circuit is open until the first probe after the outage. That alone takes as long as the cooldown, 3 s at pace 1.
      expect(lasts - untilOpened + 3000 * pace, title).toBeGreaterThan(untilFired);
    }
    // Systemic failures are reported for 10 minutes more, and the quiet time after the last incident is longer.
    const last = Math.max(...INCIDENTS.map(({ endMs }) => endMs));
    expect((CYCLE_MS - last) * pace).toBeGreaterThan(10 * minute);
  });
});

describe('the parts of the files', () => {
  it('keeps the job label of the metrics that the Collector exports', () => {
    const job = prometheus.scrape_configs.find(({ job_name }) => job_name === 'otel-collector');
    expect(job?.honor_labels).toBe(true);
  });

  it('has every part of the Collector’s pipelines', () => {
    expect(Object.keys(collector.service.pipelines).sort()).toEqual(['logs', 'metrics', 'traces']);
    for (const pipeline of Object.values(collector.service.pipelines)) {
      expect(Object.keys(collector.receivers)).toEqual(expect.arrayContaining([...pipeline.receivers]));
      expect(Object.keys(collector.processors)).toEqual(expect.arrayContaining([...pipeline.processors]));
      expect(Object.keys(collector.exporters)).toEqual(expect.arrayContaining([...pipeline.exporters]));
    }
    expect(collector.service.extensions).toEqual(Object.keys(collector.extensions));
  });

  it('gives Grafana the scrape interval of Prometheus', () => {
    const source = dataSources.find(({ type }) => type === 'prometheus');
    expect(source?.jsonData.timeInterval).toBe(prometheus.global.scrape_interval);
  });

  it('has the data sources that links and dashboards name', () => {
    const uids = dataSources.map(({ uid }) => uid);
    expect(uids).toEqual(['breakerbox-prometheus', 'breakerbox-tempo', 'breakerbox-alertmanager']);
    const folder = compose.services.grafana?.volumes
      ?.find((volume) => volume.includes('/dashboards:ro'))
      ?.split(':')[0];
    const dashboards = readdirSync(resolve(ROOT, folder ?? '')).map((name) => readText(join(folder ?? '', name)));
    const named = [readText('stack/grafana/provisioning/datasources/breakerbox.yml'), ...dashboards].flatMap((text) =>
      [...text.matchAll(/breakerbox-(?:prometheus|tempo|alertmanager|loki)\b/g)].map(([uid]) => uid),
    );
    expect(uids).toEqual(expect.arrayContaining(named));
  });

  it('queries series that core emits, from a span', () => {
    const names = Object.values(METRIC).map(({ prometheus: name }): string => name);
    const text = readText('stack/grafana/provisioning/datasources/breakerbox.yml');
    const used = [...text.matchAll(/(?:breakerbox|gen_ai)_\w+(?=\{)/g)].map(([name]) => name.replace(/_bucket$/, ''));
    expect(used).toHaveLength(5);
    expect(names).toEqual(expect.arrayContaining(used));
    const { tags, queries } = tracesToMetrics;
    const attributes: readonly string[] = Object.values(ATTR);
    for (const { key, value } of tags) {
      expect(attributes).toContain(key);
      expect(value).toBe(key.replaceAll('.', '_'));
    }
    expect(queries.every(({ query }) => query.includes('$$__tags'))).toBe(true);
    // No other metric has the category.
    for (const { query } of queries.filter((one) => one.query.includes('by (error_type)')))
      expect(query).toContain(`${METRIC.errors.prometheus}{`);
  });

  it('has the dashboards in the folder of Grafana’s own alerts, identified by its title', () => {
    const { groups }: { groups: { folder: string }[] } = parse(readText('alerts/grafana/breakerbox-alerting.yml'));
    const [provider, ...others] = readDashboardProviders();
    expect(others).toEqual([]);
    expect(new Set(groups.map(({ folder }) => folder))).toEqual(new Set([provider?.folder]));
    expect(provider?.folderUid).toBeUndefined();
  });
});

describe('the rules of the demonstration', () => {
  it('are what generate.ts makes of alerts/rules (otherwise run it, and commit the result)', () => {
    const onDisk = readdirSync(resolve(ROOT, DEMO_RULES)).map((name) => [name, readText(join(DEMO_RULES, name))]);
    expect(Object.fromEntries(onDisk)).toEqual(Object.fromEntries(demoRules().map(({ name, text }) => [name, text])));
  });

  it('read at least three scrapes', () => {
    const seconds = Number.parseInt(prometheus.global.scrape_interval, 10);
    expect(COMPOSE_SCALE.leastRangeMs).toBeGreaterThanOrEqual(3 * seconds * 1000);
    const text = demoRules()
      .map((file) => file.text)
      .join('\n');
    const ranges = [...text.matchAll(/[\w}]\[(\d+)(ms|s)[:\]]/g)].map(
      ([, n, unit]) => Number(n) * (unit === 's' ? 1000 : 1),
    );
    expect(ranges.length).toBeGreaterThan(20);
    expect(Math.min(...ranges)).toBe(COMPOSE_SCALE.leastRangeMs);
    expect(text).not.toMatch(/[\w}]\[\d+[mhdw]/);
    // Links begin at a whole minute, in the demonstration too.
    expect(text.replaceAll(/\/\s+60\)\s+\* 60/g, '')).not.toMatch(/\* 60\b/);
  });
});

describe('the files, checked by the programs that read them', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'breakerbox-stack-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['alerts/rules', DEMO_RULES])('prometheus.yml, with the rules of %s', async (rules) => {
    const file = join(folder, 'prometheus.yml');
    writeFileSync(file, stringify({ ...prometheus, rule_files: [resolve(ROOT, rules, '*.yml')] }));
    const { code, output } = await runTool('promtool', ['check', 'config', file]);
    expect(code, output).toBe(0);
    expect(output).toContain('2 rule files found');
  });

  it.each([
    ['both tags', 'gen_ai_agent_name="ops-agent", gen_ai_tool_name="fetch"'],
    ['none', ''],
  ])('the queries of a span’s menu, with %s', async (_, tags) => {
    const file = join(folder, 'queries.yml');
    const rules = tracesToMetrics.queries.map(({ query }, n) => ({
      record: `query_${n}`,
      expr: query.replaceAll('$$__tags', tags),
    }));
    writeFileSync(file, stringify({ groups: [{ name: 'queries', rules }] }));
    const { code, output } = await runTool('promtool', ['check', 'rules', file]);
    expect(code, output).toBe(0);
  });

  it('alertmanager.yml', async () => {
    const { code, output } = await runTool('amtool', ['check-config', 'stack/alertmanager/alertmanager.yml'], ROOT);
    expect(code, output).toBe(0);
    expect(readAlertmanager().receivers.map(({ name }) => name)).toEqual([readAlertmanager().route.receiver]);
  });

  it.each([
    'docker-compose.yml',
    'stack/tempo/tempo.yaml',
    'stack/otel-collector/config.yaml',
    'stack/grafana/provisioning/dashboards/breakerbox.yml',
  ])('%s is YAML without duplicate keys', (path) => {
    const documents = parseAllDocuments(readText(path), { merge: true });
    expect(documents).toHaveLength(1);
    for (const { errors, warnings } of documents) expect([...errors, ...warnings]).toEqual([]);
  });
});
