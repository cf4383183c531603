import { log } from './log.ts';

/** Milliseconds between two reports of one kind. */
const REPORT_EVERY_MS = 60_000;

/** What was not sent, of one kind, such as spans. */
export interface Drops {
  /** Counts, and reports at once, but at most once a minute. The error says why. */
  add(count: number, error?: Error): void;
  /** Returns what is not reported yet, and forgets it. */
  take(): number;
}

/** Such as "512 spans" and "1 span". @param kind In the plural. */
export const countedText = (count: number, kind: string): string =>
  `${count} ${count === 1 ? kind.replace(/s$/, '') : kind}`;

/**
 * Counts what is dropped. An unreachable backend would otherwise fill the log.
 *
 * @param kind In the plural.
 * @param now Milliseconds of a clock. The monotonic one by default.
 */
export function countDrops(kind: string, now = () => performance.now()): Drops {
  let unreported = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    add(count, error) {
      unreported += count;
      if (unreported === 0 || now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = now();
      const reason =
        error ?? 'The queue is full, because the backend does not accept them fast enough. Check that it answers.';
      log(
        'warn',
        `Breakerbox telemetry: dropped ${countedText(unreported, kind)}, because the backend did not take them. This is reported at most once a minute. Check that the endpoint in OTEL_EXPORTER_OTLP_ENDPOINT answers.`,
        reason,
      );
      unreported = 0;
    },
    take() {
      const count = unreported;
      unreported = 0;
      return count;
    },
  };
}
