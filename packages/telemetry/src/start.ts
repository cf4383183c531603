import { followProviders } from '@breakerbox/core';
import { openCells } from '@breakerbox/core/internal';
import type { ContextManager } from '@opentelemetry/api';
import { envDetector, type ResourceDetector, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { type Environment, type ExporterPlan, envValue, planExporters } from './environment.ts';
import { hookExit, withinLimit } from './exit.ts';
import { producerOver } from './metric-producer.ts';
import { areCumulative, pushExporters, pushReaders } from './metric-readers.ts';
import { assertValidOptions, scrapeAddress, type TelemetryOptions } from './options.ts';
import { hasLogs } from './otel-api.ts';
import {
  type ApiName,
  forceFlush,
  keepingLogger,
  registeredApis,
  showDiagnostics,
  unregister,
} from './otel-globals.ts';
import { boundOtlpRequests, type SdkSignal } from './otlp-requests.ts';
import { openScrapeServer } from './scrape-server.ts';
import { scrapeText } from './scrape-text.ts';
import { tell } from './tell.ts';
import { breakerboxViews } from './views.ts';

/** Running telemetry. */
export interface TelemetryHandle {
  /** Resolves when the scrape endpoint listens, or when it is sure that there is none. Never rejects. */
  readonly ready: Promise<void>;
  /** Where Prometheus scrapes. Undefined before {@link ready}, without an endpoint, if the port is taken, and after shutdown. */
  readonly metricsUrl: string | undefined;
  /**
   * Sends what is waiting, closes the scrape endpoint and makes the OpenTelemetry API a no-op again. Takes 3 seconds at most and
   * never rejects; what could not be sent is reported through `diag`. After it, {@link startTelemetry} may be called anew.
   */
  shutdown(): Promise<void>;
}

/** On globalThis, because a process may hold two copies of this package: one from `--import`, one of the application's. */
const RUNNING = Symbol.for('@breakerbox/telemetry:running');
const globals = globalThis as { [RUNNING]?: TelemetryHandle };

const nothing = (): TelemetryHandle => ({
  ready: Promise.resolve(),
  metricsUrl: undefined,
  shutdown: () => Promise.resolve(),
});

/** OpenTelemetry's has the path of the node binary in it where the process was started by that, and so somebody's home. */
const NAMELESS = { 'service.name': 'unknown_service:node' };

/**
 * OpenTelemetry's default detectors put the process's command line, with any secret on it, into `target_info` and into every
 * OTLP export. These add an instance id and what the environment says. What is written in code comes last and wins.
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

/** sdk-node takes null as "leave what is there alone", which its types don't say. */
const NO_CONTEXT_MANAGER = null as unknown as ContextManager;

/**
 * A signal that goes nowhere gets no provider, and so costs nothing. And everything but metrics may belong to somebody else
 * already, such as an error tracker with tracing of its own.
 */
function signalSettings(taken: ReadonlySet<ApiName>, plan: ExporterPlan): Partial<NodeSDKConfiguration> {
  return {
    ...(taken.has('context') && { contextManager: NO_CONTEXT_MANAGER }),
    ...(taken.has('propagation') && { textMapPropagator: null }),
    ...((taken.has('trace') || !plan.traces) && { spanProcessors: [] }),
    ...((taken.has('logs') || !plan.logs) && { logRecordProcessors: [] }),
  };
}

/** The signals whose exporters sdk-node makes for us. */
const sdkSignals = (taken: ReadonlySet<ApiName>, plan: ExporterPlan): SdkSignal[] => [
  ...(plan.traces && !taken.has('trace') ? (['TRACES'] as const) : []),
  ...(plan.logs && !taken.has('logs') ? (['LOGS'] as const) : []),
];

/**
 * Boxes that were made before would otherwise look for the SDK at their next use, and a scrape until then would find no
 * zeros. A second copy of core in this process still does.
 */
function bindBoxes(): void {
  try {
    followProviders();
  } catch (error) {
    tell(
      'error',
      'Breakerbox telemetry: boxes that were made before could not be bound and follow at their next use',
      error,
    );
  }
}

/** All or nothing: a start that fails half-way leaves nothing registered. */
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
 * What goes into the SDK for metrics, and how to take back what that has opened. Breakerbox's own are read from its cells
 * wherever sums since the beginning are wanted: at a fraction of what the SDK's instruments cost.
 */
function metricSettings(scrape: boolean, plan: ExporterPlan, env: Environment) {
  const exporters = pushExporters(plan.metrics, env);
  const isRead = scrape || exporters.length > 0;
  const cells = isRead && areCumulative(exporters) ? openCells({ insteadOfSdk: true, exemplars: false }) : undefined;
  const { exporter, render } = scrapeText(cells);
  const pushing = pushReaders(exporters, cells ? [producerOver(cells)] : [], env);
  return { metricReaders: [...(scrape ? [exporter] : []), ...pushing], render, release: () => cells?.close() };
}

function launch(options: TelemetryOptions, env: Environment, plan: ExporterPlan): TelemetryHandle {
  const taken = registeredApis();
  const scrape = options.prometheus === undefined ? plan.scrape : options.prometheus !== false;
  const { metricReaders, render, release } = metricSettings(scrape, plan, env);
  const configuration = {
    ...signalSettings(taken, plan),
    metricReaders,
    views: breakerboxViews,
    resourceDetectors: resourceDetectors(options),
  };
  const sdk = startSdk(configuration, taken, release);
  const leaveRequests = boundOtlpRequests(env, sdkSignals(taken, plan));
  const ours = new Set([...registeredApis()].filter((name) => !taken.has(name)));
  const server = scrape ? openScrapeServer(scrapeAddress(options.prometheus || {}, env), render) : undefined;

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await withinLimit(Promise.all([sdk.shutdown(), server?.close()]));
    unregister(ours);
    release();
    leaveRequests();
    bindBoxes();
    unhook();
    delete globals[RUNNING];
  };
  const handle: TelemetryHandle = {
    ready: server?.ready ?? Promise.resolve(),
    get metricsUrl() {
      return server?.url();
    },
    shutdown() {
      closing ??= close();
      return closing;
    },
  };
  const unhook = hookExit({ flush: () => withinLimit(forceFlush(ours)), shutdown: handle.shutdown });
  return handle;
}

