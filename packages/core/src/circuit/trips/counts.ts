import type { ErrorCategory } from '../../outcome/taxonomy.ts';
import type { CircuitPolicy } from '../policy.ts';
import { recordFailureRate } from './failure-rate.ts';
import { type RateWindow, rateReached } from './rate.ts';
import { recordSlowCallRate } from './slow-call-rate.ts';
import type { TimeWindow } from './time-window.ts';
import { recordWastedTokens, wastedTokensReached } from './wasted-tokens.ts';

/**
 * What opened a circuit (C3); `probe`: it was open, and a probe failed (C6); `transport`: a group's connection ended (C13); `keys`: a tool
 * failed on several keys (C14).
 */
export const TRIPS = [
  'consecutive',
  'failure_rate',
  'slow_call_rate',
  'wasted_tokens',
  'probe',
  'transport',
  'keys',
] as const;

export type Trip = (typeof TRIPS)[number];

/** The counts of a closed circuit in its windows. A window that isn't configured is undefined. */
export interface Counts {
  /** The category of the latest failure; undefined before the first. */
  readonly category: ErrorCategory | undefined;
  readonly failureRate: RateWindow | undefined;
  readonly slowCallRate: RateWindow | undefined;
  readonly wastedTokens: TimeWindow | undefined;
}

/** A call that is over and counts, as windows need it. */
export interface CountedCall {
  /** Undefined if the call succeeded. */
  readonly category: ErrorCategory | undefined;
  /** Duration in milliseconds. Default 0. */
  readonly durationMs?: number;
  /** Cost in tokens. Default 0: unknown. */
  readonly tokens?: number;
}

/** Whether anything but failures in a row is counted. */
export const hasWindows = ({ failureRate, slowCallRate, wastedTokens }: CircuitPolicy): boolean =>
  failureRate !== undefined || slowCallRate !== undefined || wastedTokens !== undefined;

/** The counts after one more call. An `unknown` failure is in no rate (O6). */
export const recordCall = (
  counts: Counts | undefined,
  { category, durationMs = 0, tokens = 0 }: CountedCall,
  { failureRate, slowCallRate, wastedTokens }: CircuitPolicy,
  ms: number,
): Counts => {
  const call = { failed: category !== undefined, isWeak: category === 'unknown', durationMs, tokens };
  return {
    category: category === undefined || call.isWeak ? counts?.category : category, // O6: an unknown one counts in no rate.
    failureRate: failureRate && recordFailureRate(counts?.failureRate, failureRate, call, ms),
    slowCallRate: slowCallRate && recordSlowCallRate(counts?.slowCallRate, slowCallRate, call, ms),
    wastedTokens: wastedTokens && recordWastedTokens(counts?.wastedTokens, wastedTokens, call, ms),
  };
};

/** The first trip policy that opens the circuit (C3). */
export const trippedBy = (
  counts: Counts,
  { failureRate, slowCallRate, wastedTokens }: CircuitPolicy,
  ms: number,
): Exclude<Trip, 'consecutive' | 'probe' | 'transport' | 'keys'> | undefined => {
  if (counts.failureRate && failureRate && rateReached(counts.failureRate, failureRate, ms)) return 'failure_rate';
  if (counts.slowCallRate && slowCallRate && rateReached(counts.slowCallRate, slowCallRate, ms)) {
    return 'slow_call_rate';
  }
  if (counts.wastedTokens && wastedTokens && wastedTokensReached(counts.wastedTokens, wastedTokens, ms)) {
    return 'wasted_tokens';
  }
  return undefined;
};
