import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

/** What has been traced since `startTracing`. */
export interface Traced {
  /** Names of the finished spans, each as a path from its outermost parent: `agent > execute_tool search`. */
  paths(): readonly string[];
  /** Attributes of the finished spans of that name. */
  attributes(name: string): readonly Readonly<Record<string, unknown>>[];
}

/** Registers a real tracer and context manager. `stopTracing` belongs after each test. */
export const startTracing = (): Traced => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return {
    paths: () => {
      const spans = exporter.getFinishedSpans();
      const path = (span: (typeof spans)[number]): string => {
        const parent = spans.find((one) => one.spanContext().spanId === span.parentSpanContext?.spanId);
        return parent === undefined ? span.name : `${path(parent)} > ${span.name}`;
      };
      return spans.map(path);
    },
    attributes: (name) =>
      exporter
        .getFinishedSpans()
        .filter((span) => span.name === name)
        .map((span) => span.attributes),
  };
};

export const stopTracing = (): void => {
  trace.disable();
  context.disable();
};
