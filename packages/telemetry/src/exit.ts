import { tell } from './tell.ts';

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
    tell(
      'warn',
      `Breakerbox telemetry: the last telemetry wasn't taken within ${LIMIT_MS / 1000} s and is lost. See whether the endpoint in OTEL_EXPORTER_OTLP_ENDPOINT answers.`,
    );
    return false;
  } catch (error) {
    tell('error', 'Breakerbox telemetry: the last telemetry could not be sent', error);
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
 * Flushes in `beforeExit`, and once more for what the application did in handlers of its own: Node raises `beforeExit` again
 * when they scheduled work. Not a third time, because a flush is such work too, and would call them for ever.
 *
 * @returns takes the hook away.
 */
function hookBeforeExit(flush: ExitActions['flush']): () => void {
  let flushes = 0;
  const unhook = (): void => void process.off('beforeExit', onBeforeExit);
  const onBeforeExit = (): void => {
    // First in line, so handlers that are called once still count.
    const alone = process.listenerCount('beforeExit') === 1;
    flushes += 1;
    if (alone || flushes === 2) unhook();
    // When the other handlers have returned, so that what they did at once is sent now.
    process.nextTick(() => {
      void flush().then(
        (sent) => {
          if (sent) return;
          unhook();
          // The event loop was empty, so what holds the process now is an export that nobody answers, if it isn't somebody's work.
          if (alone) process.exit();
        },
        () => {}, // A flush doesn't reject; if one did, it would end the process with an error that isn't the agent's.
      );
    });
  };
  process.prependListener('beforeExit', onBeforeExit);
  return unhook;
}

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
      void flush().catch(() => {});
      return;
    }
    // Raised again with no listener left, the signal does what it would have done without us, exit status included.
    const obey = (): void => void process.kill(process.pid, signal);
    void shutdown().then(obey, obey);
  };

  // First in line: a library that kills the process when its own listener is the only one (signal-exit, for one) then doesn't
  // count ours, and the process can't end up with two listeners that each wait for the other.
  for (const signal of SIGNALS) process.prependOnceListener(signal, onSignal);
  const unhookBeforeExit = hookBeforeExit(flush);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    unhookBeforeExit();
  };
}