const withPossibleLogs = (plan: ExporterPlan): ExporterPlan => {
  if (!plan.logs || hasLogs) return plan;
  tell(
    'warn',
    'Breakerbox telemetry: log events are not sent, because @opentelemetry/api 1.9 has no logs. Metrics and spans are. Install @opentelemetry/api 1.10, or set OTEL_LOGS_EXPORTER=none.',
  );
  return { ...plan, logs: false };
};

/** A variable of OTLP's that can't be used must cost neither the agent nor the scrape endpoint. */
function launchOrFallBack(options: TelemetryOptions, env: Environment): TelemetryHandle {
  const plan = withPossibleLogs(planExporters(env));
  try {
    return launch(options, env, plan);
  } catch (error) {
    tell(
      'error',
      "Breakerbox telemetry: an exporter could not be set up, so none pushes anything; /metrics is served if it was to be. An OTEL_EXPORTER_OTLP_ variable that can't be used is the usual cause.",
      error,
    );
    return launch(options, env, { ...plan, traces: false, logs: false, metrics: [] });
  }
}

/**
 * Starts OpenTelemetry for this process: `/metrics` for Prometheus on 127.0.0.1:9464, and OTLP where the usual `OTEL_` variables
 * say so. Nothing need be awaited. Call it once, before or after boxes are made; a second call returns the first one's handle.
 *
 * Telemetry never breaks the agent: a taken port, a dead collector or a bad variable is reported through `diag` (on stderr,
 * unless the application has set a logger) and the agent runs on. If an OpenTelemetry SDK already handles this process's
 * metrics, nothing is started.
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
    tell(
      'warn',
      'startTelemetry() was called again, perhaps after --import @breakerbox/telemetry/register. The first call stays in force and these options have no effect; await its shutdown() first to start anew.',
    );
    return running;
  }
  showDiagnostics(process.env);
  if (envValue(process.env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return nothing();
  if (registeredApis().has('metrics')) {
    tell(
      'warn',
      'startTelemetry() did nothing: an OpenTelemetry SDK already handles the metrics of this process. Breakerbox reports its metrics to that SDK, so leave startTelemetry() out. For /metrics, give that SDK a BreakerboxPrometheusExporter of @breakerbox/telemetry/sdk. Or stop starting that SDK.',
    );
    return nothing();
  }
  globals[RUNNING] = launchOrFallBack(options, process.env);
  bindBoxes();
  return globals[RUNNING];
}
