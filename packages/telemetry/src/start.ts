import { followProviders } from '@breakerbox/core';
import { openSeries } from '@breakerbox/core/internal';
import type { ContextManager } from '@opentelemetry/api';
import { envDetector, type ResourceDetector, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { type Environment, type ExporterPlan, envValue, planExporters } from './environment.ts';
import { hookExit, lost, type OnTimeUp, stillWaiting, withinLimit } from './exit.ts';
import { log } from './log.ts';
import { producerOf } from './metric-producer.ts';
import { areCumulative, pushExporters, pushReaders } from './metric-readers.ts';
import { assertValidOptions, scrapeAddress, type TelemetryOptions } from './options.ts';
import {
  type ApiName,
  forceFlush,
  keepingLogger,
  registeredApis,
  showDiagnostics,
  unregister,
} from './otel-globals.ts';
import { followSockets } from './otlp-transport.ts';
import { possiblePlan } from './possible-plan.ts';
import { openScrapeServer } from './scrape-server.ts';
import { scrapeText } from './scrape-text.ts';
import { queueExports, reportDropped, unsentText, waitingText } from './sdk-queues.ts';
import { breakerboxViews } from './views.ts';

/** Handle of the running telemetry. */
export interface TelemetryHandle {
  /** Resolves when the scrape endpoint listens, or when it is clear that there is no endpoint. Never rejects. */
  readonly ready: Promise<void>;
  /** URL that Prometheus scrapes. Undefined before {@link ready}, without an endpoint, if the port is taken, and after shutdown. */
  readonly metricsUrl: string | undefined;
  /**
   * Sends pending telemetry now, and goes on. Takes at most 3 seconds and never rejects. It is false if the time ran out: then the rest
   * waits, and is sent when the backend answers. Call it where the
   * process may be frozen, such as at the end of each AWS Lambda invocation.
   */
  flush(): Promise<boolean>;
  /**
   * Sends pending telemetry, closes the scrape endpoint and makes the OpenTelemetry API a no-op again. Takes at most 3 seconds and
   * never rejects. Telemetry that cannot be sent is reported through `diag`. Afterwards you can call {@link startTelemetry} again.
   */
  shutdown(): Promise<void>;
}

/** On globalThis, because a process may hold two copies of this package: one from `--import`, one of the application's. */
const RUNNING = Symbol.for('@breakerbox/telemetry:running');
const globals = globalThis as { [RUNNING]?: TelemetryHandle };

const nothing = (): TelemetryHandle => ({
  ready: Promise.resolve(),
  metricsUrl: undefined,
  flush: () => Promise.resolve(true),
  shutdown: () => Promise.resolve(),
});

/** OpenTelemetry's own default name can contain the path of the node binary, and with it the name of a home directory. */
const NAMELESS = { 'service.name': 'unknown_service:node' };

/**
 * OpenTelemetry's default detectors put the command line of the process, with any secret on it, into `target_info` and every
 * OTLP export. These detectors only add an instance id and the environment's attributes. Options in code are last and win.
 */
function resourceDetectors({ serviceName, serviceVersion }: TelemetryOptions): ResourceDetector[] {
  const attributes = {
    ...(serviceName !== undefined && { 'service.name': serviceName }),
    ...(serviceVersion !== undefined && { 'service.version': serviceVersion }),
  };
  return [
    { detect: () => ({ attributes: NAMELESS }) },
    serviceInstanceIdDetector,
    envDetector,
    { detect: () => ({ attributes }) },
  ];
}

/** With null, sdk-node keeps the current context manager. Its types do not allow null. */
const NO_CONTEXT_MANAGER = null as unknown as ContextManager;

/**
 * A signal without an exporter gets no provider, and so costs nothing. All signals but metrics may already belong to another
 * library, such as an error tracker with its own tracing.
 */
function signalSettings(taken: ReadonlySet<ApiName>, plan: ExporterPlan): Partial<NodeSDKConfiguration> {
  return {
    ...(taken.has('context') && { contextManager: NO_CONTEXT_MANAGER }),
    ...(taken.has('propagation') && { textMapPropagator: null }),
    ...((taken.has('trace') || !plan.traces) && { spanProcessors: [] }),
    ...((taken.has('logs') || !plan.logs) && { logRecordProcessors: [] }),
  };
}

/**
 * Binds earlier boxes to the SDK now. Otherwise they look for the SDK at their next use, and a scrape before that shows no zeros.
 * Boxes of a second copy of core in this process still bind at their next use.
 */
function bindBoxes(): void {
  try {
    followProviders();
  } catch (error) {
    log(
      'error',
      'Breakerbox telemetry: boxes that were created before could not be connected to the SDK. Each connects when it is used next',
      error,
    );
  }
}

/** All or nothing: a start that fails halfway leaves nothing registered. */
function startSdk(
  configuration: Partial<NodeSDKConfiguration>,
  taken: ReadonlySet<ApiName>,
  release: () => void,
): NodeSDK {
  const sdk = keepingLogger(() => new NodeSDK(configuration));
  try {
    sdk.start();
    return sdk;
  } catch (error) {
    unregister([...registeredApis()].filter((name) => !taken.has(name)));
    release();
    void withinLimit(sdk.shutdown());
    throw error;
  }
}

/**
 * The SDK's settings for metrics, and a function that closes what they have opened. Where every exporter wants cumulative sums,
 * Breakerbox's own metrics are read from its series, at a fraction of the cost of the SDK's instruments.
 */
function metricSettings(scrape: boolean, plan: ExporterPlan, env: Environment, stop: AbortSignal) {
  const exporters = pushExporters(plan.metrics, env, stop);
  const isRead = (scrape || exporters.length > 0) && areCumulative(exporters);
  const series = isRead ? openSeries({ insteadOfSdk: true, exemplars: false }) : undefined;
  const text = scrape ? scrapeText(series) : undefined;
  const pushing = pushReaders(exporters, series ? [producerOf(series)] : [], env);
  const metricReaders = text ? [text.exporter, ...pushing] : pushing;
  return { metricReaders, render: text?.render, release: () => series?.close() };
}

function launch(options: TelemetryOptions, env: Environment, plan: ExporterPlan): TelemetryHandle {
  const taken = registeredApis();
  const stop = new AbortController();
  const scrape = options.prometheus === undefined ? plan.scrape : options.prometheus !== false;
  const { metricReaders, render, release } = metricSettings(scrape, plan, env, stop.signal);
  const configuration = {
    ...signalSettings(taken, plan),
    metricReaders,
    views: breakerboxViews,
    resourceDetectors: resourceDetectors(options),
  };
  const sdk = startSdk(configuration, taken, release);
  const queues = queueExports(sdk, stop.signal);
  const onLost = lost(() => unsentText(queues));
  const onWaiting = stillWaiting(() => waitingText(queues));
  const leaveSockets = followSockets();
  const ours = new Set([...registeredApis()].filter((name) => !taken.has(name)));
  const server = render && openScrapeServer(scrapeAddress(options.prometheus || {}, env), render);

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    if (await withinLimit(Promise.all([sdk.shutdown(), server?.close()]), onLost)) reportDropped(queues);
    stop.abort();
    unregister(ours);
    release();
    leaveSockets();
    bindBoxes();
    unhook();
    delete globals[RUNNING];
  };
  const sendAll = async (): Promise<void> => {
    await forceFlush(ours);
    await Promise.all(queues.map((queue) => queue.forceFlush()));
  };
  const flush = (onTimeUp: OnTimeUp): Promise<boolean> =>
    closing === undefined ? withinLimit(sendAll(), onTimeUp) : Promise.resolve(true);
  const handle: TelemetryHandle = {
    ready: server?.ready ?? Promise.resolve(),
    get metricsUrl() {
      return server?.url();
    },
    flush: () => flush(onWaiting),
    shutdown() {
      closing ??= close();
      return closing;
    },
  };
  const flushLast = async (): Promise<boolean> => {
    const sent = await flush(onLost);
    if (sent) reportDropped(queues);
    return sent;
  };
  const unhook = hookExit({ flush: flushLast, shutdown: handle.shutdown });
  return handle;
}

