import { durationOf, seconds } from './duration.ts';
import { DEFAULT_SETTINGS, type RuleSettings, WINDOW } from './settings.ts';

/*
 * Conditions between settings, and between settings and the fixed windows. Prometheus accepts rules that violate them, but then an
 * alert never fires, or never resolves, without any error.
 */

/** One fault in the options of the rules. */
export interface RuleIssue {
  /** Where the fault is, such as `settings.openFor`. */
  readonly path: string;
  /** What is wrong, why that matters, and what to write instead. */
  readonly message: string;
}

type Key = keyof RuleSettings;
/** Settings that are durations. */
type DurationKey = { [K in Key]: RuleSettings[K] extends string ? K : never }[Key];

interface Pair {
  readonly long: DurationKey;
  readonly short: DurationKey;
  /** Whether the first must be longer than twice the second. */
  readonly twice?: true;
  readonly why: string;
}

/** The first setting must be longer than the second. */
const PAIRS: readonly Pair[] = [
  { long: 'openFor', short: 'gap', why: 'a single gap would count as an opening' },
  {
    long: 'correlatedKeep',
    short: 'openKeep',
    why: 'muted alerts would be sent when that ends, only because they are kept for longer',
  },
  {
    long: 'systemicKeep',
    short: 'openKeep',
    why: 'muted alerts would be sent when that ends, only because they are kept for longer',
  },
  { long: 'absentFor', short: 'gap', why: 'a missed scrape would count as a vanished agent' },
  {
    long: 'degradedFor',
    short: 'gap',
    why: 'a process that loses the store and then ends would always fire the alert',
  },
  {
    long: 'onFallbackFor',
    short: 'gap',
    why: 'with a missed scrape, no answer would be seen in that time',
  },
  {
    long: 'modelsDownFor',
    short: 'gap',
    why: 'with a missed scrape, no answer would be seen in that time',
  },
  {
    long: 'starvedFor',
    short: 'gap',
    twice: true,
    why: 'skips are counted in its latter half, and with a missed scrape a shorter time would show none',
  },
  {
    long: 'exhaustedWithin',
    short: 'gap',
    why: 'with a missed scrape, no counter would be seen to grow in that time',
  },
  {
    long: 'systemicWithin',
    short: 'gap',
    why: 'with a missed scrape, no counter would be seen to grow in that time',
  },
  {
    long: 'limitWithin',
    short: 'gap',
    why: 'with a missed scrape, no counter would be seen to grow in that time',
  },
  { long: 'correlatedRecent', short: 'gap', why: 'an opening would be too old when a late scrape reports it' },
  {
    long: 'correlatedMemory',
    short: 'correlatedWithin',
    why: 'an opening would be forgotten before the others open',
  },
  {
    long: 'correlatedMemory',
    short: 'correlatedRecent',
    why: 'an opening would be forgotten while it is still recent',
  },
  { long: 'correlatedHold', short: 'correlatedRecent', why: 'the alert would end before the openings are old' },
  {
    long: 'slowLeastHistory',
    short: 'slowFor',
    why: 'a tool with only that much history would count slow calls as usual before the alert fires',
  },
];

interface Bound {
  readonly key: DurationKey;
  readonly least?: string;
  readonly most?: string;
  readonly why: string;
}

/** Limits of single settings, given by the fixed windows. */
const BOUNDS: readonly Bound[] = [
  {
    key: 'gap',
    most: WINDOW.short,
    why: 'with scrapes that far apart, a window of 5 minutes contains one sample, which shows no increase: alerts on errors, openings and budgets would never fire',
  },
  {
    key: 'afterOpen',
    least: WINDOW.quarter,
    why: 'the windows of 15 minutes would still contain the outage, and alerts would fire after it',
  },
  {
    key: 'slowLeastHistory',
    most: WINDOW.week,
    why: 'the usual p95 is read from one week only',
  },
  {
    key: 'spendLeastHistory',
    least: '3h',
    most: WINDOW.week,
    why: 'the usual spending is the mean of a week, and the first hour of an agent is no measure',
  },
  {
    key: 'slowFor',
    most: '3d',
    why: 'after half a week, slow calls are the usual p95 of the week, and the alert would never fire',
  },
];

/** The shortest time, in seconds, that TelemetryAbsent must fire, so that an operator sees it. */
const ABSENT_SEEN = 15 * 60;

