import { log } from './log.ts';

/**
 * Milliseconds that a flush or a shutdown may delay the end of the process, for all signals together. A connection that is being
 * opened when the work ends comes before that, so that the process ends within 5 s.
 */
const LIMIT_MS = 3_000;

/** Logs that the time ran out. */
export type OnTimeUp = (seconds: number) => void;

/** At the end. `unsent` is such as "512 spans", or an empty string. */
export const lost =
  (unsent: () => string): OnTimeUp =>
  (seconds) => {
    const what = unsent();
    log(
      'warn',
      `Breakerbox telemetry: the backend did not accept the last telemetry within ${seconds} s, so it is lost${what && `: ${what}`}. Check that the endpoint in OTEL_EXPORTER_OTLP_ENDPOINT answers.`,
    );
  };

/** Milliseconds between two reports that telemetry waits: a function in the cloud flushes at the end of each invocation. */
const WAITING_EVERY_MS = 60_000;

/** In a process that goes on: what is not sent now is sent later. */
export const stillWaiting = (unsent: () => string, now = () => performance.now()): OnTimeUp => {
  let saidMs = Number.NEGATIVE_INFINITY;
  return (seconds) => {
    if (now() - saidMs < WAITING_EVERY_MS) return;
    saidMs = now();
    const what = unsent();
    log(
      'warn',
      `Breakerbox telemetry: the backend did not accept telemetry within ${seconds} s, so flush() stopped waiting. What waits is sent when the backend answers${what && `: ${what}`}. This is reported at most once a minute. Check that the endpoint in OTEL_EXPORTER_OTLP_ENDPOINT answers.`,
    );
  };
};

/**
 * Waits until telemetry is sent, but no longer than the limit. Never rejects: errors are logged.
 *
 * @returns false if the time ran out.
 */
export async function withinLimit(
  work: Promise<unknown>,
  onTimeUp: OnTimeUp = lost(() => ''),
  limitMs: number = LIMIT_MS,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<'time is up'>((resolve) => {
    // Not unref'd: this timer keeps the process alive until the last telemetry is sent.
    timer = setTimeout(() => resolve('time is up'), limitMs);
  });
  try {
    if ((await Promise.race([work, timeUp])) !== 'time is up') return true;
    onTimeUp(limitMs / 1000);
    return false;
  } catch (error) {
    log(
      'error',
      'Breakerbox telemetry: telemetry could not be sent. Check that the endpoint in OTEL_EXPORTER_OTLP_ENDPOINT answers',
      error,
    );
    return true;
  } finally {
    clearTimeout(timer);
  }
}

/** The actions at the end of the process. They never reject and take no longer than the limit. */
export interface ExitActions {
  /** Sends pending telemetry. False if the time ran out. */
  flush(): Promise<boolean>;
  /** Flushes and stops. */
  shutdown(): Promise<void>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Flushes in `beforeExit`, and once more for the work that the application's own handlers did: Node raises `beforeExit` again
 * when they scheduled work. There is no third flush, because a flush is such work too, and the loop would never end.
 *
 * @returns a function that removes the hook.
 */
function hookBeforeExit(flush: ExitActions['flush']): () => void {
  let flushes = 0;
  const unhook = (): void => void process.off('beforeExit', onBeforeExit);
  const onBeforeExit = (): void => {
    // Our listener is first in line, so application handlers registered with `once` are still counted.
    const alone = process.listenerCount('beforeExit') === 1;
    flushes += 1;
    if (alone || flushes === 2) unhook();
    // After the other handlers have returned, so that this flush also sends the telemetry of their synchronous work.
    process.nextTick(() => {
      void flush().then(
        (sent) => {
          if (sent) return;
          unhook();
          // The event loop was empty, so only an export without an answer, or work of other handlers, keeps the process alive.
          if (alone) process.exit();
        },
        () => {}, // A flush does not reject. If one did, it would end the process with an error that is not the agent's.
      );
    });
  };
  process.prependListener('beforeExit', onBeforeExit);
  return unhook;
}

/**
 * Flushes before the process ends: when no work is left, on SIGTERM and on SIGINT. `process.exit()` and a crash leave no time
 * for a flush.
 *
 * @returns a function that removes the hooks.
 */
export function hookExit({ flush, shutdown }: ExitActions): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    // Our listener is gone by now (`once`), so any other is the application's, which decides whether the process ends.
    if (process.listenerCount(signal) > 0) {
      void flush().catch(() => {});
      return;
    }
    // With no listener left, the signal has its default effect when it is raised again, exit status included.
    const obey = (): void => void process.kill(process.pid, signal);
    void shutdown().then(obey, obey);
  };

  // First in line: a library such as signal-exit kills the process when its own listener is the only one. It then does not
  // count ours, so the process cannot end up with two listeners that wait for each other.
  for (const signal of SIGNALS) process.prependOnceListener(signal, onSignal);
  const unhookBeforeExit = hookBeforeExit(flush);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    unhookBeforeExit();
  };
}
