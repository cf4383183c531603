import type { NodeSDK } from '@opentelemetry/sdk-node';
import { countDrops, countedText } from './drops.ts';
import { type BatchExporter, type ExportQueue, exportQueue } from './export-queue.ts';
import { log } from './log.ts';
import { keepOffExit } from './otlp-transport.ts';

interface Processor {
  _exporter?: BatchExporter & { readonly _delegate?: unknown };
  /** Spans that were dropped since the last warning of the SDK, because its own queue was full. */
  _droppedSpansCount?: number;
}

/** sdk-node makes its exporters itself and gives no access to them. It is part of this package, so its version is known. */
interface SdkParts {
  readonly _tracerProvider?: { readonly _activeSpanProcessor: { readonly _spanProcessors: readonly Processor[] } };
  readonly _loggerProvider?: { readonly _sharedState: { readonly processors: readonly Processor[] } };
}

/** The SDK warns each time that its queue has overflowed. Counted here, it is reported once a minute. */
const takeOverflow = (processor: Processor): number => {
  const count = processor._droppedSpansCount ?? 0;
  if (count > 0) processor._droppedSpansCount = 0;
  return count;
};

const queueFor = (processor: Processor, kind: string, stop: AbortSignal): ExportQueue[] => {
  const exporter = processor._exporter;
  if (!exporter?._delegate) return []; // Not OTLP.
  const drops = countDrops(kind);
  const inner = exportQueue(keepOffExit(exporter, stop), kind, stop, drops);
  const queue: ExportQueue = {
    ...inner,
    export(items, done) {
      drops.add(takeOverflow(processor));
      inner.export(items, done);
    },
    takeDropped: () => inner.takeDropped() + takeOverflow(processor),
  };
  processor._exporter = queue;
  return [queue];
};

/** Puts a queue in front of each OTLP exporter that the SDK has made for spans and logs, so that none keeps the process alive. */
export function queueExports(sdk: NodeSDK, stop: AbortSignal): readonly ExportQueue[] {
  const { _tracerProvider: traces, _loggerProvider: logs } = sdk as unknown as SdkParts;
  const spans = traces?._activeSpanProcessor._spanProcessors ?? [];
  const records = logs?._sharedState.processors ?? [];
  return [
    ...spans.flatMap((processor) => queueFor(processor, 'spans', stop)),
    ...records.flatMap((processor) => queueFor(processor, 'log records', stop)),
  ];
}

const listed = (queues: readonly ExportQueue[], countOf: (queue: ExportQueue) => number): string =>
  queues
    .map((queue) => [countOf(queue), queue.kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => countedText(count, kind))
    .join(' and ');

/** What waits for the backend, such as "512 spans", or an empty string. */
export const waitingText = (queues: readonly ExportQueue[]): string => listed(queues, (queue) => queue.pending());

/** What is not sent, such as "512 spans and 3 log records", or an empty string. */
export const unsentText = (queues: readonly ExportQueue[]): string =>
  listed(queues, (queue) => queue.pending() + queue.takeDropped());

/** Reports at the end what was dropped since the last report. */
export function reportDropped(queues: readonly ExportQueue[]): void {
  const dropped = listed(queues, (queue) => queue.takeDropped());
  if (dropped)
    log(
      'warn',
      `Breakerbox telemetry: dropped ${dropped} since the last report, because the backend did not take them. Check that the endpoint in OTEL_EXPORTER_OTLP_ENDPOINT answers.`,
    );
}
