import { diag } from '@opentelemetry/api';

/** How long a flush or a shutdown may hold up the end of the process. */
const LIMIT_MS = 3_000;

/**
 * Waits for telemetry to be sent, but not for ever. Never rejects: what goes wrong is reported.
 *
 * @returns false if the time ran out.
 */
export async function withinLimit(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<'time is up'>((resolve) => {
    // Not unref'd: it is what keeps the process here until the last telemetry has left.
    timer = setTimeout(() => resolve('time is up'), LIMIT_MS);
  });
  try {
    if ((await Promise.race([work, timeUp])) !== 'time is up') return true;
    diag.warn(
      `Breakerbox telemetry: the last telemetry wasn't taken within ${LIMIT_MS / 1000} s and is lost. See whether the endpoint in OTEL_EXPORTER_OTLP_ENDPOINT answers.`,
    );
    return false;
  } catch (error) {
    diag.error('Breakerbox telemetry: the last telemetry could not be sent', error);
    return true;
  } finally {
    clearTimeout(timer);
  }
}

/** What to do at the end. Neither rejects, and neither takes longer than the limit. */
export interface ExitActions {
  /** Sends what is waiting; false if it couldn't in time. */
  flush(): Promise<boolean>;
  /** Flushes and stops. */
  shutdown(): Promise<void>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Flushes before the process ends: when nothing is left to do, on SIGTERM and on SIGINT. `process.exit()` and a crash leave
 * no time for it.
 *
 * @returns takes the hooks away.
 */
export function hookExit({ flush, shutdown }: ExitActions): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    // Ours is gone by now (`once`), so whoever is left is the application: it decides whether the process ends.
    if (process.listenerCount(signal) > 0) {
      void flush();
      return;
    }
    // Raised again with no listener left, the signal does what it would have done without us, exit status included.
    void shutdown().then(() => process.kill(process.pid, signal));
  };
  const onBeforeExit = (): void => {
    void flush().then((inTime) => {
      // The event loop was empty before the flush, so what holds the process now is an export that nobody answers.
      if (!inTime) process.exit();
    });
  };

  // First in line: a library that kills the process when its own listener is the only one (signal-exit, for one) then doesn't
  // count ours, and the process can't end up with two listeners that each wait for the other.
  for (const signal of SIGNALS) process.prependOnceListener(signal, onSignal);
  process.once('beforeExit', onBeforeExit);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    process.off('beforeExit', onBeforeExit);
  };
}
