import { createBreakerbox } from '@breakerbox/core';
import { createFleet, memoryStore } from '@breakerbox/fleet';
import { startTelemetry, type TelemetryHandle } from '@breakerbox/telemetry';
import { vi } from 'vitest';
import { type AlertWatch, startAlertWatch } from '../packages/demo/src/alert-watch.ts';
import { freePort } from '../packages/demo/src/child.ts';
import { createJournal } from '../packages/demo/src/journal.ts';
import { startService } from '../packages/demo/src/services.ts';
import { type AgentProcess, startAgentProcess } from './agent-process.ts';
import { type RunningAgent, startAgent, startSeller } from './agents.ts';
import { type OtlpPrometheus, pushVariables, startOtlpPrometheus } from './otlp-prometheus.ts';
import { type PrometheusClient, prometheusClient } from './prometheus.ts';
import { startServers } from './servers.ts';

/**
 * The whole way with real parts: HTTP services that fail, agents, the scrape endpoint and OTLP, Prometheus with the
 * repository's rules, Alertmanager with the repository's inhibition, and a webhook at the end.
 */
export interface Walk {
  readonly telemetry: TelemetryHandle;
  readonly otlp: OtlpPrometheus;
  readonly watch: AlertWatch;
  readonly prometheus: PrometheusClient;
  readonly agents: Readonly<Record<AgentName, RunningAgent>>;
  /** An agent in a process of its own, also on both ways, that can vanish. */
  readonly visitor: AgentProcess;
  /** Unix seconds of its start. */
  readonly from: number;
  /** Waits until a condition is true, and looks at the alerts in between. */
  eventually(check: () => void | Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

const inShop = () => ({ dependsOn: ['shop'] });

/** The agents. The last three have a tool of the same name. */
const AGENTS = {
  lookup: () => startAgent('lookup-agent', { lookup: {}, archive: {} }),
  // S1: what two tools need is named, because `search` succeeds between their openings.
  fleet: () => startAgent('fleet-agent', { orders: { config: inShop }, tickets: { config: inShop }, search: {} }),
  // B3: an outage costs one failure, so two of them use up a budget of two.
  spender: () => startAgent('spender-agent', { deploy: {}, logs: {} }, { box: { budget: { failures: 2 } } }),
  seller: startSeller,
  north: () => startAgent('north-agent', { maps: {} }),
  south: () => startAgent('south-agent', { maps: {} }),
  west: () => startAgent('west-agent', { maps: {} }),
};
export type AgentName = keyof typeof AGENTS;

/** The same metrics reach Prometheus in two ways, under two jobs. */
export const WAYS = { scrape: 'breakerbox', otlp: 'walking-system' } as const;
export type Way = keyof typeof WAYS;
export const WAY_NAMES = ['scrape', 'otlp'] as const satisfies readonly Way[];

/** A minute of the rules takes a second here. */
export const SCALE = { factor: 1 / 60, leastRangeMs: 2000 };
/** A minute between two scrapes, two pushes and two evaluations: the longest interval that the rules support. */
export const INTERVAL_MS = 1_000;
const LIMIT_MS = 60_000;
/** A process that has not pushed for five minutes of the rules counts as gone. */
const EXPIRE_MS = 5_000;

/** Starts everything. @throws Error if Prometheus or Alertmanager is not installed */
export const startWalk = async (): Promise<Walk> => {
  const from = Date.now() / 1000;
  const journal = createJournal();
  journal.begin();
  const watch = await startAlertWatch(journal);
  const otlp = await startOtlpPrometheus(EXPIRE_MS);
  const variables = { ...pushVariables(otlp, INTERVAL_MS), OTEL_METRICS_EXPORTER: 'prometheus,otlp' };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const telemetry = startTelemetry({ serviceName: WAYS.otlp, prometheus: { port: 0 } });
  await telemetry.ready;
  const port = await freePort();
  const servers = await startServers({
    webhookUrl: watch.webhookUrl,
    scale: SCALE,
    intervalMs: INTERVAL_MS,
    jobs: [
      { job: WAYS.scrape, targets: [new URL(telemetry.metricsUrl ?? '').host, `127.0.0.1:${port}`] },
      { job: 'otel-collector', targets: [otlp.target], honorLabels: true },
    ],
  });
  const museum = await startService('museum', () => ({ open: true }));
  const tools = { museum: museum.url };
  const visitor = await startAgentProcess({ agent: 'visitor-agent', job: WAYS.otlp, port, tools }, variables);
  const starting = Object.entries(AGENTS).map(async ([name, start]) => [name, await start()] as const);
  const agents = Object.fromEntries(await Promise.all(starting)) as Record<AgentName, RunningAgent>;
  // For the panels about the store of a fleet.
  const fleet = createFleet({ client: memoryStore() });
  createBreakerbox({ agent: 'west-agent', scope: 'process', fleet });
  const sources = { prometheus: () => servers.prometheus, alertmanager: () => servers.alertmanager };
  return {
    telemetry,
    otlp,
    watch,
    prometheus: prometheusClient(servers.prometheus),
    agents,
    visitor,
    from,
    eventually: (check) =>
      vi.waitFor(
        async () => {
          await watch.look(sources);
          await check();
        },
        { timeout: LIMIT_MS, interval: 300 },
      ),
    stop: async () => {
      await Promise.all([visitor.kill(), museum.close(), ...Object.values(agents).map((agent) => agent.stop())]);
      await fleet.close();
      await servers.stop();
      await telemetry.shutdown();
      await otlp.close();
      await watch.close();
      vi.unstubAllEnvs();
    },
  };
};
