import { anyName, complete, list, oneOf, whole } from '../../checks/checks.ts';
import type { ErrorCategory } from '../../classify/taxonomy.ts';
import { ERROR_CATEGORIES } from '../../classify/taxonomy.ts';
import type { TripPolicy } from './trip-policy.ts';

/** The keys of a tool that have failed, each once. */
export interface FailedKeys {
  /** Of failures that blame the tool, since its last success. */
  readonly ofTool: readonly string[];
  /** Of any failures in a row, whatever they blame. */
  readonly row: readonly FailedKey[];
}

interface FailedKey {
  readonly key: string;
  readonly category: ErrorCategory;
}

/** The settings with their defaults filled in. `Infinity`: failures that blame their keys never open the tool. */
export interface KeysPolicy {
  readonly keysThreshold: number;
  /** The same before the first success of the tool. */
  readonly firstKeysThreshold: number;
}

/** Number of keys. A tool that fails on so many keys, and is blamed for it, counts as failing on all. */
const KEYS_OF_TOOL = 3;

/** The keys cannot be reached. */
export const UNREACHABLE: readonly ErrorCategory[] = ['network', 'timeout', 'server'];
/**
 * The keys answer 401, 403 or 429. Many sites mean it, such as those with a paywall. But if all do, the tool's own address or account is
 * blocked.
 */
export const TURNED_AWAY: readonly ErrorCategory[] = ['permission', 'rate_limit'];

const NONE: FailedKeys = { ofTool: [], row: [] };

const aThreshold = whole(1, 'The circuit opens after this many keys have failed in a row.', 100);

/** How many times as many keys must turn the tool away. */
const AWAY_TIMES = 2;

const isAway = (key: FailedKey | undefined): boolean => key !== undefined && TURNED_AWAY.includes(key.category);

/** The keys of the row that failed in the same one of these two ways as the last. */
const alike = (row: readonly FailedKey[]): readonly FailedKey[] => {
  const wanted = isAway(row.at(-1));
  return row.filter((one) => isAway(one) === wanted);
};

const isEnough = (row: readonly FailedKey[], least: number, { keysThreshold }: KeysPolicy): boolean =>
  alike(row).length >= (isAway(row.at(-1)) ? AWAY_TIMES * keysThreshold : least);

/** The category of most of these keys; of several, the one that came first. */
const commonest = (row: readonly FailedKey[]): ErrorCategory | undefined => {
  const times = (category: ErrorCategory): number => row.filter((one) => one.category === category).length;
  return row.map(({ category }) => category).toSorted((a, b) => times(b) - times(a))[0];
};

const written = complete({
  ofTool: list(anyName),
  row: list(complete({ key: anyName, category: oneOf(ERROR_CATEGORIES, '.') })),
});

/** C14: opens when the failures in a row of one tool are on several keys: on 3 if they blame the tool, otherwise on
 * `keysThreshold`, or on twice as many if they turn the tool away. */
export const failedKeys = {
  name: 'keys',
  checks: { keysThreshold: (path, value) => (value === false ? [] : aThreshold(path, value)) },
  countsOfKey: true,
  resolve: ({ keysThreshold }) => {
    const given = keysThreshold === false ? Number.POSITIVE_INFINITY : keysThreshold;
    return { keysThreshold: given ?? 8, firstKeysThreshold: given ?? 5 };
  },
  record: (kept, { category, key, ofKey }, { keysThreshold }) => {
    if (category === undefined)
      return ofKey && kept !== undefined && kept.ofTool.length > 0 ? { ...kept, row: [] } : undefined;
    if (key === undefined) return kept;
    const { ofTool, row } = kept ?? NONE;
    const isNew = Number.isFinite(keysThreshold) && !row.some((one) => one.key === key);
    return {
      ofTool: ofKey || !UNREACHABLE.includes(category) || ofTool.includes(key) ? ofTool : [...ofTool, key],
      row: isNew ? [...row, { key, category }] : row,
    };
  },
  tripped: ({ ofTool, row }, { isFirst }, policy) =>
    ofTool.length >= KEYS_OF_TOOL || isEnough(row, isFirst ? policy.firstKeysThreshold : policy.keysThreshold, policy),
  opensAs: ({ ofTool, row }) => (ofTool.length >= KEYS_OF_TOOL ? undefined : commonest(alike(row))),
  snapshot: {
    write: (kept) => kept,
    // Older snapshots have the keys of failures that blame the tool alone.
    check: (path, value) => (Array.isArray(value) ? list(anyName) : written)(path, value),
    read: (kept) => (Array.isArray(kept) ? { ofTool: kept, row: [] } : kept) as FailedKeys,
  },
} as const satisfies TripPolicy<{ readonly keysThreshold?: number | false | undefined }, KeysPolicy, FailedKeys>;
