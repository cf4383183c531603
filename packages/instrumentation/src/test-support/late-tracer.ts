import { type Context, type Span, type SpanOptions, type Tracer, trace } from '@opentelemetry/api';

/**
 * Loads a module that takes its tracer when it is loaded, from a copy of OpenTelemetry's API of its own: it gets one that asks
 * for the provider of the moment, so that each test can have its own.
 */
export const withLateTracer = async <Module>(load: () => Promise<Module>): Promise<Module> => {
  const now = (): Tracer => trace.getTracer('late');
  const tracer = {
    startSpan: (name: string, options?: SpanOptions, context?: Context): Span =>
      now().startSpan(name, options, context),
    startActiveSpan: (...given: Parameters<Tracer['startActiveSpan']>) => now().startActiveSpan(...given),
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer as Tracer });
  try {
    return await load();
  } finally {
    trace.disable();
  }
};
