import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';

type Done = Parameters<PushMetricExporter['export']>[1];

/** OpenTelemetry's `ExportResultCode`. */
const [SUCCESS, FAILED] = [0, 1];

/**
 * Makes the exporter start no export while the previous one is running. A reader stops waiting after its own timeout and starts the
 * next export, while the exporter continues the first until the OTLP timeout. If an endpoint does not answer, there would always be
 * an export running, and the process could not end. Only for exporters of cumulative sums: the next export contains the data of
 * those that were skipped, so no data is lost.
 *
 * If the exporter throws, for example at a value that it cannot write, only that export fails. The next one is tried.
 */
export function oneAtATime(exporter: PushMetricExporter): PushMetricExporter {
  const start = exporter.export.bind(exporter);
  const flush = exporter.forceFlush.bind(exporter);
  let running: Promise<void> | undefined;
  let skipped: ResourceMetrics | undefined;

  const send = (metrics: ResourceMetrics, done: Done): void => {
    skipped = undefined;
    let free = (): void => {};
    // Before the export, because an export may fail synchronously.
    running = new Promise((resolve) => {
      free = resolve;
    });
    let ended = false;
    const end: Done = (result) => {
      if (ended) return;
      ended = true;
      running = undefined;
      free();
      done(result);
    };
    try {
      start(metrics, end);
    } catch (error) {
      end({ code: FAILED, ...(error instanceof Error && { error }) });
    }
  };

  exporter.export = (metrics, done) => {
    if (running === undefined) return send(metrics, done);
    skipped = metrics;
    done({ code: SUCCESS });
  };
  exporter.forceFlush = async () => {
    await running;
    const last = skipped;
    if (last !== undefined) await new Promise<void>((resolve) => send(last, () => resolve()));
    await flush();
  };
  return exporter;
}
