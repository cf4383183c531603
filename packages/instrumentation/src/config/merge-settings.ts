import { isDeepStrictEqual } from 'node:util';
import type { BreakerboxConfig } from '@breakerbox/core';
import type { FileSettings } from './load-config.ts';

type Values = Readonly<Record<string, unknown>>;

/** Settings by name within which single settings are compared. */
const BY_NAME: readonly string[] = ['tools', 'groups'];

/**
 * The running settings after a file has changed from `before` to `after`. A setting that differs from what the file said before is the
 * program's own, and stays.
 */
export const mergeSettings = (
  running: BreakerboxConfig,
  before: FileSettings,
  after: FileSettings,
): BreakerboxConfig => {
  const merge = (key: string, ours: unknown, base: unknown, next: unknown): unknown => {
    if (BY_NAME.includes(key)) return merged(ours, base, next, (_, ...values) => merged(...values, pick));
    return key === 'defaults' ? merged(ours, base, next, pick) : pick(key, ours, base, next);
  };
  return merged(running, before, after, merge) as unknown as BreakerboxConfig;
};

type Pick = (key: string, ours: unknown, base: unknown, next: unknown) => unknown;

const pick: Pick = (_, ours, base, next) => (isDeepStrictEqual(ours, base) ? next : ours);

/** All keys of the three, without those that end up with no value. Undefined if nothing is left, and `after` has none either. */
const merged = (ours: unknown, base: unknown, next: unknown, merge: Pick): Values | undefined => {
  const [running, before, after] = [ours, base, next].map((one) => (one ?? {}) as Values) as [Values, Values, Values];
  const entries = Object.keys({ ...running, ...before, ...after })
    .map((key) => [key, merge(key, running[key], before[key], after[key])] as const)
    .filter(([, value]) => value !== undefined);
  const isGone = entries.length === 0 && next === undefined && (base !== undefined || ours === undefined);
  return isGone ? undefined : Object.fromEntries(entries);
};
