import { number } from '../../config/checks.ts';
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
 * Opens when too large a share of the calls is slow, whether they succeed or fail (C3).
 *
 * @example Every second call of the last minute took longer than 5 s
 * ```ts
 * createBreakerbox({
 *   agent: 'research-agent',
 *   tools: { web_search: { slowCallRate: { rate: 0.5, slowerThanMs: 5_000, windowMs: 60_000 } } },
 * });
 * ```
 */
export interface SlowCallRateConfig extends RateConfig {
  /** Duration above which a call is slow. Milliseconds > 0. */
  readonly slowerThanMs: number;
}

/** The same with its defaults filled in. */
export interface SlowCallRatePolicy extends RatePolicy {
  readonly slowerThanMs: number;
}

export const slowCallRate = {
  name: 'slow_call_rate',
  category: 'timeout',
  checks: {
    slowCallRate: checkRate('{ rate: 0.5, slowerThanMs: 5000 }', {
      slowerThanMs: number(0, ': a call that takes longer is slow.', { above: true }),
    }),
  },
  resolve: ({ slowCallRate: config }) => ({
    slowCallRate: config && { ...resolveRate(config), slowerThanMs: config.slowerThanMs },
  }),
  record: (window, { category, durationMs = 0 }, { slowCallRate: policy }, ms) =>
    policy && recordRate(window, policy, category === 'unknown' ? undefined : durationMs > policy.slowerThanMs, ms), // O6
  tripped: (window, _, { slowCallRate: policy }, ms) => policy !== undefined && rateReached(window, policy, ms),
  snapshot: RATE_WINDOW,
} as const satisfies TripPolicy<
  { readonly slowCallRate?: SlowCallRateConfig },
  { readonly slowCallRate: SlowCallRatePolicy | undefined },
  RateWindow
>;
