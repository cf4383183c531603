import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { countDrops } from './drops.ts';

type Done = Parameters<PushMetricExporter['export']>[1];

/** OpenTelemetry's `ExportResultCode`. */
const SUCCESS = 0;

/**
 * Makes the exporter tell the reader at once that an export is done. While a reader waits for its exporter, it has a timer that keeps
 * the process alive, for up to 30 s. A flush waits for the exports, and a failure is reported at most once a minute.
 */
export function doneAtOnce(exporter: PushMetricExporter): PushMetricExporter {
  const send = exporter.export.bind(exporter);
  const drops = countDrops('exports of metrics');
  exporter.export = (metrics, done) => {
    let isDone = false;
    const once: Done = (result) => {
      if (!isDone) {
        isDone = true;
        done(result);
      } else if (result.code !== SUCCESS) drops.add(1, result.error);
    };
    send(metrics, once);
    if (!isDone) once({ code: SUCCESS });
  };
  return exporter;
}
