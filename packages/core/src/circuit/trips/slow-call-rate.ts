import { number } from '../../checks.ts';
import { checkRate, type RateConfig, type RatePolicy, type RateWindow, recordRate, resolveRate } from './rate.ts';

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

/** Fills in the defaults. `config` must have been validated. */
export const resolveSlowCallRate = (config: SlowCallRateConfig): SlowCallRatePolicy => ({
  ...resolveRate(config),
  slowerThanMs: config.slowerThanMs,
});

/** The window after one more call. A failure that is weak evidence is not in it (O6). */
export const recordSlowCallRate = (
  kept: RateWindow | undefined,
  policy: SlowCallRatePolicy,
  { durationMs, isWeak }: { readonly durationMs: number; readonly isWeak: boolean },
  ms: number,
): RateWindow => recordRate(kept, policy, isWeak ? undefined : durationMs > policy.slowerThanMs, ms);

export const checkSlowCallRate = checkRate('{ rate: 0.5, slowerThanMs: 5000 }', {
  slowerThanMs: number(0, ': a call that takes longer is slow.', { above: true }),
});
