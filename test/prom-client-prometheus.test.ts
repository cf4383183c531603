import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { METRIC } from '@breakerbox/core';
import { startTelemetry } from '@breakerbox/telemetry';
import { registerBreakerboxMetrics } from '@breakerbox/telemetry/prom-client';
import { trace } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { openMetricsContentType, Registry, type RegistryContentType } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dashboardPanels, substitute } from '../dashboards/src/queries.ts';
import { type RunningAgent, startAgent, startSeller } from './agents.ts';
import { dashboards } from './panels.ts';
import { type PrometheusClient, prometheusClient, type Series } from './prometheus.ts';
import { type Servers, startServers } from './servers.ts';
import { INTERVAL_MS, SCALE } from './walk.ts';

/**
 * One process with three endpoints over the same series, and a real Prometheus with the repository's rules. Dashboards and
 * alerts must find the same at an application's own prom-client registry and at startTelemetry's endpoint.
 */
const LIMIT_MS = 90_000;
const JOBS = ['sdk', 'text', 'openmetrics'] as const;
type Job = (typeof JOBS)[number];

/** A registry that an application serves. */
const serve = async (registry: Registry<RegistryContentType>) => {
  const server = createServer(async (_, response) => {
    response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const unregister = registerBreakerboxMetrics(registry);
  return {
    target: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      unregister();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

interface ExemplarAnswer {
  readonly data: readonly {
    readonly seriesLabels: Readonly<Record<string, string>>;
    readonly exemplars: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: string }[];
  }[];
}

const startRun = async () => {
  const begun = Date.now() / 1000;
  const traceIds = new Set<string>();
  const spanProcessor = {
    onStart: () => {},
    onEnd: (span: { spanContext(): { traceId: string } }) => void traceIds.add(span.spanContext().traceId),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [spanProcessor] }));
  const telemetry = startTelemetry({ serviceName: 'sdk', prometheus: { port: 0 } });
  await telemetry.ready;
  const openMetrics: Registry<RegistryContentType> = new Registry();
  openMetrics.setContentType(openMetricsContentType);
  const text = await serve(new Registry());
  const open = await serve(openMetrics);
  const targets: Record<Job, string> = {
    sdk: new URL(telemetry.metricsUrl ?? '').host,
    text: text.target,
    openmetrics: open.target,
  };
  const servers: Servers = await startServers({
    webhookUrl: 'http://127.0.0.1:1/',
    scale: SCALE,
    intervalMs: INTERVAL_MS,
    jobs: JOBS.map((job) => ({ job, targets: [targets[job]] })),
  });
  const agents: RunningAgent[] = [
    await startAgent('lookup-agent', { lookup: {}, archive: {} }),
    await startAgent('fleet-agent', { orders: {}, tickets: {}, search: {} }),
    await startSeller(),
  ];
  return {
    traceIds,
    prometheus: prometheusClient(servers.prometheus),
    /** Breaks a service behind a tool of an agent. */
    reject: async (tool: string) => {
      for (const { services } of agents) await services[tool]?.break({ kind: 'refuse' });
    },
    exemplars: async (query: string): Promise<ExemplarAnswer['data']> => {
      const parameters = new URLSearchParams({ query, start: String(begun), end: String(Date.now() / 1000) });
      return (
        (await (await fetch(`${servers.prometheus}/api/v1/query_exemplars?${parameters}`)).json()) as ExemplarAnswer
      ).data;
    },
    stopAgents: async () => void (await Promise.all(agents.map((agent) => agent.stop()))),
    stop: async () => {
      await Promise.all(agents.map((agent) => agent.stop()));
      await servers.stop();
      await text.close();
      await open.close();
      await telemetry.shutdown();
      trace.disable();
    },
  };
};

let run: Awaited<ReturnType<typeof startRun>>;
let prometheus: PrometheusClient;
beforeAll(async () => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) vi.stubEnv(name, undefined);
  run = await startRun();
  ({ prometheus } = run);
});
afterAll(async () => {
  await run?.stop();
  vi.unstubAllEnvs();
});

const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: LIMIT_MS, interval: 500 });

/** The labels of series, without those that say where they were scraped, or that link there. */
const labelsOf = (series: readonly Series[]): readonly string[] =>
  [
    ...new Set(
      series.map(({ metric: { job, link_job, instance, otel_scope_name, ...labels } }) =>
        JSON.stringify(Object.entries(labels).sort()),
      ),
    ),
  ].sort();

