import { classifyError } from '@breakerbox/core';
import { read } from '@breakerbox/core/internal';
import type { ModelErrorFacts } from './model-error-facts.ts';

const DAY_MS = 86_400_000;

/** The limits that providers report: what is left, and when there is more. */
const LIMITS: readonly (readonly [left: string, reset: string])[] = [
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  ['x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
  ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'],
  ['anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-reset'],
  ['anthropic-ratelimit-input-tokens-remaining', 'anthropic-ratelimit-input-tokens-reset'],
  ['anthropic-ratelimit-output-tokens-remaining', 'anthropic-ratelimit-output-tokens-reset'],
];

/**
 * How long a provider asks to wait, in milliseconds (L3): the longest of its used-up limits, of `Retry-After`, and of `retryDelay` in
 * Google's body. Times in the past are ignored, and no wait is longer than 24 hours.
 */
export const modelWait = (facts: ModelErrorFacts, unixMs: number): number | undefined => {
  const names = ['retry-after', 'retry-after-ms'];
  const headers = Object.fromEntries(names.map((name) => [name, facts.header(name)]));
  const usedUp = LIMITS.filter(([left]) => isUsedUp(facts.header(left))).map(([, reset]) => facts.header(reset));
  const waits = [
    classifyError({ status: 429, headers }, { unixMs }).retryAfterMs,
    resetIn(facts.header('retry-after'), unixMs), // Longer waits than a classifier of tools believes.
    ...usedUp.map((reset) => resetIn(reset, unixMs)),
    ...facts.details.map((detail) => duration(read(detail, 'retryDelay'))),
  ].filter((wait) => wait !== undefined && wait > 0) as number[];
  return waits.length === 0 ? undefined : Math.min(DAY_MS, Math.max(...waits));
};

/** An empty header says nothing. */
const isUsedUp = (left = ''): boolean => left.trim() !== '' && Number(left) <= 0;

/** A time of day, seconds since 1970, or a duration such as `1m30s`. */
const resetIn = (value: string | undefined, unixMs: number): number | undefined => {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (Number.isFinite(number)) {
    if (number > 1e12) return number - unixMs;
    return number > 1e9 ? number * 1000 - unixMs : number * 1000;
  }
  const date = /^\d{4}-/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? duration(value) : date - unixMs;
};

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** A wait that is longer as a text is not a provider's. */
const LONGEST_WAIT = 64;

/** `200ms`, `34.5s` and `1m30s`, in milliseconds. */
const duration = (value: unknown): number | undefined => {
  if (typeof value !== 'string' || value.length > LONGEST_WAIT) return undefined;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(value)) return undefined;
  let sum = 0;
  for (const [, count, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    sum += Number(count) * (UNITS[unit as string] ?? 0);
  }
  return sum;
};
