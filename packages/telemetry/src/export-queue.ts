import { context } from '@opentelemetry/api';
import { countDrops, type Drops } from './drops.ts';

interface Result {
  readonly code: number;
  readonly error?: Error;
}

/** The exporter of a batch processor. */
export interface BatchExporter {
  export(items: readonly unknown[], done: (result: Result) => void): void;
  forceFlush?(): Promise<void>;
  shutdown(): Promise<void>;
}

/** OpenTelemetry's `ExportResultCode`. */
const [SUCCESS, FAILED] = [0, 1];

/** Items that wait for the backend. As many as OpenTelemetry's batch processors hold by default. */
const MOST_WAITING = 2_048;

/** An exporter that takes batches at once and sends them one after the other. */
export interface ExportQueue extends BatchExporter {
  readonly kind: string;
  forceFlush(): Promise<void>;
  /** Items that wait or are being sent. */
  pending(): number;
  /** Items that were dropped and are not reported yet. Forgets them. */
  takeDropped(): number;
}

interface Batch {
  readonly size: number;
  send(): Promise<Result>;
}

const sendTo = (exporter: BatchExporter, items: readonly unknown[]): Promise<Result> =>
  new Promise<Result>((resolve) => exporter.export(items, resolve)).catch((error: Error) => ({ code: FAILED, error }));

/**
 * Takes batches without delay. While a batch processor waits for its exporter, it has a timer that keeps the process alive, for up to
 * 30 s and for one batch after the other.
 *
 * @param kind What the items are, in the plural.
 * @param stop Drops what waits and comes later.
 */
export function exportQueue(
  exporter: BatchExporter,
  kind: string,
  stop: AbortSignal,
  drops: Drops = countDrops(kind),
): ExportQueue {
  const waiting: Batch[] = [];
  let held = 0;
  let running: Promise<void> | undefined;

  const sendAll = async (): Promise<void> => {
    for (let batch = waiting.shift(); batch && !stop.aborted; batch = waiting.shift()) {
      const { code, error } = await batch.send();
      held -= batch.size;
      if (code !== SUCCESS && !stop.aborted) drops.add(batch.size, error);
    }
    running = undefined;
  };
  const flush = async (): Promise<void> => running;

  return {
    kind,
    export(items, done) {
      const batch = { size: items.length, send: context.bind(context.active(), () => sendTo(exporter, items)) };
      if (held > 0 && held + batch.size > MOST_WAITING) drops.add(batch.size);
      else if (!stop.aborted) {
        waiting.push(batch);
        held += batch.size;
        running ??= sendAll();
      }
      done({ code: SUCCESS });
    },
    pending: () => held,
    takeDropped: () => drops.take(),
    forceFlush: flush,
    async shutdown() {
      await flush();
      await exporter.shutdown();
    },
  };
}
