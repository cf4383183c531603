import { setTimeout as wait } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { startAlertWatch } from '../packages/demo/src/alert-watch.ts';
import { freePort } from '../packages/demo/src/child.ts';
import { createJournal } from '../packages/demo/src/journal.ts';
import { type Service, startService } from '../packages/demo/src/services.ts';
import { type AgentOrders, type AgentProcess, startAgentProcess } from './agent-process.ts';
import { pushVariables, startOtlpPrometheus } from './otlp-prometheus.ts';
import { prometheusClient } from './prometheus.ts';
import { startServers } from './servers.ts';

/** A minute of the rules, in milliseconds. */
const MINUTE_MS = 1500;
/** Time between two scrapes: 20 s in the time of the rules. */
const INTERVAL_MS = 500;
const LOOK_MS = INTERVAL_MS / 2;
const LIMIT_MS = 120_000;

/** Scraped processes by job. The others push. After a restart, the new process replaces the old one, or is the next one. */
const PLACES = {
  lookup: ['lookup'],
  spender: ['spender'],
  moody: ['moody'],
  speaker: ['speaker'],
  desk: ['desk'],
  mail: ['mail'],
  shop: ['shop-orders', 'shop-tickets'],
  gone: ['gone'],
  steady: ['steady-1', 'steady-2'],
  crash: ['crash'],
} as const;

const SCALE = { factor: MINUTE_MS / 60_000, leastRangeMs: 4 * INTERVAL_MS };

/** What an agent has spent in its hours of the last day: 1 USD in each. */
const spentBefore = (nowMs: number): string => {
  const labels = '{job="burner",gen_ai_agent_name="burner-agent",breakerbox_currency="USD"}';
  const name = 'job_agent_currency:breakerbox_spent_cost:increase1h';
  const samples = Array.from({ length: 30 }, (_, hour) => (nowMs - (30 - hour) * 60 * MINUTE_MS) / 1000);
  return [`# TYPE ${name} gauge`, ...samples.map((second) => `${name}${labels} 1 ${second}`), '# EOF', ''].join('\n');
};

type Labels = Readonly<Record<string, string>>;

/** One line of an alert: `BreakerboxCircuitOpen warning agent=a job=j tool=t`. */
export const line = ({ alertname = '', severity, ...labels }: Labels): string =>
  `${alertname} ${severity} ${Object.entries(labels)
    .map(([name, value]) => `${name.replace(/^gen_ai_(\w+)_name$/, '$1')}=${value}`)
    .sort()
    .join(' ')}`;

const lines = (alerts: readonly { readonly labels: Labels }[], about: RegExp): readonly string[] =>
  [...new Set(alerts.map(({ labels }) => line(labels)))].filter((one) => about.test(one)).sort();

/** Agents in processes of their own, and the programs that watch them: real servers with the repository's rules, routes and inhibition. */
export type ScenarioRun = Awaited<ReturnType<typeof startScenarios>>;

/** Starts the servers. The scenarios start their agents. @throws Error if a server is not installed */
export const startScenarios = async () => {
  const from = Date.now() / 1000;
  const agents: AgentProcess[] = [];
  const services: Service[] = [];
  const ports: Record<string, number> = {};
  for (const place of Object.values(PLACES).flat()) ports[place] = await freePort();
  const journal = createJournal();
  journal.begin();
  const watch = await startAlertWatch(journal);
  // A process that has not pushed for five minutes counts as gone.
  const otlp = await startOtlpPrometheus(5 * MINUTE_MS);
  const servers = await startServers({
    webhookUrl: watch.webhookUrl,
    scale: SCALE,
    intervalMs: INTERVAL_MS,
    history: spentBefore(Date.now()),
    jobs: [
      ...Object.entries(PLACES).map(([job, places]) => ({
        job,
        targets: places.map((place) => `127.0.0.1:${ports[place]}`),
      })),
      { job: 'otlp', targets: [otlp.target], honorLabels: true },
    ],
  });
  const prometheus = prometheusClient(servers.prometheus);
  const ended = new AbortController();
  const look = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await watch.look({ prometheus: () => servers.prometheus, alertmanager: () => servers.alertmanager });
      await wait(LOOK_MS);
    }
  };
  const watching = look();
  const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: LIMIT_MS, interval: LOOK_MS });

  return {
    prometheus,
    from,
    eventually,
    /** Starts a service for tools. */
    serve: async (name: string): Promise<Service> => {
      const service = await startService(name, () => ({ name }));
      services.push(service);
      return service;
    },
    /** Starts a scraped process of a job, or one that pushes. */
    start: async (
      place: string,
      orders: Omit<AgentOrders, 'port' | 'tools'>,
      tools: Readonly<Record<string, Service>> = {},
    ): Promise<AgentProcess> => {
      const port = ports[place];
      const urls = Object.fromEntries(Object.entries(tools).map(([tool, { url }]) => [tool, url]));
      const process = await startAgentProcess(
        { ...orders, ...(port !== undefined && { port }), tools: urls },
        port === undefined ? pushVariables(otlp, INTERVAL_MS) : {},
      );
      agents.push(process);
      return process;
    },
    /** Minutes of the rules from the last growth of a counter to the first time that an alert fired. */
    minutesUntil: async (alert: string, counter: string): Promise<number> => {
      const timesOf = async (query: string) =>
        (await prometheus.range(query, from)).flatMap((one) => one.values.map(([second]) => second));
      const [grown, fired] = await Promise.all([
        timesOf(`increase(${counter}[${4 * INTERVAL_MS}ms]) > 0`),
        timesOf(`ALERTS{alertstate="firing", ${alert}}`),
      ]);
      const first = Math.min(...fired);
      return ((first - Math.max(...grown.filter((second) => second < first))) * 1000) / MINUTE_MS;
    },
    /** Waits until Prometheus has had series of a job for so many minutes. */
    reports: (job: string, minutes = 2) =>
      eventually(async () => {
        const counted = `count_over_time(sum(breakerbox_sessions{job="${job}"})[10m:${INTERVAL_MS}ms])`;
        const [series] = await prometheus.instant(counted);
        expect(series?.values[0]?.[1]).toBeGreaterThanOrEqual((minutes * MINUTE_MS) / INTERVAL_MS);
      }),
    /** Waits until it has been true for so many minutes. */
    holds: async (minutes: number, check: () => void): Promise<void> => {
      const until = performance.now() + minutes * MINUTE_MS;
      while (performance.now() < until) {
        check();
        await wait(LOOK_MS);
      }
    },
    /** Alerts that were delivered. */
    delivered: (about: RegExp, status: 'firing' | 'resolved' = 'firing') =>
      lines(
        watch.delivered.filter((one) => one.status === status),
        about,
      ),
    /** Alerts that Alertmanager inhibited. */
    inhibited: (about: RegExp) => lines(watch.inhibited, about),
    /** Alerts that fire now, delivered or not. */
    firing: (about: RegExp) =>
      lines(
        watch.rows.filter(({ state }) => state !== 'pending'),
        about,
      ),
    /** Alerts that have fired at some time, according to Prometheus. */
    fired: async () => {
      const series = await prometheus.range('ALERTS{alertstate="firing"}', from);
      return lines(
        series.map(({ metric: { __name__, alertstate, ...labels } }) => ({ labels })),
        /./,
      );
    },
    stop: async () => {
      ended.abort();
      await watching;
      await Promise.all([...agents.map((agent) => agent.kill()), ...services.map((service) => service.close())]);
      await servers.stop();
      await otlp.close();
      await watch.close();
    },
  };
};
