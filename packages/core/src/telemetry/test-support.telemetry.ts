import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { type ReadableSpan, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect } from 'vitest';

class PullReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** Registers an SDK for metrics, and scrapes it. */
export const registerMetrics = () => {
  const reader = new PullReader();
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  const serializer = new PrometheusSerializer();
  /** The lines of the scrape text, without scope labels. */
  const scrape = async (): Promise<string[]> => {
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    return serializer
      .serialize(resourceMetrics)
      .split('\n')
      .map((line) => line.replaceAll(/,?otel_scope_\w+="[^"]*"/g, ''));
  };
  return { provider, scrape };
};

/** Spans as they end: the SDK's own exporters are a tick later. */
export const registerTraces = () => {
  const finished: ReadableSpan[] = [];
  const processor: SpanProcessor = {
    onStart() {},
    onEnd: (span) => void finished.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
  return () => finished;
};

let agents = 0;

/** A new agent for each test: series outlive boxes, as counters must. */
export const newAgent = (): string => {
  agents += 1;
  return `agent-${agents}`;
};

/** The series of one metric of an agent, without the agent's label. */
export const seriesOf = (agent: string, lines: readonly string[], prefix: string): string[] =>
  lines
    .filter((line) => line.startsWith(`${prefix}{`) && line.includes(`gen_ai_agent_name="${agent}"`))
    .map((line) => line.replace(`gen_ai_agent_name="${agent}",`, '').replace(`gen_ai_agent_name="${agent}"`, ''));

/** How many circuits of an agent there are in each state that has any. */
export const circuitsOf = (agent: string, lines: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const line of seriesOf(agent, lines, 'breakerbox_circuits')) {
    const state = line.match(/state="(\w+)"/)?.[1] ?? '';
    const value = Number(line.slice(line.lastIndexOf(' ')));
    if (value !== 0) counts[state] = (counts[state] ?? 0) + value;
  }
  return counts;
};
