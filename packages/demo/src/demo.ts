import { setTimeout as wait } from 'node:timers/promises';
import { terminalSafe } from '../../cli/src/command-io.ts';
import { createAgents, type FleetOptions, startServices, type World } from './agents.ts';
import { type AlertWatch, startAlertWatch } from './alert-watch.ts';
import { freePort } from './child.ts';
import { report } from './demo-report.ts';
import { agentStatus, type DemoStatus } from './demo-status.ts';
import { printDiagnostics } from './diagnostics.ts';
import { DemoError } from './errors.ts';
import { startFleet } from './fleet.ts';
import { playIncidents } from './incidents.ts';
import { createJournal, type Journal } from './journal.ts';
import { startMcpServer } from './mcp-server.ts';
import { type MetricsAddress, type MetricsEndpoint, scrapeTarget, startMetrics } from './metrics-endpoint.ts';
import { startOperations } from './operations.ts';
import { type OutputOptions, openOutput } from './output.ts';
import { noStack, type Program, type Stack, startStack } from './stack.ts';

/** The options from the flags. */
export interface DemoOptions extends MetricsAddress, OutputOptions, FleetOptions {
  /** Milliseconds; undefined: until it is stopped. */
  readonly forMs: number | undefined;
  /** Whether to run Prometheus and Alertmanager. */
  readonly stack: boolean;
}

/** How often Prometheus and Alertmanager are asked for alerts. */
const LOOK_MS = 500;

/** Functions that close what was opened. They run in reverse order. */
type Closers = (() => unknown)[];

/**
 * Runs the demo until its time is over or `stop` fires, and leaves nothing running. `lastMoment` takes the cleanup that must run
 * if the process exits without warning.
 *
 * @throws DemoError for a fault that the user can fix.
 */
export const runDemo = async (
  options: DemoOptions,
  stop: AbortSignal,
  lastMoment: (action: () => void) => void,
): Promise<void> => {
  const closers: Closers = [];
  const journal = createJournal();
  const output = openOutput(journal, options);
  closers.push(() => output.restore());
  lastMoment(() => output.restore());
  printDiagnostics((line) => output.diagnostic(line), process.env);
  try {
    const metrics = await startMetrics(options, journal);
    closers.push(() => metrics.telemetry.shutdown());
    const world = await startWorld(closers);
    const watch = await startAlertWatch(journal);
    closers.push(() => watch.close());
    const socket = socketOf(process.env);
    const port = await freePort();
    const stack = await chooseStack(options, metrics, { watch, journal, stop, consoleUrl: `http://127.0.0.1:${port}` });
    closers.push(() => stack.stop());
    lastMoment(() => stack.kill());
    const urls = {
      metrics: metrics.url ?? null,
      prometheus: stack.prometheus.url ?? null,
      alertmanager: stack.alertmanager.url ?? null,
    };

    const agents = createAgents(world, options);
    for (const { box } of agents) journal.follow(box);
    const boxes = agents.map(({ box }) => box);
    const operations = await startOperations(boxes, { socket, folder: stack.folder, port });
    closers.push(() => operations.close());
    const work = new AbortController();
    const signal = AbortSignal.any([stop, work.signal]);
    const startedAt = new Date();
    journal.begin();
    const fleet = startFleet(agents, { journal, pace: options.pace, signal, operations });
    const played = playIncidents(world, options, journal, signal);
    const tasks = Promise.all([fleet.finished, played, follow(watch, stack, signal)]);
    // It is awaited below. A rejection before that must not be unhandled.
    tasks.catch(() => undefined);
    closers.push(() => {
      work.abort();
      return tasks.catch(() => undefined);
    });
    const status = (): DemoStatus => ({
      elapsedMs: journal.elapsedMs(),
      forMs: options.forMs,
      round: journal.round,
      places: {
        metrics: metrics.url ?? 'none: OTEL_SDK_DISABLED is set, or an event below says why',
        prometheus: place(stack.prometheus, '/alerts'),
        alertmanager: place(stack.alertmanager),
        console: operations.console,
      },
      agents: agents.map((agent) => agentStatus(agent, fleet, journal)),
      alerts: watch.rows,
      deliveries: watch.delivered.length,
      entries: journal.entries,
    });
    output.begin(status);

    await Promise.race([tasks, timeIsUp(options.forMs, signal)]);
    const done = report({ startedAt, journal, watch, urls, stack });
    await closeAll(closers);
    output.finish(done);
  } finally {
    await closeAll(closers);
  }
};

const startWorld = async (closers: Closers): Promise<World> => {
  const services = await startServices();
  for (const service of Object.values(services)) closers.push(() => service.close());
  const mcp = await startMcpServer();
  closers.push(() => mcp.close());
  return { services, mcp };
};

/** The socket for operators, from the variable that `@breakerbox/control/register` reads too. */
const socketOf = ({ BREAKERBOX_CONTROL_LISTEN: socket = '' }: NodeJS.ProcessEnv): string | undefined => {
  if (socket === '') return undefined;
  if (socket.startsWith('/')) return socket;
  throw new DemoError(
    `BREAKERBOX_CONTROL_LISTEN is '${socket}'. The demo needs the absolute path of a socket, such as /run/demo.sock. Set such a path, or unset the variable.`,
  );
};

interface StackParts {
  readonly watch: AlertWatch;
  readonly journal: Journal;
  readonly stop: AbortSignal;
  readonly consoleUrl: string;
}

const chooseStack = (
  options: DemoOptions,
  metrics: MetricsEndpoint,
  { watch, journal, stop, consoleUrl }: StackParts,
): Promise<Stack> | Stack => {
  if (!options.stack) return noStack('off', 'off, because of --no-stack');
  if (metrics.url === undefined) return noStack('off', 'off, because there is no /metrics to scrape');
  const { webhookUrl, messageUrl } = watch;
  return startStack({ metrics: scrapeTarget(metrics.url), webhookUrl, messageUrl, consoleUrl, journal, signal: stop });
};

const place = ({ url, note }: Program, path = ''): string => (url === undefined ? note : `${url}${path}`);

/** Looks for alerts until `signal` fires. */
const follow = async (watch: AlertWatch, stack: Stack, signal: AbortSignal): Promise<void> => {
  const sources = { prometheus: () => stack.prometheus.url, alertmanager: () => stack.alertmanager.url };
  while (!signal.aborted) {
    await watch.look(sources);
    await wait(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
};

/** Resolves when the time is up or `signal` fires. */
const timeIsUp = (forMs: number | undefined, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = forMs === undefined ? undefined : setTimeout(resolve, forMs);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });

/** Closes everything in reverse order. If closing one fails, the others are still closed. */
const closeAll = async (closers: Closers): Promise<void> => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    try {
      await close();
    } catch (error) {
      process.stderr.write(terminalSafe(`breakerbox demo: cleanup failed: ${String(error)}\n`));
    }
  }
};
