import { above, type Check, number, object } from '../../checks/checks.ts';
import { addCalls, TIME_WINDOW, type TimeWindow, timeWindow, totalAt } from './recent-calls.ts';
import type { TripPolicy } from './trip-policy.ts';

/**
 * Opens when failed calls have cost too many tokens (C3).
 *
 * @example 20,000 tokens within ten minutes
 * ```ts
 * createBreakerbox({ agent: 'research-agent', tools: { summarise: { wastedTokens: { tokens: 20_000 } } } });
 * ```
 */
export interface WastedTokensConfig {
  /** Number of tokens of failed calls that opens the circuit. Number > 0. */
  readonly tokens: number;
  /** Length of the window. Milliseconds > 0. Default 600,000 (ten minutes). */
  readonly windowMs?: number;
}

const aLimit = number(0, ': the circuit opens when failed calls have cost this many tokens.', { above: true });

const check: Check = (path, value) => {
  const checks = {
    tokens: aLimit,
    windowMs: above('Tokens of failed calls count for this time.'),
  } satisfies Record<keyof WastedTokensConfig, Check>;
  const issues = object(checks, '{ tokens: 10000 }')(path, value);
  if (issues.length > 0) return issues;
  return (value as WastedTokensConfig).tokens === undefined ? aLimit(`${path}.tokens`, undefined) : [];
};

export const wastedTokens = {
  name: 'wasted_tokens',
  setting: 'wastedTokens',
  checks: { wastedTokens: check },
  resolve: ({ wastedTokens: config }) => ({ wastedTokens: config && { windowMs: 600_000, ...config } }),
  record: (kept, { category, tokens = 0 }, { wastedTokens: policy }, ms) => {
    if (policy === undefined) return undefined;
    const window = kept?.spanMs === policy.windowMs ? kept : timeWindow(policy.windowMs);
    return category !== undefined && tokens > 0 ? addCalls(window, ms, { calls: 1, amount: tokens }) : window;
  },
  tripped: (window, _, { wastedTokens: policy }, ms) =>
    policy !== undefined && totalAt(window, ms).amount >= policy.tokens,
  snapshot: TIME_WINDOW,
} as const satisfies TripPolicy<
  { readonly wastedTokens?: WastedTokensConfig },
  { readonly wastedTokens: Required<WastedTokensConfig> | undefined },
  TimeWindow
>;
