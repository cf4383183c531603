import { AS_WRITTEN, complete, list, nullable, number, oneOf, shortName } from '../config/checks.ts';
import { LIMIT_KINDS, LIMIT_MODES, type Limits } from '../limits/limits.ts';
import { Run } from '../limits/run.ts';
import type { RunSnapshot } from './session-snapshot.ts';

/** How what a run uses is written into a snapshot, checked, and read back (C11, D2). */

const MOST = Number.MAX_SAFE_INTEGER;
const amount = number(0, AS_WRITTEN, { most: MOST });
const count = number(0, AS_WRITTEN, { whole: true, most: MOST });

const aLimit = complete({
  limit: oneOf(LIMIT_KINDS, AS_WRITTEN),
  size: amount,
  mode: oneOf(LIMIT_MODES, AS_WRITTEN),
  currency: nullable(shortName),
});

export const checkRun = complete({
  ageMs: amount,
  limits: list(aLimit),
  used: complete({ calls: count, steps: count, tokens: amount, cost: amount }),
  estimated: complete({ tokens: amount, cost: amount }),
});

/** Sums of fractions may be a trace below 0. */
const sum = (one: number, other = 0): number => Math.max(0, one + other);

export const writeRun = ({ limits, used, estimated, underWay, beganMs }: Run, ms: number): RunSnapshot => ({
  ageMs: Math.max(0, ms - beganMs),
  limits: LIMIT_KINDS.flatMap((limit) => {
    const one = limits[limit];
    return one === undefined ? [] : [{ limit, size: one.size, mode: one.mode, currency: one.currency ?? null }];
  }),
  used: { calls: used.calls, steps: used.steps, tokens: sum(used.tokens), cost: sum(used.cost) },
  // D1: a call that was under way counts its estimate.
  estimated: { tokens: sum(estimated.tokens, underWay.tokens), cost: sum(estimated.cost, underWay.cost) },
});

/** C11: the time since the snapshot counts as passed. */
export const readRun = (id: string, kept: RunSnapshot | undefined, ms: number): Run | undefined => {
  if (kept === undefined) return undefined;
  const limits: Limits = {};
  for (const { limit, size, mode, currency } of kept.limits)
    limits[limit] = { size, mode, reserves: false, currency: currency ?? undefined };
  const run = new Run({ id, limits, beganMs: ms - kept.ageMs });
  Object.assign(run.used, kept.used);
  Object.assign(run.held, kept.used);
  Object.assign(run.estimated, kept.estimated);
  return run;
};
