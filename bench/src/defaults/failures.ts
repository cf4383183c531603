import type { ErrorCategory } from '@breakerbox/core';
import { drawn, type Random, type Weighted } from './random.ts';

/**
 * How failures of remote tools are distributed over the categories here. Most failures of HTTP APIs and MCP servers are lost
 * connections, time-outs and 5xx answers, in similar shares. Rate limits are rarer. The classifier cannot categorize about one failure
 * in seven, because the tool throws an error with words of its own (`unknown`). These shares are an assumption, not a measurement.
 */
const USUAL: readonly Weighted<ErrorCategory>[] = [
  { value: 'network', weight: 25 },
  { value: 'timeout', weight: 25 },
  { value: 'server', weight: 25 },
  { value: 'rate_limit', weight: 10 },
  { value: 'unknown', weight: 15 },
];

/** A failure's category. */
export const usualCategory = (random: Random): ErrorCategory => drawn(random, USUAL);

/** The category of an outage of all tools: the network, the host, the provider. The classifier can name it. */
const SHARED: readonly Weighted<ErrorCategory>[] = [
  { value: 'network', weight: 50 },
  { value: 'timeout', weight: 20 },
  { value: 'server', weight: 30 },
];

/** The category of an outage of everything. */
export const sharedCategory = (random: Random): ErrorCategory => drawn(random, SHARED);

const NAMED = USUAL.filter(({ value }) => value !== 'unknown');

/** Two different categories, both named. */
export const twoCategories = (random: Random): readonly [ErrorCategory, ErrorCategory] => {
  const first = drawn(random, NAMED);
  return [
    first,
    drawn(
      random,
      NAMED.filter(({ value }) => value !== first),
    ),
  ];
};

/** A named category and `unknown`, in either order. */
export const oneUnknown = (random: Random): readonly [ErrorCategory, ErrorCategory] => {
  const named = drawn(random, NAMED);
  return random() < 0.5 ? [named, 'unknown'] : ['unknown', named];
};

/** Five different categories, for five tools. */
export const FIVE_CATEGORIES: readonly ErrorCategory[] = ['network', 'timeout', 'server', 'rate_limit', 'permission'];
