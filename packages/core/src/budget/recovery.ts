import { above, aFunction, type Check, object, show } from '../checks/checks.ts';
import { reportThrown } from '../safely.ts';

/**
 * How a systemic event ends without a person to confirm it (S5): after a time, or when a health check passes, the first of the two.
 * Checked when the session is used; nothing runs while it is idle.
 */
export interface RecoveryPolicy {
  /**
   * Time after which the next call of an affected tool is let through as the only probe. Scope `process` only. If the probe
   * succeeds, the event is over; if it fails, the wait doubles. Milliseconds > 0. Default 300,000, unless `recovery` is given
   * without it.
   */
  readonly probeAfterMs?: number;
  /** Longest wait between those probes. Milliseconds ≥ probeAfterMs. Default 1,200,000. */
  readonly maxProbeAfterMs?: number;
  /** Time after which the event counts as over. Milliseconds > 0. Default: time alone does not end an event. */
  readonly afterMs?: number;
  /**
   * A check whether the failed systems are healthy again. Only `true` ends the event; a check that throws, rejects or hangs does
   * not. It must not use a tool of the session, which is paused. In a configuration file: `{ url, timeoutMs }`, an address that answers
   * with a status from 200 to 299. Default: none.
   */
  readonly healthCheck?: () => boolean | PromiseLike<boolean>;
  /** Least time from the start of one health check to the start of the next. Milliseconds > 0. Default 10,000. */
  readonly everyMs?: number;
}

/** Why an event ended without a person's confirmation. */
export type RecoveryCause = 'time' | 'health_check';

/** Watches for the end of one session's systemic events, one after the other. */
export interface RecoveryWatch {
  /**
   * Whether the event that began at `sinceMs` is over at `ms` (both monotonic), and why. Starts a health check if one is due. Never
   * throws and never waits: an asynchronous answer counts from the next call.
   */
  isOver(sinceMs: number, ms: number): RecoveryCause | undefined;
  /** The same without starting a health check (C11). */
  foresees(sinceMs: number, ms: number): RecoveryCause | undefined;
}

const EVERY_MS = 10_000;
/** Milliseconds after which an unanswered health check is abandoned, so that it can't keep the session paused for ever. */
const GIVE_UP_MS = 60_000;

interface Run {
  readonly startMs: number;
  /** The event that it was asked about. */
  readonly sinceMs: number;
}

export const createRecoveryWatch = ({ afterMs, healthCheck, everyMs }: RecoveryPolicy): RecoveryWatch => {
  const intervalMs = everyMs ?? EVERY_MS;
  let run: Run | undefined;
  let lastStartMs: number | undefined;
  /** The event that a check has found to be over. */
  let healthySinceMs: number | undefined;

  const answered = (which: Run, answer: unknown): void => {
    if (run !== which) return; // Given up.
    run = undefined;
    if (answer === true) healthySinceMs = which.sinceMs;
    if (typeof answer !== 'boolean')
      threw(new TypeError(`It returned ${show(answer)}. Return true if the cause is gone, and false if not.`));
  };

  const failed = (which: Run, error: unknown): void => {
    if (run === which) run = undefined;
    threw(error);
  };

  const start = (check: NonNullable<RecoveryPolicy['healthCheck']>, sinceMs: number, ms: number): void => {
    const which = { startMs: ms, sinceMs };
    // Set before the check runs: a check that asks the session must not start itself again.
    run = which;
    lastStartMs = ms;
    try {
      const answer: unknown = check();
      if (typeof answer === 'boolean') answered(which, answer);
      else {
        Promise.resolve(answer).then(
          (late) => answered(which, late),
          (error) => failed(which, error),
        );
      }
    } catch (error) {
      failed(which, error);
    }
  };

  const startIfDue = (sinceMs: number, ms: number): void => {
    if (run !== undefined && ms - run.startMs >= GIVE_UP_MS) run = undefined;
    const isDue = lastStartMs === undefined || ms - lastStartMs >= intervalMs;
    if (healthCheck !== undefined && run === undefined && isDue) start(healthCheck, sinceMs, ms);
  };

  const foresees = (sinceMs: number, ms: number): RecoveryCause | undefined => {
    if (afterMs !== undefined && ms - sinceMs >= afterMs) return 'time';
    return healthySinceMs === sinceMs ? 'health_check' : undefined;
  };

  return {
    isOver: (sinceMs, ms) => {
      const by = foresees(sinceMs, ms);
      if (by !== undefined) return by;
      startIfDue(sinceMs, ms);
      return foresees(sinceMs, ms);
    },
    foresees,
  };
};

const threw = (error: unknown): void => reportThrown('the health check of systemic.recovery', error);

const settingChecks = object(
  {
    afterMs: above('A systemic event counts as over after this time.'),
    healthCheck: aFunction('that returns true once the cause is gone'),
    everyMs: above('It is the shortest time between health checks.'),
    probeAfterMs: above('After this time, a call of an affected tool may probe.'),
    maxProbeAfterMs: above('It is the longest wait between probes for a systemic event.'),
  } satisfies Record<keyof RecoveryPolicy, Check>,
  '{ afterMs: 300000 }',
);

/** What is wrong with a recovery policy (E6). */
export const recoveryChecks: Check = (path, value) => {
  const issues = settingChecks(path, value);
  if (issues.length > 0) return issues;
  const { afterMs, healthCheck, everyMs, probeAfterMs, maxProbeAfterMs } = value as RecoveryPolicy;
  if (afterMs === undefined && healthCheck === undefined && probeAfterMs === undefined) {
    const message =
      'would never end a systemic event. Set afterMs, healthCheck or probeAfterMs, or remove recovery: session.confirmRecovered() ends an event.';
    return [{ path, message }];
  }
  if (everyMs !== undefined && healthCheck === undefined) {
    const message =
      'sets the interval between health checks, but no healthCheck is configured. Add healthCheck or remove everyMs.';
    return [{ path: `${path}.everyMs`, message }];
  }
  if (maxProbeAfterMs !== undefined && maxProbeAfterMs < (probeAfterMs ?? Number.POSITIVE_INFINITY)) {
    const message =
      probeAfterMs === undefined
        ? 'bounds the wait between probes, but probeAfterMs is not configured. Add probeAfterMs or remove maxProbeAfterMs.'
        : `is ${maxProbeAfterMs}, less than probeAfterMs (${probeAfterMs}), which is the first wait. Raise maxProbeAfterMs or lower probeAfterMs.`;
    return [{ path: `${path}.maxProbeAfterMs`, message }];
  }
  return [];
};
