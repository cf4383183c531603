import { DURATION_BUCKETS } from '@breakerbox/core';
import { secondsOf } from './duration.ts';
import { type RuleIssue, wrongOrders } from './setting-orders.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './settings.ts';

/** These options cannot be turned into rules. */
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

/**
 * What each number is. `count`: of something; the least useful value is 1. `group`: tools or agents that have something in common; the
 * least useful value is 2. `passed`: a share that a value must exceed, not only reach. `factor`, `floor`: above 0. `amount`: that an
 * agent spends in an hour, 0 or more.
 */
const KINDS: Readonly<Record<KeyOf<number>, 'count' | 'group' | 'share' | 'passed' | 'factor' | 'floor' | 'amount'>> = {
  flappingOpenings: 'count',
  starvedLeastSkips: 'count',
  keyOpenLeastDecisions: 'count',
  errorLeastCalls: 'count',
  errorLeastFailures: 'count',
  slowLeastCalls: 'count',
  burnFastLeastSessions: 'count',
  burnSlowLeastSessions: 'count',
  onFallbackLeastAnswers: 'count',
  modelsDownLeastCalls: 'count',
  correlatedTools: 'group',
  correlatedAgents: 'group',
  openShare: 'share',
  keyOpenShare: 'share',
  errorRatio: 'passed',
  burnFastRatio: 'passed',
  burnSlowRatio: 'passed',
  correlatedShare: 'share',
  absentHabitShare: 'share',
  slowFactor: 'factor',
  slowFloor: 'floor',
  spendFactor: 'factor',
  spendFloorCost: 'amount',
  spendFloorTokens: 'amount',
  spendCriticalCost: 'amount',
};
/** The end of the histogram: no measured p95 is above it. */
const SLOWEST = Math.max(...DURATION_BUCKETS);

const isKey = (key: string): key is Key => Object.hasOwn(DEFAULT_SETTINGS, key);

const whatItIs = (value: unknown): string => {
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'object' ? 'a map of names and values' : String(value);
};

/** One year. Prometheus seldom keeps even a month, so a longer duration is a typing error. */
const LONGEST = 365 * 86_400;

const wrongDuration = (value: unknown, like: string): string | undefined => {
  const found = typeof value === 'string' ? (secondsOf(value) ?? 0) : 0;
  if (found > LONGEST)
    return `is ${whatItIs(value)}, but Prometheus keeps no data for that long. Write a year (365d) or less. ${like}`;
  if (found > 0) return undefined;
  return `is ${whatItIs(value)}, which is not a duration above 0 that Prometheus accepts. Write whole numbers with w, d, h, m or s, the longest first, such as 2m30s. ${like}`;
};

/** What is wrong with one value and how to fix it; undefined if the value is right. */
const wrongWith = (key: Key, value: unknown): string | undefined => {
  const like = `The default is ${whatItIs(DEFAULT_SETTINGS[key])}.`;
  if (typeof DEFAULT_SETTINGS[key] === 'string') return wrongDuration(value, like);
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return `is ${whatItIs(value)}, which is not a finite number. Write a number. ${like}`;
  }
  const kind = KINDS[key as KeyOf<number>];
  if (kind === 'count' && !(Number.isInteger(value) && value >= 1)) {
    return `is ${value}, but the setting is a count: below 1 the alert would fire for an idle agent. Write a whole number of 1 or more. ${like}`;
  }
  if (kind === 'group' && !(Number.isInteger(value) && value >= 2)) {
    return `is ${value}, but a shared cause needs at least two. Write a whole number of 2 or more. ${like}`;
  }
  if ((kind === 'share' || kind === 'passed') && !(value > 0 && value <= 1)) {
    return `is ${value}, but the setting is a share: a value of 0 or less is always reached, a value above 1 never. Write 0.25 for 25 %. ${like}`;
  }
  if (kind === 'passed' && value >= 1)
    return `is ${value}, but a share is never above 1: the alert would never fire. Write less than 1, such as 0.9. ${like}`;
  if (kind === 'floor' && value >= SLOWEST)
    return `is ${value}, but the histogram ends at ${SLOWEST}, so no measured p95 is above that: the alert would never fire. Write a lower value. ${like}`;
  if ((kind === 'factor' || kind === 'floor') && value <= 0)
    return `is ${value}, and every tool or agent would exceed it. Write a number above 0. ${like}`;
  if (kind === 'factor' && value <= 1)
    return `is ${value}, and every tool or agent would exceed it half of the time. Write a number above 1. ${like}`;
  if (kind === 'amount' && value < 0) return `is ${value}, but an amount is never below 0. Write 0 or more. ${like}`;
  return undefined;
};

/**
 * The default settings with `own` in place of some of them, checked.
 *
 * @throws RuleOptionsError that lists all faults: what is wrong, where, why, and how to fix it.
 * @example checkSettings({ openFor: '10m' })
 */
export const checkSettings = (own: Partial<RuleSettings> = {}): RuleSettings => {
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  const issues = given.flatMap(([key, value]): RuleIssue[] => {
    const message = isKey(key)
      ? wrongWith(key, value)
      : `is not a setting. The settings are: ${Object.keys(DEFAULT_SETTINGS).join(', ')}.`;
    return message === undefined ? [] : [{ path: `settings.${key}`, message }];
  });
  if (issues.length > 0) throw new RuleOptionsError(issues);
  const settings: RuleSettings = { ...DEFAULT_SETTINGS, ...Object.fromEntries(given) };
  const orders = wrongOrders(settings, new Set(given.map(([key]) => key)));
  if (orders.length > 0) throw new RuleOptionsError(orders);
  return settings;
};

/** Checks a string that Grafana reads from a file. Grafana would replace `$name` with a variable of its environment. */
export const checkedText = (text: string, path: string, what: string): RuleIssue[] =>
  text.trim() !== '' && !/[$\n]/.test(text)
    ? []
    : [
        {
          path,
          message: `is ${JSON.stringify(text)}. Grafana would find nothing under it, or would replace it with a variable of its environment. Write ${what}, on one line and without $.`,
        },
      ];
