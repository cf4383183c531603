import {
  checkRate,
  RATE_WINDOW,
  type RateConfig,
  type RatePolicy,
  type RateWindow,
  rateReached,
  recordRate,
  resolveRate,
} from './rate.ts';
import type { TripPolicy } from './trip-policy.ts';

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

export const failureRate = {
  name: 'failure_rate',
  checks: { failureRate: checkRate('{ rate: 0.5 }') },
  resolve: ({ failureRate: config }) => ({ failureRate: config && resolveRate(config) }),
  record: (window, { category }, { failureRate: policy }, ms) =>
    policy && recordRate(window, policy, category === 'unknown' ? undefined : category !== undefined, ms), // O6
  tripped: (window, _, { failureRate: policy }, ms) => policy !== undefined && rateReached(window, policy, ms),
  snapshot: RATE_WINDOW,
} as const satisfies TripPolicy<
  { readonly failureRate?: FailureRateConfig },
  { readonly failureRate: RatePolicy | undefined },
  RateWindow
>;
