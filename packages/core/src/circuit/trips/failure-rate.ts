import { checkRate, type RateConfig, type RatePolicy, type RateWindow, recordRate } from './rate.ts';

/**
 * Opens when too large a share of the calls fails, however many succeed between (C3).
 *
 * @example Half of the last 20 calls
 * ```ts
 * createBreakerbox({
 *   agent: 'research-agent',
 *   tools: { web_search: { failureRate: { rate: 0.5, windowCalls: 20 } } },
 * });
 * ```
 */
export interface FailureRateConfig extends RateConfig {}

/** The window after one more call. A failure that is weak evidence is not in it (O6). */
export const recordFailureRate = (
  kept: RateWindow | undefined,
  policy: RatePolicy,
  { failed, isWeak }: { readonly failed: boolean; readonly isWeak: boolean },
  ms: number,
): RateWindow => recordRate(kept, policy, isWeak ? undefined : failed, ms);

export const checkFailureRate = checkRate('{ rate: 0.5 }');
