/** The rules and the queries of the dashboards in engines other than Debian's Prometheus: a current Prometheus, and VictoriaMetrics. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { METRIC } from '@breakerbox/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { builtDashboards } from '../../dashboards/src/dashboards.ts';
import { dashboardQueries, substitute } from '../../dashboards/src/queries.ts';
import { freePort, isReady, startChild } from '../../packages/demo/src/child.ts';
import { startAgent } from '../../packages/telemetry/src/test-support/agent-process.ts';
import { goProgram, NO_GO } from '../../test/go-programs.ts';
import { prometheusClient } from '../../test/prometheus.ts';
import { inlined } from '../src/grafana.ts';
import { ruleFiles } from '../src/prometheus.ts';
import { resolved } from '../src/rules.ts';
import { SimulatedProcess } from './process.ts';

const MINUTE_MS = 60_000;
const BUILD_MS = 15 * MINUTE_MS;

interface Rule {
  readonly record?: string;
  readonly alert?: string;
}

/** The rules behind the alert on a tool that is out of use. */
const isReplayed = ({ record = '', alert = '' }: Rule): boolean =>
  alert === 'BreakerboxCircuitOpen' ||
  /:breakerbox_(?:circuits_not_closed:sum|circuits:sum|circuits_out_of_use:\w+)$/.test(record);

const queries = builtDashboards().flatMap(({ uid, json }) =>
  dashboardQueries(json).map(({ panel, expr }) => ({
    name: `${uid} ${panel}`,
    expr: substitute(expr, { rateInterval: '1m', range: '30m' }),
  })),
);

let folder = '';
const stops: (() => Promise<void>)[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-engines-'));
  for (const { name, text } of ruleFiles()) await writeFile(join(folder, name), text);
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await rm(folder, { recursive: true, force: true });
});

const started = async (program: string, args: readonly string[], ready: string): Promise<void> => {
  const child = startChild(program, args);
  stops.push(() => child.stop());
  if (!(await isReady(child, ready, new AbortController().signal))) throw new Error(`Not ready: ${child.lastWords}`);
};

/** All queries that the engine rejects, with its words. */
const rejected = async (url: string): Promise<readonly string[]> => {
  const faults: string[] = [];
  for (const { name, expr } of queries) {
    const response = await fetch(`${url}/api/v1/query`, { method: 'POST', body: new URLSearchParams({ query: expr }) });
    const text = await response.text();
    if (!response.ok || /"(?:warnings|infos)":/.test(text)) faults.push(`${name}: ${text.slice(0, 300)}`);
  }
  return faults;
};

/** The p95 of the alert and of the panels is in these bounds, and no series has the buckets of a classic histogram. */
const hasP95 = async (url: string, above: number, most: number): Promise<void> => {
  const client = prometheusClient(url);
  const panel = (title: string) => queries.find(({ name, expr }) => name.endsWith(title) && expr.includes('0.95'));
  const { read } = inlined(resolved({}));
  const exprs = [read.now('p95'), read.now('p95Short'), panel('p95 5m')?.expr, panel('Latency percentiles')?.expr];
  await vi.waitFor(
    async () => {
      for (const expr of exprs) {
        const [series] = await client.instant(expr ?? '');
        const seconds = series?.values[0]?.[1] ?? Number.NaN;
        expect(seconds, expr).toBeGreaterThan(above);
        expect(seconds, expr).toBeLessThanOrEqual(most);
      }
    },
    { timeout: MINUTE_MS, interval: 1000 },
  );
  expect(await client.instant(`${METRIC.duration.prometheus}_bucket`)).toEqual([]);
};

