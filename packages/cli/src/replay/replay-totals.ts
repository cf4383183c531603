import { OF_FAILURES, type OutcomeCounts, type RejectedCounts, type Rejecter } from './rejections.ts';
import type { SimulationTally } from './simulation-tally.ts';

/** `measured`: a fact of the recording. `atMost`: the upper bound. */
export interface Bounds {
  readonly measured: number;
  readonly atMost: number;
}

/** The figures by which settings are compared. Rejections are upper bounds, without those of the loop guard and of limits. */
export interface ReplayTotals {
  readonly failures: number;
  readonly failedSessions: number;
  readonly failedHours: number;
  readonly avoided: number;
  readonly lost: number;
  readonly openings: number;
  readonly falseOpenings: number;
  readonly pauses: number;
}

/** Sums up a simulation. */
export const totalsOf = ({ tools, pausedBy, failedSessions, failedHours }: SimulationTally): ReplayTotals => {
  const totals = {
    failures: 0,
    failedSessions,
    failedHours,
    avoided: 0,
    lost: 0,
    openings: 0,
    falseOpenings: 0,
    pauses: pausedBy.budget + pausedBy.systemic,
  };
  for (const tool of tools.values()) {
    totals.failures += tool.calls.failure;
    totals.avoided += boundsOf(tool.rejected, 'failure').atMost;
    totals.lost += boundsOf(tool.rejected, 'success').atMost;
    totals.openings += tool.openings;
    totals.falseOpenings += tool.falseOpenings;
  }
  return totals;
};

/** Bounds of one outcome over some rejections. The loop guard and limits reject calls of tools that work, too: they are counted apart (T6). */
export const boundsOf = (
  rejected: Readonly<Record<Rejecter, RejectedCounts>>,
  outcome: keyof OutcomeCounts,
): Bounds => {
  let [measured, modelled] = [0, 0];
  for (const by of OF_FAILURES) {
    measured += rejected[by].measured[outcome];
    modelled += rejected[by].modelled[outcome];
  }
  return { measured, atMost: measured + modelled };
};
