import { USUAL_HABIT } from '../agent/habits.ts';
import { OPOSSUM_FALLBACK } from '../protections/peers.ts';
import { PROVIDER } from '../world/faults.ts';
import { HEADLINE_FAULT, HEADLINE_PROTECTIONS, PEERS, protectionOf, quickCells } from './cells.ts';
import { MEASURES } from './measures.ts';
import { type CellResult, cellOf, ROUNDING, resultsOf } from './results.ts';
import type { PlayedCell } from './run-cells.ts';
import type { Estimate } from './statistics.ts';

/** A figure that the README or the page leads with. */
export interface Headline {
  readonly id: string;
  readonly figure: Estimate;
}

const OURS = 'breakerbox-map';

/** The tasks done in each cell, and more of a dead tool, of no outage, and of the provider's outage. */
const headlines = (results: readonly CellResult[]): readonly Headline[] =>
  results.flatMap((cell): readonly Headline[] => {
    const { framework, protection, fault, habit } = cell;
    if (habit !== USUAL_HABIT.id) return [];
    const isLed = HEADLINE_PROTECTIONS.some(({ id }) => id === protection) || fault === PROVIDER;
    const keys = isLed && [HEADLINE_FAULT, 'none', PROVIDER].includes(fault) ? HEADLINE_KEYS : (['success'] as const);
    return keys.map((key) => ({ id: `${framework}, ${protection}, ${fault}: ${key}`, figure: cell[key] }));
  });
const HEADLINE_KEYS = ['success', 'deadCalls', 'wastedTokens', 'tokensAfterFailure'] as const;

/** Those of the reduced run, from its cells or from those of a larger run: the same seeds give the same figures. */
export const quickHeadlines = (played: readonly PlayedCell[]): readonly Headline[] => {
  const keys = ['framework', 'protection', 'fault', 'habit'] as const;
  const parts = quickCells().flatMap(({ runs, ...cell }) =>
    played
      .filter((one) => keys.every((key) => one[key] === cell[key]))
      .map((one) => ({ ...one, runs, figures: one.figures.slice(0, runs) })),
  );
  return headlines(resultsOf(parts));
};

/** What was expected when the benchmark was planned, and whether it came out so. */
export const expectations = (
  results: readonly CellResult[],
): readonly { says: string; found: string; met: boolean }[] => {
  const dead = (protection: string) => cellOf(results, { protection, fault: HEADLINE_FAULT });
  const ours = dead(OURS);
  const healthy = cellOf(results, { protection: OURS, fault: 'none' });
  const changed = MEASURES.flatMap(({ key, title, digits, factor = 1 }) => {
    const { mean, half } = healthy.differences?.[key] ?? { mean: 0, half: 0 };
    const show = (value: number) => (factor * value).toFixed(digits + 2);
    return Math.abs(mean) > half + ROUNDING ? [`${title}: ${show(mean)} ± ${show(half)}`] : [];
  });
  const kept = ours.success.mean / healthy.success.mean;
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  const third = (says: string, key: 'tokensAfterFailure' | 'wastedTokens', peers: typeof PEERS) => {
    const all = peers.map(({ id }) => dead(id)).sort((one, other) => one[key].mean - other[key].mean);
    const [best = ours] = all;
    const share = best[key].mean === 0 ? undefined : ours[key].mean / best[key].mean;
    const { text } = protectionOf(best.framework, best.protection);
    const found = share === undefined ? `*${text}* has none` : `${percent(share)} of those of *${text}*`;
    return { says, found, met: 3 * ours[key].mean <= best[key].mean };
  };
  const unaided = PEERS.filter(({ id }) => id !== OPOSSUM_FALLBACK.id);
  return [
    { says: 'at least 90 % of the tasks that succeed without an outage', found: percent(kept), met: kept >= 0.9 },
    third('at most a third of the tokens after the first failure of the best peer', 'tokensAfterFailure', PEERS),
    third('the same for wasted tokens', 'wastedTokens', PEERS),
    third('the same for wasted tokens, among peers that do not know the alternative', 'wastedTokens', unaided),
    {
      says: 'at most 13 calls into the dead tool',
      found: ours.deadCalls.mean.toFixed(1),
      met: ours.deadCalls.mean <= 13,
    },
    {
      says: 'no difference without an outage beyond the interval, in any column',
      found: changed.join('; ') || 'none',
      met: changed.length === 0,
    },
  ];
};