describe.skipIf(NO_GO !== undefined)('Prometheus 3 with convert_classic_histograms_to_nhcb', () => {
  let url = '';
  let exporter: HttpServer;

  /** Each second, ten calls of more than 2.56 s and at most 5.12 s. */
  const scrape = (since: number): string => {
    const count = Math.floor((Date.now() - since) / 1000) * 10;
    const { prometheus: name } = METRIC.duration;
    const of = 'gen_ai_agent_name="a",gen_ai_tool_name="t"';
    return [
      `# TYPE ${name} histogram`,
      ...[1.28, 2.56].map((le) => `${name}_bucket{${of},le="${le}"} 0`),
      ...['5.12', '+Inf'].map((le) => `${name}_bucket{${of},le="${le}"} ${count}`),
      `${name}_sum{${of}} ${count * 4}`,
      `${name}_count{${of}} ${count}`,
      '',
    ].join('\n');
  };

  beforeAll(async () => {
    const program = await goProgram('prometheus');
    const since = Date.now();
    exporter = createServer((_, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end(scrape(since));
    });
    await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
    stops.push(async () => void exporter.close());
    const { port: target } = exporter.address() as AddressInfo;
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const config = join(folder, 'prometheus.yml');
    await writeFile(
      config,
      `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${join(folder, 'breakerbox.*.yml')}]
scrape_configs:
  - job_name: j
    scrape_native_histograms: true
    convert_classic_histograms_to_nhcb: true
    always_scrape_classic_histograms: false
    static_configs: [{ targets: ['127.0.0.1:${target}'] }]
`,
    );
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    await started(program, args, `${url}/-/ready`);
  }, BUILD_MS);

  it('stores no buckets, and the alert on slow tools and the panels have their p95', () => hasP95(url, 4.5, 5.12));

  it(
    'evaluates every rule, and accepts every query of the dashboards without a warning',
    async () => {
      const client = prometheusClient(url);
      await vi
        .waitFor(async () => expect((await client.rules()).filter(({ health }) => health === 'unknown')).toEqual([]), {
          timeout: MINUTE_MS / 2,
          interval: 1000,
        })
        .catch(() => undefined); // Some are evaluated each quarter of an hour.
      const rules = await client.rules();
      expect(rules.length).toBeGreaterThan(70);
      expect(rules.filter(({ lastError }) => lastError !== undefined && lastError !== '')).toEqual([]);
      expect(await rejected(url)).toEqual([]);
    },
    4 * MINUTE_MS,
  );
});

