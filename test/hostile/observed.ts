import { startTelemetry, type TelemetryHandle } from '@breakerbox/telemetry';
import { type DiagLogger, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { type ReadableSpan, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

/** The telemetry of a process as it leaves: the text that Prometheus scrapes, and the ended spans. */
export interface Observed {
  /** The text of /metrics. */
  text(): Promise<string>;
  /** The sum of all series whose name and labels contain each of the texts. */
  sum(...holding: readonly string[]): Promise<number>;
  readonly spans: readonly ReadableSpan[];
  /** Reports of exceptions that changed no call. */
  readonly reported: readonly string[];
  stop(): Promise<void>;
}

/** Starts telemetry for this process, on a port of its own. Spans are kept, except with `tracing: false`. */
export const observe = async ({ tracing = true } = {}): Promise<Observed> => {
  const spans: ReadableSpan[] = [];
  const processor: SpanProcessor = {
    onStart() {},
    onEnd: (span) => void spans.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const reported: string[] = [];
  const report = (...said: readonly unknown[]): void => void reported.push(said.map(String).join(' '));
  const logger: DiagLogger = { error: report, warn: report, info: report, debug: report, verbose: report };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  if (tracing) trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
  const telemetry: TelemetryHandle = startTelemetry({ serviceName: 'hostile', prometheus: { port: 0 } });
  await telemetry.ready;
  // A new connection each time: tests block this process for seconds, and the endpoint closes idle connections.
  const text = async (): Promise<string> =>
    (await fetch(telemetry.metricsUrl ?? 'no endpoint', { headers: { connection: 'close' } })).text();
  return {
    text,
    sum: async (...holding) => sumOf(await text(), ...holding),
    spans,
    reported,
    stop: async () => {
      await telemetry.shutdown();
      trace.disable();
      diag.disable();
    },
  };
};

/** The sum of all series of a scrape whose name and labels contain each of the texts. */
export const sumOf = (scrape: string, ...holding: readonly string[]): number =>
  scrape
    .split('\n') // Labels may contain any other character, including a carriage return.
    .filter((line) => !line.startsWith('#') && holding.every((text) => line.includes(text)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

let agents = 0;

/** A new agent name for each test, because series outlive boxes, as counters must. */
export const newAgent = (): string => {
  agents += 1;
  return `hostile-${agents}`;
};