/** Starts without exporters if an OTLP variable cannot be used. It must cost neither the agent nor the scrape endpoint. */
function launchOrFallBack(options: TelemetryOptions, env: Environment): TelemetryHandle {
  const plan = possiblePlan(planExporters(env), env);
  try {
    return launch(options, env, plan);
  } catch (error) {
    log(
      'error',
      'Breakerbox telemetry: an exporter could not be set up, so no exporter sends anything. /metrics still works if it is enabled. The usual cause is an invalid OTEL_EXPORTER_OTLP_ variable.',
      error,
    );
    return launch(options, env, { ...plan, traces: false, logs: false, metrics: [] });
  }
}

/**
 * Starts OpenTelemetry for this process: `/metrics` for Prometheus on 127.0.0.1:9464, and OTLP where the usual `OTEL_` variables
 * ask for it. You do not need to await anything. Call it once, before or after you make boxes. A second call returns the handle of
 * the first.
 *
 * Telemetry never breaks the agent: a taken port, a dead collector or a bad variable is reported through `diag`, and the agent
 * continues. `diag` writes to stderr unless the application has set a logger. If an OpenTelemetry SDK already handles the metrics
 * of this process, nothing is started.
 *
 * @throws BreakerboxConfigError if an option can't work.
 * @example
 * ```ts
 * startTelemetry({ serviceName: 'research-agent' });
 * ```
 * @example
 * ```ts
 * const telemetry = startTelemetry({ serviceName: 'one-shot', prometheus: { port: 0 } });
 * await telemetry.ready;
 * process.stderr.write(`metrics at ${telemetry.metricsUrl}\n`);
 * await run();
 * await telemetry.shutdown();
 * ```
 */
export function startTelemetry(options: TelemetryOptions = {}): TelemetryHandle {
  assertValidOptions(options);
  const running = globals[RUNNING];
  if (running) {
    log(
      'warn',
      'startTelemetry() was called again, perhaps after --import @breakerbox/telemetry/register. The first call stays in effect, and these options are ignored. To start again, await its shutdown() first.',
    );
    return running;
  }
  showDiagnostics(process.env);
  if (envValue(process.env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return nothing();
  if (registeredApis().has('metrics')) {
    log(
      'warn',
      'startTelemetry() did nothing: an OpenTelemetry SDK already handles the metrics of this process. Breakerbox reports its metrics to that SDK, so leave startTelemetry() out. For /metrics, give that SDK a BreakerboxPrometheusExporter of @breakerbox/telemetry/sdk. Or stop starting that SDK.',
    );
    return nothing();
  }
  globals[RUNNING] = launchOrFallBack(options, process.env);
  bindBoxes();
  return globals[RUNNING];
}