describe.skipIf(NO_GO !== undefined)('Prometheus 3 that receives OTLP', () => {
  let url = '';

  beforeAll(async () => {
    const program = await goProgram('prometheus');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const config = join(folder, 'otlp.yml');
    await writeFile(config, '{}\n');
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'otlp')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.enable-otlp-receiver',
      '--enable-feature=native-histograms',
    ];
    await started(program, args, `${url}/-/ready`);
  }, BUILD_MS);

  /** Each call takes three seconds by the clock of the agent. */
  const AGENT = `
    import { metrics } from '@opentelemetry/api';
    import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
    import { resourceFromAttributes } from '@opentelemetry/resources';
    import { AggregationType, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
    import { createBreakerbox } from '@breakerbox/core';

    const exporter = new OTLPMetricExporter();
    const aggregation = { type: AggregationType.EXPONENTIAL_HISTOGRAM };
    metrics.setGlobalMeterProvider(
      new MeterProvider({
        resource: resourceFromAttributes({ 'service.name': 'j', 'service.instance.id': 'i' }),
        readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 500, exportTimeoutMillis: 500 })],
        views: [{ instrumentName: '${METRIC.duration.name}', aggregation }],
      }),
    );
    let ms = 0;
    const clock = { now: () => ms, unixNow: () => Date.now() };
    const session = createBreakerbox({ agent: 'a', tools: { t: {} }, clock }).session();
    setInterval(() => {
      const permit = session.acquire('t');
      ms += 3000;
      permit.settle({ outcome: 'success' });
    }, 50);
  `;

  it('keeps exponential histograms as native ones, and the alert on slow tools and the panels have their p95', async () => {
    await using agent = startAgent(AGENT, { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/api/v1/otlp/v1/metrics` });
    await Promise.race([
      hasP95(url, 2.9, 3.1),
      agent.ended.then(() => Promise.reject(new Error(`The agent ended: ${agent.stderr()}`))),
    ]);
  });

  it('accepts every query of the dashboards without a warning', async () => {
    expect(await rejected(url)).toEqual([]);
  });
});

describe.skipIf(NO_GO !== undefined)('VictoriaMetrics and vmalert', () => {
  const LASTS = 40 * 60;
  const STEP = 15;
  const OPENS = 20 * 60;
  const beganS = Math.floor(Date.now() / 1000) - LASTS;
  let url = '';
  let vmalert = '';

  /** A tool fails half of the time, and then stays open. */
  const history = (): string => {
    const one = new SimulatedProcess({ tools: ['dead', 'well'] });
    const lines: string[] = [];
    one.begin();
    for (let now = 0; now <= LASTS; now += STEP) {
      one.call('well', 'success');
      if (now === OPENS) one.open(now, 'dead', 'server');
      else if (now < OPENS) one.call('dead', 'success');
      else one.skip('dead');
      for (const [series, value] of one.read()) {
        const at = value === OPENS ? value + beganS : value; // A time.
        lines.push(`${series} ${at} ${(beganS + now) * 1000}`);
      }
    }
    return lines.join('\n');
  };

  beforeAll(async () => {
    const program = await goProgram('victoria-metrics');
    vmalert = await goProgram('vmalert');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const args = [
      `-storageDataPath=${join(folder, 'victoria')}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      '-search.latencyOffset=0s',
      '-inmemoryDataFlushInterval=1s',
    ];
    await started(program, args, `${url}/health`);
    const response = await fetch(`${url}/api/v1/import/prometheus`, { method: 'POST', body: history() });
    expect(response.ok).toBe(true);
    await fetch(`${url}/internal/force_flush`);
  }, BUILD_MS);

  it('accepts every query of the dashboards', async () => {
    expect(await rejected(url)).toEqual([]);
  });

  it(
    'loads every rule, and fires for the tool that is out of use, and for no other',
    async () => {
      const iso = (seconds: number): string => new Date((beganS + seconds) * 1000).toISOString();
      const replay = [
        `-datasource.url=${url}`,
        `-remoteWrite.url=${url}`,
        `-replay.timeFrom=${iso(0)}`,
        `-replay.timeTo=${iso(LASTS)}`,
        '-replay.maxDatapointsPerQuery=200',
        '-replay.rulesDelay=1s',
        '-remoteWrite.flushInterval=100ms',
      ];
      for (const { name } of ruleFiles())
        await promisify(execFile)(vmalert, [`-rule=${join(folder, name)}`, '-dryRun'], { maxBuffer: 2 ** 24 });
      // Replay evaluates a rule over the whole time. A rule reads what the one before it recorded, so each has a run, and what it wrote is
      // made visible: only the rules behind this alert.
      const rules = ruleFiles().flatMap(({ text }) =>
        (parse(text).groups as { name: string; rules: Rule[] }[]).flatMap((group) => group.rules.filter(isReplayed)),
      );
      expect(rules.length).toBeGreaterThanOrEqual(6);
      const file = join(folder, 'replayed.yml');
      for (const rule of rules) {
        await writeFile(file, stringify({ groups: [{ name: 'replayed', interval: '30s', rules: [rule] }] }));
        await promisify(execFile)(vmalert, [`-rule=${file}`, ...replay], { maxBuffer: 2 ** 24 });
        await fetch(`${url}/internal/force_flush`);
      }
      const body = new URLSearchParams({
        query: 'ALERTS{alertstate="firing"}',
        ...{ start: String(beganS), end: String(beganS + LASTS), step: '15' },
      });
      const answer = (await (await fetch(`${url}/api/v1/query_range`, { method: 'POST', body })).json()) as {
        data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
      };
      const firing = answer.data.result.map(({ metric, values }) => ({
        alert: metric.alertname,
        tool: metric.gen_ai_tool_name,
        afterS: (values[0]?.[0] ?? 0) - beganS - OPENS,
      }));
      expect(firing).toMatchObject([{ alert: 'BreakerboxCircuitOpen', tool: 'dead' }]);
      expect(firing[0]?.afterS).toBeGreaterThanOrEqual(300);
      expect(firing[0]?.afterS).toBeLessThanOrEqual(480);
    },
    5 * MINUTE_MS,
  );
});
