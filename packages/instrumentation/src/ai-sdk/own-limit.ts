import type { Session } from '@breakerbox/core';

/** The signals of the calls of one run, and the number of calls that got each. */
interface RunSignals {
  readonly startMs: number;
  readonly calls: Map<AbortSignal, number>;
}

const bySession = new WeakMap<Session, RunSignals>();

/** A run of the session begins. */
export const beginRun = (session: Session): void => {
  bySession.set(session, { startMs: performance.now(), calls: new Map() });
};

/** What AI SDK says of its `stepMs`. */
const OF_STEP = /^\w+ timeout of \d+ms exceeded$/;

/** Every provider takes longer. */
const NO_MODEL_MS = 100;

/**
 * Whether a time-out of a call's signal is the tool's (`toolMs`) or the run's (O10). AI SDK gives the tool one signal for both. That of
 * the run is the same in all calls, and one with `toolMs` is made for each call. If the run has made no other call, it counts as the tool's
 * from 5 s on, if the tool has used most of the run's time. Sooner only if no model has been asked, as far as the time tells.
 */
export const ownLimit = (
  session: Session,
  signal: AbortSignal | undefined,
): ((ranMs: number, reason: unknown) => boolean) => {
  const run = bySession.get(session);
  if (run === undefined || signal === undefined) return () => false;
  const { calls, startMs } = run;
  calls.set(signal, (calls.get(signal) ?? 0) + 1);
  return (ranMs, reason) => {
    if ((calls.get(signal) ?? 0) > 1 || OF_STEP.test(`${(reason as Error | undefined)?.message}`)) return false;
    const elsewhereMs = performance.now() - startMs - ranMs;
    return calls.size > 1 || elsewhereMs < (ranMs >= 5_000 ? ranMs : NO_MODEL_MS);
  };
};