/** The comparison covers the last seconds. A late scrape on a busy machine drops out of this window after a while. */
const WINDOW_S = 12;

/** The recent series of an expression. They must be the same at all endpoints. */
const sameEverywhere = async (of: (job: Job) => string): Promise<readonly string[]> => {
  const from = Date.now() / 1000 - WINDOW_S;
  const [sdk, ...bridges] = await Promise.all(JOBS.map(async (job) => labelsOf(await prometheus.range(of(job), from))));
  for (const bridge of bridges) expect(bridge).toEqual(sdk);
  return sdk ?? [];
};

describe('an application with a prom-client registry', () => {
  test('has the series of the telemetry contract, with the same labels at all three endpoints', async () => {
    for (const tool of ['lookup', 'orders', 'tickets', 'prices']) await run.reject(tool);
    await eventually(async () => {
      const found = await sameEverywhere((job) => `{__name__=~"breakerbox_.+|gen_ai_.+", job="${job}"}`);
      const text = found.join('\n');
      // Metrics that nothing has counted yet have no series.
      const counting = Object.values(METRIC).filter(({ prometheus: name }) => text.includes(`"${name}`));
      expect(counting.length).toBeGreaterThan(12);
    });
  });
});

describe('exemplars', () => {
  test.each([METRIC.errors.prometheus, `${METRIC.duration.prometheus}_bucket`])(
    'of %s link OpenMetrics to sampled traces',
    async (metric) => {
      await eventually(async () => {
        const found = await run.exemplars(`${metric}{job="openmetrics"}`);
        const all = found.flatMap(({ exemplars }) => exemplars);
        expect(all.length).toBeGreaterThan(0);
        for (const { labels } of all) {
          expect(run.traceIds).toContain(labels.trace_id);
          expect(labels.span_id).toMatch(/^[0-9a-f]{16}$/);
        }
      });
    },
  );

  test('are what the panel of latencies asks for', async () => {
    const asked = dashboards
      .flatMap((one) => dashboardPanels(one))
      .filter(({ title }) => title === 'Latency percentiles')
      .flatMap(({ targets }) => targets as readonly { readonly exemplar?: boolean; readonly expr: string }[])
      .filter(({ exemplar }) => exemplar);
    expect(asked).toHaveLength(1);
    // B4: with rules, percentiles of all agents are those of recorded series.
    const recorded = { rules: 'job_agent:breakerbox_sessions:sum', fleet: 'job_status:breakerbox_sessions:sum' };
    for (const variables of [{ job: 'openmetrics' }, { job: 'openmetrics', ...recorded }]) {
      const query = substitute(asked[0]?.expr ?? '', { rateInterval: '4s', range: '1m', variables });
      await eventually(async () => {
        const found = (await run.exemplars(query)).flatMap(({ exemplars }) => exemplars);
        expect(found.length).toBeGreaterThan(0);
        for (const { labels } of found) expect(run.traceIds).toContain(labels.trace_id);
      });
    }
  });

  test('are only on failures among errors', async () => {
    const found = await run.exemplars(`${METRIC.errors.prometheus}{job="openmetrics"}`);
    expect([...new Set(found.map(({ seriesLabels }) => seriesLabels.breakerbox_outcome))]).toEqual(['failure']);
  });

  test('are not in the text format, which has no place for them', async () => {
    expect(await run.exemplars(`{__name__=~"breakerbox_.+|gen_ai_.+", job=~"text|sdk"}`)).toEqual([]);
  });
});

describe('an application whose agents have stopped', () => {
  test('has the same numbers at all three endpoints, once each was scraped', async () => {
    // While agents run, the three endpoints are scraped at different moments, and may differ.
    await run.stopAgents();
    const metric = METRIC.errors.prometheus;
    await eventually(async () => {
      const [sdk, ...bridges] = await Promise.all(
        JOBS.map((job) => prometheus.totalsBy(`${metric}{job="${job}", gen_ai_tool_name="lookup"}`, 'error_type')),
      );
      expect(sdk?.network).toBeGreaterThan(2);
      for (const bridge of bridges) expect(bridge).toEqual(sdk);
    });
  });
});
