import { BreakerboxUsageError, LARGEST, show } from '../checks/checks.ts';
import type { ExtendedLimit } from './limit-view.ts';
import { LIMIT_KINDS, type LimitKind } from './limits.ts';
import type { Run } from './run.ts';

/** @throws BreakerboxUsageError if this is not what was used (E6). */
export const checkUsage = (usage: unknown): void => {
  if (typeof usage === 'object' && usage !== null) return;
  throw new BreakerboxUsageError(
    `session.spend(${usage === undefined ? '' : show(usage)}): that does not say what was used. Give tokens, cost or both, such as session.spend({ tokens: 500 }).`,
  );
};

/** D2: makes a limit larger. */
export const extendRun = (run: Run | undefined, limit: LimitKind, by: number): readonly ExtendedLimit[] => {
  const call = `session.extend(${show(limit)}, ${show(by)})`;
  if (!LIMIT_KINDS.includes(limit))
    throw new BreakerboxUsageError(`${call}: there is no such limit. Give one of ${LIMIT_KINDS.join(', ')}.`);
  if (typeof by !== 'number' || !Number.isFinite(by) || by <= 0)
    throw new BreakerboxUsageError(`${call}: the limit cannot grow by that. Give a number above 0.`);
  if (limit !== 'cost' && !Number.isInteger(by))
    throw new BreakerboxUsageError(`${call}: a limit of ${limit} is a whole number. Give a whole number.`);
  const most = run?.largest(limit);
  if (most !== undefined && most + by > LARGEST)
    throw new BreakerboxUsageError(
      `${call}: a limit may be ${LARGEST} at most, and this one is ${most}. Give a smaller number.`,
    );
  const extended = run?.extend(limit, by) ?? [];
  if (extended.length > 0) return extended;
  throw new BreakerboxUsageError(
    `${call}: the session has no limit of ${limit}, so that nothing stops it. Set limits in box.session({ limits }), or in createBreakerbox.`,
  );
};
