import { DURATION_BUCKETS } from '@breakerbox/core';
import { secondsOf } from './duration.ts';
import { wrongOrders } from './setting-orders.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './settings.ts';

/** One thing that is wrong with what rules are to be made of. */
export interface RuleIssue {
  /** Where it stands, such as `settings.openFor`. */
  readonly path: string;
  /** What is wrong, why that matters, and what to write instead. */
  readonly message: string;
}

/** No rules can be made of these options. */
export class RuleOptionsError extends Error {
  override readonly name = 'RuleOptionsError';
  readonly code = 'BREAKERBOX_RULE_OPTIONS';
  readonly issues: readonly RuleIssue[];

  constructor(issues: readonly RuleIssue[]) {
    super(
      `Breakerbox can't make rules of these options:\n${issues.map(({ path, message }) => `  ${path}: ${message}`).join('\n')}`,
    );
    this.issues = issues;
  }
}

type Key = keyof RuleSettings;
type KeyOf<Type> = { [K in Key]: RuleSettings[K] extends Type ? K : never }[Key];

/** Numbers that are counts; 1 is the least that can be waited for. */
const COUNTS: readonly KeyOf<number>[] = [
  'flappingOpenings',
  'starvedLeastSkips',
  'keyOpenLeastDecisions',
  'errorLeastCalls',
  'errorLeastFailures',
  'slowLeastCalls',
  'burnFastLeastSessions',
  'burnSlowLeastSessions',
];
/** Two of them are the least that can be said to have something in common. */
const GROUPS: readonly KeyOf<number>[] = ['correlatedTools', 'correlatedAgents'];
const SHARES: readonly KeyOf<number>[] = [
  'openShare',
  'keyOpenShare',
  'errorRatio',
  'burnFastRatio',
  'burnSlowRatio',
  'correlatedShare',
  'absentHabitShare',
];
/** Those that must be passed, and not only reached. */
const PASSED: readonly KeyOf<number>[] = ['errorRatio', 'burnFastRatio', 'burnSlowRatio'];
/** Above the last bucket, no p95 is known. */
const SLOWEST = Math.max(...DURATION_BUCKETS);
const OTHERS: readonly KeyOf<number>[] = ['slowFactor', 'slowFloor'];

const isKey = (key: string): key is Key => Object.hasOwn(DEFAULT_SETTINGS, key);

const whatItIs = (value: unknown): string => {
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'object' ? 'a map of names and values' : String(value);
};

/** A year: Prometheus seldom keeps a month, and what is longer is a slip of the pen. */
const LONGEST = 365 * 86_400;

const wrongDuration = (value: unknown, like: string): string | undefined => {
  const found = typeof value === 'string' ? (secondsOf(value) ?? 0) : 0;
  if (found > LONGEST)
    return `is ${whatItIs(value)}, and no Prometheus looks back that far. Write a year (365d) or less. ${like}`;
  if (found > 0) return undefined;
  return `is ${whatItIs(value)}, and Prometheus would refuse it as a duration above 0. Write whole numbers with w, d, h, m or s, the longest first, such as 2m30s. ${like}`;
};

/** What is wrong with one value, and how to mend it; undefined where nothing is. */
const wrongWith = (key: Key, value: unknown): string | undefined => {
  const like = `The default is ${whatItIs(DEFAULT_SETTINGS[key])}.`;
  if (typeof DEFAULT_SETTINGS[key] === 'string') return wrongDuration(value, like);
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return `is ${whatItIs(value)}, and nothing can be compared with that. Write a number. ${like}`;
  }
  const name = key as KeyOf<number>;
  if (COUNTS.includes(name) && !(Number.isInteger(value) && value >= 1)) {
    return `is ${value}, and it counts what has happened: below 1 the alert would be true of an agent at rest. Write a whole number from 1 on. ${like}`;
  }
  if (GROUPS.includes(name) && !(Number.isInteger(value) && value >= 2)) {
    return `is ${value}, and one alone has nothing in common with others. Write a whole number from 2 on. ${like}`;
  }
  if (SHARES.includes(name) && !(value > 0 && value <= 1)) {
    return `is ${value}, and it is a share: at 0 or below it is always reached, above 1 never. Write 0.25 for 25 %. ${like}`;
  }
  if (PASSED.includes(name) && value >= 1)
    return `is ${value}, and no share is above that: the alert would never fire. Write less than 1, such as 0.9. ${like}`;
  if (name === 'slowFloor' && value >= SLOWEST)
    return `is ${value}, and no measured p95 is above ${SLOWEST}, where the histogram ends: the alert would never fire. Write less. ${like}`;
  if (OTHERS.includes(name) && value <= 0)
    return `is ${value}, and every tool would pass it. Write a number above 0. ${like}`;
  if (name === 'slowFactor' && value <= 1)
    return `is ${value}, and half of the time every tool would be slow. Write a number above 1. ${like}`;
  return undefined;
};

/**
 * The defaults with these settings in place of some, checked.
 *
 * @throws RuleOptionsError with all that is wrong with them: what, where, why, and how to mend it.
 * @example checkSettings({ openFor: '10m' })
 */
export const checkSettings = (own: Partial<RuleSettings> = {}): RuleSettings => {
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  const issues = given.flatMap(([key, value]): RuleIssue[] => {
    const message = isKey(key)
      ? wrongWith(key, value)
      : `is no setting, and nothing would come of it. The settings are: ${Object.keys(DEFAULT_SETTINGS).join(', ')}.`;
    return message === undefined ? [] : [{ path: `settings.${key}`, message }];
  });
  if (issues.length > 0) throw new RuleOptionsError(issues);
  const settings: RuleSettings = { ...DEFAULT_SETTINGS, ...Object.fromEntries(given) };
  const orders = wrongOrders(settings, new Set(given.map(([key]) => key)));
  if (orders.length > 0) throw new RuleOptionsError(orders);
  return settings;
};

/** What is wrong with a text that Grafana reads from a file: it would take `$name` for a variable of its environment. */
export const checkedText = (text: string, path: string, what: string): RuleIssue[] =>
  text.trim() !== '' && !/[$\n]/.test(text)
    ? []
    : [
        {
          path,
          message: `is ${JSON.stringify(text)}. Grafana would find nothing by it, or put a variable of its environment there. Write ${what}, on one line and without $.`,
        },
      ];
