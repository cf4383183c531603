import type { Session } from '@breakerbox/core';

/** The latest run of a session, and whether one of its calls is known. */
interface LatestRun {
  readonly startMs: number;
  isKnown: boolean;
}

const latest = new WeakMap<Session, LatestRun>();

/** A run of the session begins. One before it that has called no tool yet may still last, so its start counts. */
export const beginRun = (session: Session): void => {
  const before = latest.get(session);
  const startMs = before?.isKnown === false ? before.startMs : performance.now();
  latest.set(session, { startMs, isKnown: false });
};

/** The signal of the run for the input of a call, and the start of the run for its signal. */
const signals = new WeakMap<object, AbortSignal | undefined>();
const starts = new WeakMap<AbortSignal, number>();

/** AI SDK gives `onInputAvailable` the signal of the run. It gives `execute` the same one, or with `toolMs` another that follows it. */
export const noteRun = (session: Session | undefined, input: unknown, signal: AbortSignal | undefined): void => {
  if (typeof input === 'object' && input !== null) signals.set(input, signal);
  const run = session && latest.get(session);
  if (run === undefined || signal === undefined || starts.has(signal)) return;
  starts.set(signal, run.startMs);
  run.isKnown = true;
};

/** What AI SDK says of its `stepMs`. */
const OF_STEP = /^\w+ timeout of \d+ms exceeded$/;

/**
 * Whether a time-out of a call's signal is the tool's (O10). It is if the signal of the run has not fired, which leaves `toolMs`. Otherwise
 * from 5 s on, if the call had run for half of the time since the run began.
 */
export const ownLimit =
  (input: unknown, given: AbortSignal | undefined) =>
  (ranMs: number, reason: unknown): boolean => {
    if (given?.aborted !== true || !signals.has(input as object)) return false; // D4, or not known.
    const signal = signals.get(input as object);
    if (signal?.aborted !== true) return true;
    if (OF_STEP.test(`${(reason as Error | undefined)?.message}`)) return false;
    return ranMs >= Math.max(5_000, (performance.now() - (starts.get(signal) ?? Number.NEGATIVE_INFINITY)) / 2);
  };
