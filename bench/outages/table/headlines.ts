import { OPOSSUM_FALLBACK } from '../protections/peers.ts';
import { HEADLINE_FAULT, HEADLINE_PROTECTIONS, PEERS, protectionOf } from './cells.ts';
import { type CellResult, cellOf } from './results.ts';
import type { Estimate } from './statistics.ts';

/** A figure that the README or the page leads with. */
export interface Headline {
  readonly id: string;
  readonly figure: Estimate;
}

const OURS = 'breakerbox-map';

/** The headlines of the AI SDK: one dead tool that another can replace, and no outage. */
export const headlines = (results: readonly CellResult[]): readonly Headline[] =>
  HEADLINE_PROTECTIONS.flatMap(({ id: protection }) => {
    const dead = cellOf(results, { protection, fault: HEADLINE_FAULT });
    const healthy = cellOf(results, { protection, fault: 'none' });
    return [
      { id: `${protection}: success with a dead tool`, figure: dead.success },
      { id: `${protection}: calls into the dead tool`, figure: dead.deadCalls },
      { id: `${protection}: tokens wasted`, figure: dead.wastedTokens },
      { id: `${protection}: tokens after the first failure`, figure: dead.tokensAfterFailure },
      { id: `${protection}: success without an outage`, figure: healthy.success },
    ];
  });

/** What was expected when the benchmark was planned, and whether it came out so. */
export const expectations = (
  results: readonly CellResult[],
): readonly { says: string; found: string; met: boolean }[] => {
  const dead = (protection: string) => cellOf(results, { protection, fault: HEADLINE_FAULT });
  const ours = dead(OURS);
  const healthy = cellOf(results, { protection: OURS, fault: 'none' });
  const kept = ours.success.mean / healthy.success.mean;
  const gain = healthy.gain ?? { mean: 0, half: 0 };
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  const third = (says: string, key: 'tokensAfterFailure' | 'wastedTokens', peers: typeof PEERS) => {
    const all = peers.map(({ id }) => dead(id)).sort((one, other) => one[key].mean - other[key].mean);
    const [best = ours] = all;
    const share = ours[key].mean / best[key].mean;
    const { text } = protectionOf(best.framework, best.protection);
    return { says, found: `${percent(share)} of those of *${text}*`, met: share <= 1 / 3 };
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
      says: 'no difference without an outage beyond the interval',
      found: `${(100 * gain.mean).toFixed(1)} points ± ${(100 * gain.half).toFixed(1)}`,
      met: Math.abs(gain.mean) <= gain.half,
    },
  ];
};
