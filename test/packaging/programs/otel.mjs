// The story under an OpenTelemetry SDK that the application set up itself. The argument says from which package its spans come.

import * as core from '@breakerbox/core';
import * as instrumentation from '@breakerbox/instrumentation';
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { say, story } from './story.mjs';

const { TracerProvider, BasicTracerProvider } = await import(process.argv[2]);
const Provider = TracerProvider ?? BasicTracerProvider; // The new line's name, or the old one's.
const spans = [];
const processor = {
  onStart() {},
  onEnd: ({ name, status }) => spans.push(`${name} ${status.code}`),
  forceFlush: async () => {},
  shutdown: async () => {},
};
const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: points })] });

// The box is made first and the SDK second, which is the order in which it goes wrong where instruments are taken once.
const registered = async ({ createBreakerbox }, rest) => {
  const made = (config) => {
    const box = createBreakerbox(config);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    trace.setGlobalTracerProvider(new Provider({ spanProcessors: [processor] }));
    metrics.setGlobalMeterProvider(meters);
    return box;
  };
  return story({ createBreakerbox: made }, rest);
};

const seen = await registered(core, instrumentation);
await meters.forceFlush();
const counted = {};
for (const { scopeMetrics } of points.getMetrics().slice(-1)) {
  for (const { descriptor, dataPoints } of scopeMetrics.flatMap((scope) => scope.metrics)) {
    for (const { attributes, value } of dataPoints) {
      const count = typeof value === 'number' ? value : value.count;
      if (count > 0) counted[[descriptor.name, ...Object.values(attributes)].join(' ')] = count;
    }
  }
}
await meters.shutdown();
say({ seen, counted, spans });
