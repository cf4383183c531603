import type { Findings } from '../contest.ts';
import { figure, sure } from '../figures.ts';
import { ratioOf, spreadOf } from '../stats.ts';

/** The findings of the two races: of calls that succeed, and of calls while the circuit is open. */
export interface DecisionFindings {
  readonly closed: Findings;
  readonly open: Findings;
}

/** What the rows of a race are compared with: a peer, and Breakerbox without a fleet. */
const BASES = ['cockatiel', 'alone'] as const;

const rowsOf = ({ contestants, samples }: Findings): readonly (readonly string[])[] =>
  contestants.map(({ id, title }) => {
    const values = samples[id] ?? [];
    const { median, p25, p75 } = spreadOf(values);
    return [
      title,
      figure(median),
      `${figure(p25)} – ${figure(p75)}`,
      ...BASES.map((base) => sure(ratioOf(values, samples[base] ?? []))),
    ];
  });

/** The table of both races, with its head. */
export const decisionCells = (found: unknown): readonly (readonly string[])[] => {
  const { closed, open } = found as DecisionFindings;
  return [['', 'ns', 'p25 – p75', '× cockatiel', '× without a fleet'], ...rowsOf(closed), ...rowsOf(open)];
};
