import { noOutcomes, type OutcomeCounts, type ReachedLimit, rejecterOf } from './rejections.ts';
import type { SimulatedCall, SimulationObserver } from './simulation-observer.ts';

/** Limits that a report lists. The count is of all of them. */
const MAX_LISTED = 5000;

/** Counts the limits that sessions reach (D2). */
export interface LimitTally extends Pick<SimulationObserver, 'reached' | 'decided'> {
  /** A limit rejected a call, whose recorded outcome is this one. */
  rejected(session: string, outcome: keyof OutcomeCounts): void;
  /** The first 5,000. */
  readonly limits: readonly ReachedLimit[];
  count(): number;
}

/** See {@link LimitTally}. */
export const tallyLimits = (): LimitTally => {
  const bySession = new Map<string, ReachedLimit[]>();
  const limits: ReachedLimit[] = [];
  let count = 0;

  /** The limit that pauses a session: the first that was reached. */
  const pausing = (session: string): ReachedLimit | undefined =>
    bySession.get(session)?.find(({ mode }) => mode === 'pause');

  return {
    limits,
    count: () => count,
    decided({ session, number, reason }: SimulatedCall) {
      for (const limit of bySession.get(session) ?? []) limit.calls = number;
      const limit = rejecterOf(reason) === 'limit' ? pausing(session) : undefined;
      if (!limit) return;
      if (limit.pausedCalls === 0) limit.afterCall = number - 1; // A limit of time is noticed by the first call after it.
      limit.pausedCalls += 1;
    },
    rejected(session, outcome) {
      const limit = pausing(session);
      if (limit) limit.rejected[outcome] += 1;
    },
    reached(session, atMs, limit, mode, afterCall) {
      const known = bySession.get(session) ?? [];
      bySession.set(session, known);
      if (known.some((one) => one.limit === limit)) return;
      const counts = { calls: afterCall, pausedCalls: 0, rejected: noOutcomes() };
      const reached: ReachedLimit = { session, limit, mode, atMs, afterCall, ...counts };
      known.push(reached);
      count += 1;
      if (limits.length < MAX_LISTED) limits.push(reached);
    },
  };
};
