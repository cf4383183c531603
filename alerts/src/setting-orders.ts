import type { RuleIssue } from './check-settings.ts';
import { durationOf, seconds } from './duration.ts';
import { DEFAULT_SETTINGS, type RuleSettings, WINDOW } from './settings.ts';

/*
 * What only works in one order: settings among each other, and settings with the windows that no setting changes. The other way
 * round Prometheus takes the rules as well, and an alert is off, or never silent, and nobody is told.
 */

type Key = keyof RuleSettings;
/** Durations. */
type DurationKey = { [K in Key]: RuleSettings[K] extends string ? K : never }[Key];

interface Pair {
  readonly long: DurationKey;
  readonly short: DurationKey;
  /** Twice as long even. */
  readonly twice?: true;
  readonly why: string;
}

/** The first must be longer than the second. */
const PAIRS: readonly Pair[] = [
  { long: 'openFor', short: 'gap', why: 'a single hole would be taken for an opening' },
  {
    long: 'correlatedKeep',
    short: 'openKeep',
    why: 'what is muted would come out when that ends, and only because it is kept for longer',
  },
  {
    long: 'systemicKeep',
    short: 'openKeep',
    why: 'what is muted would come out when that ends, and only because it is kept for longer',
  },
  { long: 'absentFor', short: 'gap', why: 'a missed scrape would be taken for an agent that has gone' },
  {
    long: 'starvedFor',
    short: 'gap',
    twice: true,
    why: 'skips are counted in its latter half, and where a scrape is missed, none would be seen in less',
  },
  {
    long: 'exhaustedWithin',
    short: 'gap',
    why: 'where a scrape is missed, nothing would be known to have grown in that time',
  },
  {
    long: 'systemicWithin',
    short: 'gap',
    why: 'where a scrape is missed, nothing would be known to have grown in that time',
  },
  { long: 'correlatedRecent', short: 'gap', why: 'an opening would be too old by the time a late scrape brings it' },
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
  {
    long: 'slowLeastHistory',
    short: 'slowFor',
    why: 'a tool with no more history than that would have slowness for its usual before the alert fires',
  },
];

interface Bound {
  readonly key: DurationKey;
  readonly least?: string;
  readonly most?: string;
  readonly why: string;
}

/** Against what no setting changes. */
const BOUNDS: readonly Bound[] = [
  {
    key: 'gap',
    most: WINDOW.short,
    why: 'with scrapes that far apart the windows of 5 minutes hold one sample, in which nothing is seen to grow: alerts on errors, openings and budgets would be off',
  },
  {
    key: 'afterOpen',
    least: WINDOW.quarter,
    why: 'the windows of 15 minutes would still hold the outage, and warn when it is over',
  },
  {
    key: 'slowLeastHistory',
    most: WINDOW.week,
    why: 'what is usual is read from one week, and of a longer history nothing is asked',
  },
  {
    key: 'slowFor',
    most: '3d',
    why: 'after half a week of slowness that is the usual time of the week, and the alert would never fire',
  },
];

/** How long TelemetryAbsent is to be there at least, so that somebody sees it. */
const ABSENT_SEEN = 15 * 60;

/** The hour that is looked back at empties while the agent is gone: from then on, it was never there. */
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
      message: `is ${values[key]}, and with settings.${other} (${values[other]}) more than ${durationOf(hour - ABSENT_SEEN)}: both lie in the hour that is looked back at, and the alert would never fire, or be gone before somebody sees it. Shorten one of them.`,
    },
  ];
};

/** An agent that has gone loses its habit by the hour; the alert must be over before that. */
const wrongHabit = ({ absentHabit, absentHabitShare }: RuleSettings, given: ReadonlySet<string>): RuleIssue[] => {
  if (seconds(absentHabit) * (1 - absentHabitShare) >= seconds(WINDOW.hour)) return [];
  const why = `An agent that has gone would at once count as one that comes and goes, and the alert be off`;
  return [
    given.has('absentHabit')
      ? {
          path: 'settings.absentHabit',
          message: `is ${absentHabit}, of which settings.absentHabitShare (${absentHabitShare}) leaves less than an hour to be away. ${why}. Lengthen absentHabit; the default is ${DEFAULT_SETTINGS.absentHabit}.`,
        }
      : {
          path: 'settings.absentHabitShare',
          message: `is ${absentHabitShare}, which of settings.absentHabit (${absentHabit}) leaves less than an hour to be away. ${why}. Write less; the default is ${DEFAULT_SETTINGS.absentHabitShare}.`,
        },
  ];
};

/** A fast burn mutes a slow one. */
const wrongBurn = ({ burnFastRatio, burnSlowRatio }: RuleSettings, given: ReadonlySet<string>): RuleIssue[] => {
  if (burnSlowRatio < burnFastRatio) return [];
  const why = 'what burns slowly would always burn fast as well, and BudgetBurnSlow, which that mutes, be off';
  return [
    given.has('burnSlowRatio')
      ? {
          path: 'settings.burnSlowRatio',
          message: `is ${burnSlowRatio}, not less than settings.burnFastRatio (${burnFastRatio}): ${why}. Write less.`,
        }
      : {
          path: 'settings.burnFastRatio',
          message: `is ${burnFastRatio}, not more than settings.burnSlowRatio (${burnSlowRatio}): ${why}. Write more, or less for burnSlowRatio.`,
        },
  ];
};

/** Told of the setting that was given, for whoever gave it. */
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
  const issue = (than: string, mend: string): RuleIssue[] => [
    { path: `settings.${key}`, message: `is ${settings[key]}, ${than}: ${why}. ${mend}.` },
  ];
  if (least !== undefined && found < seconds(least)) return issue(`shorter than ${least}`, `Write ${least} or more`);
  if (most !== undefined && found > seconds(most)) return issue(`longer than ${most}`, `Write ${most} or less`);
  return [];
};

/**
 * What is in the wrong order, each told of a setting that was given.
 *
 * @param settings all of them, each checked by itself
 * @param given names of those that aren't left at their defaults
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
