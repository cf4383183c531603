import { context, metrics, trace } from '@opentelemetry/api';
import type { RunningSdk, Sdk } from './contest.ts';

/** Sums a metric's series in Prometheus' text. */
const total = (text: string, name: string): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);

const throughStartTelemetry = async (): Promise<RunningSdk> => {
  const { startTelemetry } = await import('@breakerbox/telemetry');
  const telemetry = startTelemetry({ serviceName: 'bench', prometheus: { port: 0 } });
  await telemetry.ready;
  const { metricsUrl } = telemetry;
  if (metricsUrl === undefined)
    throw new Error('startTelemetry() serves no /metrics here, so the benchmark cannot measure its cost.');
  return {
    metricsUrl,
    facts: async () => {
      const text = await (await fetch(metricsUrl)).text();
      return {
        decisions: total(text, 'breakerbox_decisions_total'),
        outcomes: total(text, 'breakerbox_outcomes_total'),
        durations: total(text, 'gen_ai_execute_tool_duration_seconds_count'),
      };
    },
    stop: () => telemetry.shutdown(),
  };
};

/** A plain SDK of the application's own. Its histogram records every duration. */
const ownMeterProvider = async (): Promise<RunningSdk> => {
  const { MeterProvider, MetricReader } = await import('@opentelemetry/sdk-metrics');
  class Reader extends MetricReader {
    protected override async onForceFlush(): Promise<void> {}
    protected override async onShutdown(): Promise<void> {}
  }
  const provider = new MeterProvider({ readers: [new Reader()] });
  metrics.setGlobalMeterProvider(provider);
  return { metricsUrl: undefined, facts: async () => ({}), stop: () => provider.shutdown() };
};

/** The last span that was recorded. */
export interface RecordedSpan {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}
let recorded: RecordedSpan | undefined;
export const lastSpan = (): RecordedSpan | undefined => recorded;

/** Spans are made and recorded. The work of an exporter is left out, because it is the same for all spans. */
const traces = async (sampled: boolean): Promise<void> => {
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  const { AlwaysOffSampler, AlwaysOnSampler, TracerProvider } = await import('@opentelemetry/sdk-trace');
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const provider = new TracerProvider({
    sampler: sampled ? new AlwaysOnSampler() : new AlwaysOffSampler(),
    spanProcessors: [
      {
        onStart: () => {},
        onEnd: (span) => {
          recorded = span as RecordedSpan;
        },
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  trace.setGlobalTracerProvider(provider);
};

/** Registers the SDK of a state, before any box is made. */
export const startSdk = async (sdk: Sdk): Promise<RunningSdk> => {
  switch (sdk) {
    case 'none':
      return { metricsUrl: undefined, facts: async () => ({}), stop: async () => {} };
    case 'metrics':
      return throughStartTelemetry();
    case 'metrics-own-sdk':
      return ownMeterProvider();
    case 'sampled':
    case 'unsampled':
      await traces(sdk === 'sampled');
      return throughStartTelemetry();
  }
};
