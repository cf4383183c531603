import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';

type Done = Parameters<PushMetricExporter['export']>[1];

/** OpenTelemetry's `ExportResultCode`. */
const [SUCCESS, FAILED] = [0, 1];

/**
 * Begins no export while the one before is under way. A reader gives up waiting after its own time-out and begins the next,
 * while the exporter goes on with the first until OTLP's: where an endpoint doesn't answer, there would never be a moment
 * without an export, and the process could not end. Nothing is lost, for sums since the beginning hold what was left out: so
 * it is for exporters that want those.
 *
 * An exporter that throws, at a value which can't be written for one, has failed with this export and is asked again.
 */
export function oneAtATime(inner: PushMetricExporter): PushMetricExporter {
  let underWay: Promise<void> | undefined;
  let leftOut: ResourceMetrics | undefined;

  const send = (metrics: ResourceMetrics, done: Done): void => {
    leftOut = undefined;
    let free = (): void => {};
    // Before the export: one that fails may say so at once.
    underWay = new Promise((resolve) => {
      free = resolve;
    });
    let ended = false;
    const end: Done = (result) => {
      if (ended) return;
      ended = true;
      underWay = undefined;
      free();
      done(result);
    };
    try {
      inner.export(metrics, end);
    } catch (error) {
      end({ code: FAILED, ...(error instanceof Error && { error }) });
    }
  };

  return {
    export(metrics, done) {
      if (underWay === undefined) return send(metrics, done);
      leftOut = metrics;
      done({ code: SUCCESS });
    },
    async forceFlush() {
      await underWay;
      const last = leftOut;
      if (last !== undefined) await new Promise<void>((resolve) => send(last, () => resolve()));
      await inner.forceFlush();
    },
    shutdown: () => inner.shutdown(),
    ...(inner.selectAggregation && { selectAggregation: inner.selectAggregation.bind(inner) }),
    ...(inner.selectAggregationTemporality && {
      selectAggregationTemporality: inner.selectAggregationTemporality.bind(inner),
    }),
  };
}
