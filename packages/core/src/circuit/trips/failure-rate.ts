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

/** The window after one call more. */
export const recordFailureRate = (
  kept: RateWindow | undefined,
  policy: RatePolicy,
  { failed }: { readonly failed: boolean },
  ms: number,
): RateWindow => recordRate(kept, policy, failed, ms);

export const checkFailureRate = checkRate('{ rate: 0.5 }');
