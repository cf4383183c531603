import { seconds, secondsOf } from './duration.ts';
import { DEFAULT_SETTINGS, type RuleSettings, WINDOW } from './settings.ts';

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
  'errorLeastCalls',
  'errorLeastFailures',
  'slowLeastCalls',
  'burnFastLeastGranted',
  'burnFastLeastCharged',
  'burnSlowLeastGranted',
  'burnSlowLeastCharged',
];
/** Two of them are the least that can be said to have something in common. */
const GROUPS: readonly KeyOf<number>[] = ['correlatedTools', 'correlatedAgents'];
const SHARES: readonly KeyOf<number>[] = [
  'openShare',
  'errorRatio',
  'burnFastRatio',
  'burnSlowRatio',
  'correlatedShare',
  'absentHabitShare',
];
const OTHERS: readonly KeyOf<number>[] = ['slowFactor', 'slowFloor', 'burnLeastTurnover'];

const isKey = (key: string): key is Key => Object.hasOwn(DEFAULT_SETTINGS, key);

const whatItIs = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

/** What is wrong with one value, and how to mend it; undefined where nothing is. */
const wrongWith = (key: Key, value: unknown): string | undefined => {
  const like = `The default is ${whatItIs(DEFAULT_SETTINGS[key])}.`;
  if (typeof DEFAULT_SETTINGS[key] === 'string') {
    if (typeof value === 'string' && (secondsOf(value) ?? 0) > 0) return undefined;
    return `is ${whatItIs(value)}, and Prometheus would refuse it as a duration above 0. Write whole numbers with s, m, h, d or w, such as 2m30s. ${like}`;
  }
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
  if (OTHERS.includes(name) && value <= 0)
    return `is ${value}, and every tool would pass it. Write a number above 0. ${like}`;
  if (name === 'slowFactor' && value <= 1)
    return `is ${value}, and half of the time every tool would be slow. Write a number above 1. ${like}`;
  return undefined;
};

interface Order {
  readonly long: Key;
  readonly short: Key | (typeof WINDOW)[keyof typeof WINDOW];
  readonly why: string;
}

/** Durations that only work in one order. */
const ORDERS: readonly Order[] = [
  { long: 'openFor', short: 'gap', why: 'a single hole would be taken for an opening' },
  { long: 'absentFor', short: 'gap', why: 'a missed scrape would be taken for an agent that has gone' },
  { long: 'starvedFor', short: 'gap', why: 'the state is looked at across that gap' },
  {
    long: 'afterOpen',
    short: WINDOW.quarter,
    why: 'the windows of 15 minutes would still hold the outage, and warn when it is over',
  },
  {
    long: 'correlatedMemory',
    short: 'correlatedWithin',
    why: 'an opening would be forgotten before its companions come',
  },
  {
    long: 'correlatedMemory',
    short: 'correlatedRecent',
    why: 'an opening would be forgotten while it is still recent',
  },
  { long: 'correlatedHold', short: 'correlatedRecent', why: 'the alert would be let go before the openings are old' },
];

const secondsFor = (settings: RuleSettings, name: Order['short']): number =>
  seconds(isKey(name) ? String(settings[name]) : name);

const wrongOrders = (settings: RuleSettings): RuleIssue[] =>
  ORDERS.filter(({ long, short }) => {
    const strict = isKey(short);
    const difference = secondsFor(settings, long) - secondsFor(settings, short);
    return strict ? difference <= 0 : difference < 0;
  }).map(({ long, short, why }) => ({
    path: `settings.${long}`,
    message: isKey(short)
      ? `is ${settings[long]}, not longer than settings.${short} (${settings[short]}): ${why}. Lengthen ${long}, or shorten ${short}.`
      : `is ${settings[long]}, shorter than ${short}: ${why}. Write ${short} or more.`,
  }));

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
  const orders = wrongOrders(settings);
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
