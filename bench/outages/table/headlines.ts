import { HEADLINE_FAULT } from './cells.ts';
import { type CellResult, cellOf } from './results.ts';
import type { Estimate } from './statistics.ts';

/** A figure that the README or the page leads with. */
export interface Headline {
  readonly id: string;
  readonly figure: Estimate;
}

const PEERS = ['none', 'opossum', 'cockatiel'];
const OURS = 'breakerbox-map';

/** The headlines of the AI SDK: one dead tool that another can replace, and no outage. */
export const headlines = (results: readonly CellResult[]): readonly Headline[] => {
  const dead = (protection: string) => cellOf(results, { protection, fault: HEADLINE_FAULT });
  const healthy = (protection: string) => cellOf(results, { protection, fault: 'none' });
  return [OURS, ...PEERS].flatMap((protection) => [
    { id: `${protection}: success with a dead tool`, figure: dead(protection).success },
    { id: `${protection}: calls into the dead tool`, figure: dead(protection).deadCalls },
    { id: `${protection}: tokens wasted`, figure: dead(protection).wastedTokens },
    { id: `${protection}: success without an outage`, figure: healthy(protection).success },
  ]);
};

/** What was expected when the benchmark was planned, and whether it came out so. */
export const expectations = (
  results: readonly CellResult[],
): readonly { says: string; found: string; met: boolean }[] => {
  const dead = (protection: string) => cellOf(results, { protection, fault: HEADLINE_FAULT });
  const ours = dead(OURS);
  const kept = ours.success.mean / cellOf(results, { protection: OURS, fault: 'none' }).success.mean;
  const best = (key: 'tokensAfterFailure' | 'wastedTokens') => Math.min(...PEERS.map((one) => dead(one)[key].mean));
  const share = (key: 'tokensAfterFailure' | 'wastedTokens') => ours[key].mean / best(key);
  const healthy = cellOf(results, { protection: OURS, fault: 'none' }).gain ?? { mean: 0, half: 0 };
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  return [
    { says: 'at least 90 % of the tasks that succeed without an outage', found: percent(kept), met: kept >= 0.9 },
    {
      says: 'at most a third of the tokens after the first failure of the best peer',
      found: `${percent(share('tokensAfterFailure'))} of all tokens`,
      met: share('tokensAfterFailure') <= 1 / 3,
    },
    {
      says: 'the same for tokens of turns that begin with a failed or rejected call',
      found: percent(share('wastedTokens')),
      met: share('wastedTokens') <= 1 / 3,
    },
    {
      says: 'at most 13 calls into the dead tool',
      found: ours.deadCalls.mean.toFixed(1),
      met: ours.deadCalls.mean <= 13,
    },
    {
      says: 'no difference without an outage beyond the interval',
      found: `${(100 * healthy.mean).toFixed(1)} points ± ${(100 * healthy.half).toFixed(1)}`,
      met: Math.abs(healthy.mean) <= healthy.half,
    },
  ];
};
