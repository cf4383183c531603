import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';

type Done = Parameters<PushMetricExporter['export']>[1];

/** OpenTelemetry's `ExportResultCode`. */
const [SUCCESS, FAILED] = [0, 1];

/**
 * Starts no export while the previous one is running. A reader stops waiting after its own timeout and starts the next export,
 * while the exporter continues the first until the OTLP timeout. If an endpoint does not answer, there would always be an
 * export running, and the process could not end. Only for exporters of cumulative sums: the next export contains the data
 * of those that were skipped, so no data is lost.
 *
 * If the exporter throws, for example at a value that it cannot write, only that export fails. The next one is tried.
 */
export function oneAtATime(inner: PushMetricExporter): PushMetricExporter {
  let underWay: Promise<void> | undefined;
  let leftOut: ResourceMetrics | undefined;

  const send = (metrics: ResourceMetrics, done: Done): void => {
    leftOut = undefined;
    let free = (): void => {};
    // Before the export, because an export may fail synchronously.
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