/** The rule looks back one hour. That hour empties while the agent is absent, until it no longer shows that the agent ever reported. */
const wrongAbsence = ({ absentFor, absentLeastReported }: RuleSettings, given: ReadonlySet<string>): RuleIssue[] => {
  const hour = seconds(WINDOW.hour);
  if (seconds(absentFor) + seconds(absentLeastReported) <= hour - ABSENT_SEEN) return [];
  const [key, other] = given.has('absentFor')
    ? (['absentFor', 'absentLeastReported'] as const)
    : (['absentLeastReported', 'absentFor'] as const);
  const values = { absentFor, absentLeastReported };
  return [
    {
      path: `settings.${key}`,
      message: `is ${values[key]}. Together with settings.${other} (${values[other]}) it is more than ${durationOf(hour - ABSENT_SEEN)}. Both must fit into the last hour: the alert would never fire, or would end before an operator sees it. Shorten one of them.`,
    },
  ];
};

/** With each hour of absence, an agent looks more like one that comes and goes. The alert must be over before it does. */
const wrongHabit = ({ absentHabit, absentHabitShare }: RuleSettings, given: ReadonlySet<string>): RuleIssue[] => {
  if (seconds(absentHabit) * (1 - absentHabitShare) >= seconds(WINDOW.hour)) return [];
  const why = `A vanished agent would at once count as one that comes and goes, and the alert would never fire`;
  return [
    given.has('absentHabit')
      ? {
          path: 'settings.absentHabit',
          message: `is ${absentHabit}. With settings.absentHabitShare (${absentHabitShare}), that leaves less than one hour of absence. ${why}. Lengthen absentHabit; the default is ${DEFAULT_SETTINGS.absentHabit}.`,
        }
      : {
          path: 'settings.absentHabitShare',
          message: `is ${absentHabitShare}. With settings.absentHabit (${absentHabit}), that leaves less than one hour of absence. ${why}. Write a lower value; the default is ${DEFAULT_SETTINGS.absentHabitShare}.`,
        },
  ];
};

/** BudgetBurnFast mutes BudgetBurnSlow. */
const wrongBurn = ({ burnFastRatio, burnSlowRatio }: RuleSettings, given: ReadonlySet<string>): RuleIssue[] => {
  if (burnSlowRatio < burnFastRatio) return [];
  const why = 'every slow burn would also be a fast one, which mutes BudgetBurnSlow, so that it never fires';
  return [
    given.has('burnSlowRatio')
      ? {
          path: 'settings.burnSlowRatio',
          message: `is ${burnSlowRatio}, not less than settings.burnFastRatio (${burnFastRatio}): ${why}. Write a lower value.`,
        }
      : {
          path: 'settings.burnFastRatio',
          message: `is ${burnFastRatio}, not more than settings.burnSlowRatio (${burnSlowRatio}): ${why}. Write a higher value, or lower burnSlowRatio.`,
        },
  ];
};

/** Reports the fault at the setting that the caller gave. */
const wrongPair = (settings: RuleSettings, { long, short, twice, why }: Pair, given: ReadonlySet<string>): RuleIssue =>
  given.has(short) && !given.has(long)
    ? {
        path: `settings.${short}`,
        message: `is ${settings[short]}, not shorter than ${twice ? 'half of ' : ''}settings.${long} (${settings[long]}): ${why}. Shorten ${short}, or lengthen ${long} as well.`,
      }
    : {
        path: `settings.${long}`,
        message: `is ${settings[long]}, not longer than ${twice ? 'twice ' : ''}settings.${short} (${settings[short]}): ${why}. Lengthen ${long}, or shorten ${short}.`,
      };

const wrongBound = (settings: RuleSettings, { key, least, most, why }: Bound): RuleIssue[] => {
  const found = seconds(settings[key]);
  const issue = (than: string, fix: string): RuleIssue[] => [
    { path: `settings.${key}`, message: `is ${settings[key]}, ${than}: ${why}. ${fix}.` },
  ];
  if (least !== undefined && found < seconds(least)) return issue(`shorter than ${least}`, `Write ${least} or more`);
  if (most !== undefined && found > seconds(most)) return issue(`longer than ${most}`, `Write ${most} or less`);
  return [];
};

/**
 * All violated conditions, each reported at a setting that the caller gave.
 *
 * @param settings all settings, each checked by itself
 * @param given names of the settings that the caller gave
 */
export const wrongOrders = (settings: RuleSettings, given: ReadonlySet<string>): readonly RuleIssue[] => [
  ...PAIRS.filter(
    ({ long, short, twice }) => seconds(settings[long]) <= seconds(settings[short]) * (twice ? 2 : 1),
  ).map((pair) => wrongPair(settings, pair, given)),
  ...BOUNDS.flatMap((bound) => wrongBound(settings, bound)),
  ...wrongAbsence(settings, given),
  ...wrongHabit(settings, given),
  ...wrongBurn(settings, given),
];
