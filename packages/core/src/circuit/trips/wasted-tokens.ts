import { type Check, number, object, orLeaveOut } from '../../checks.ts';
import { addCalls, type TimeWindow, timeWindow, totalAt } from './time-window.ts';

/**
 * Opens when failed calls have cost too many tokens (C3, O4).
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

/** The same with its default filled in. */
export interface WastedTokensPolicy {
  readonly tokens: number;
  readonly windowMs: number;
}

/** Fills in the default. `config` must have been validated. */
export const resolveWastedTokens = ({ tokens, windowMs = 600_000 }: WastedTokensConfig): WastedTokensPolicy => ({
  tokens,
  windowMs,
});

/** The window after one more call: only a failed call wastes its cost. */
export const recordWastedTokens = (
  kept: TimeWindow | undefined,
  { windowMs }: WastedTokensPolicy,
  { failed, tokens }: { readonly failed: boolean; readonly tokens: number },
  ms: number,
): TimeWindow => {
  const window = kept?.spanMs === windowMs ? kept : timeWindow(windowMs);
  return failed && tokens > 0 ? addCalls(window, ms, { calls: 1, amount: tokens }) : window;
};

/** Whether the wasted tokens reach the policy's number. */
export const wastedTokensReached = (window: TimeWindow, { tokens }: WastedTokensPolicy, ms: number): boolean =>
  totalAt(window, ms).amount >= tokens;

const aLimit = number(0, ': failed calls that cost so much open the circuit.', { above: true });

export const checkWastedTokens: Check = (path, value) => {
  const checks = {
    tokens: aLimit,
    windowMs: number(0, orLeaveOut('what was wasted longer ago is forgotten.'), { above: true }),
  } satisfies Record<keyof WastedTokensConfig, Check>;
  const issues = object(checks, '{ tokens: 10000 }')(path, value);
  if (issues.length > 0) return issues;
  return (value as WastedTokensConfig).tokens === undefined ? aLimit(`${path}.tokens`, undefined) : [];
};
