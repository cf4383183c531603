import { type LimitView, withoutUnderWay } from './limit-view.ts';
import { LIMIT_KINDS, type Limit } from './limits.ts';
import type { Run } from './run.ts';

/**
 * What is to be told of a limit (D7). `lifted`: what is used has fallen below the limit again, or the limit has grown, or all tools are only
 * observed.
 */
export interface LimitChange {
  readonly is: 'advised' | 'reached' | 'lifted';
  /** As it was then, without the estimates of calls under way. */
  readonly limit: LimitView;
  /** It is the first time that the limit, at its size of now, is advised or reached. */
  readonly isFirst: boolean;
}

const NONE: readonly LimitChange[] = [];

/** D7: what has changed since this was last asked, in the limits of the run and of those above it. Nearly always nothing. */
export const limitChanges = (run: Run, ms: number): readonly LimitChange[] => {
  let changes: LimitChange[] | undefined;
  for (let one: Run | undefined = run.payer; one !== undefined; one = one.parent) {
    for (const kind of LIMIT_KINDS) {
      const limit = one.limits[kind];
      if (limit === undefined) continue;
      const level = one.levelOf(kind, limit, ms);
      const pauses = level === 'reached' && one.modeOf(limit) === 'pause';
      if (level === limit.told?.level && pauses === limit.told?.pauses) continue;
      const change = changeTo(level, pauses, limit);
      if (change === undefined) continue;
      changes ??= [];
      changes.push({ ...change, limit: withoutUnderWay(one.viewOf(kind, limit, ms)) });
    }
  }
  return changes ?? NONE;
};

/** Keeps what is told, so that nothing is told twice. */
const changeTo = (level: LimitView['level'], pauses: boolean, limit: Limit): Omit<LimitChange, 'limit'> | undefined => {
  limit.told ??= { level: undefined, pauses: false, advisedAt: 0, reachedAt: 0 };
  const { told, size } = limit;
  const before = told.level;
  const isObserved = told.pauses && !pauses; // C1: all tools are only observed from now on.
  told.level = level;
  told.pauses = pauses;
  if (level === 'reached' && !isObserved) {
    const isFirst = told.reachedAt !== size;
    told.reachedAt = size;
    return { is: 'reached', isFirst };
  }
  if (before === 'reached') return { is: 'lifted', isFirst: false };
  if (level === undefined || told.advisedAt === size) return undefined;
  told.advisedAt = size;
  return { is: 'advised', isFirst: true };
};

/** Whether a limit of the run itself pauses it, by what {@link limitChanges} has found last. */
export const isPausedByLimit = ({ limits }: Run): boolean =>
  LIMIT_KINDS.some((kind) => limits[kind]?.told?.pauses === true);
