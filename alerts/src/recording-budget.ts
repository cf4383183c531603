import { durationOf, seconds } from './duration.ts';
import { gained, isOrWas } from './gained.ts';
import { ATTR, aggregated, BY_AGENT, bracketed, indented, joined, METRIC } from './promql.ts';
import type { Ground, Reader, Recording } from './record.ts';
import { asSeconds } from './recording-correlation.ts';
import { WINDOW } from './settings.ts';

const { short, half, hour, long } = WINDOW;

type Window = '5m' | '30m' | '1h' | '6h';

const fellLow = (ground: Ground, window: Window): string =>
  gained(ground, ground.series(METRIC.budgetLow), BY_AGENT, window);

const sessionsThat = (key: 'low' | 'started', window: Window, comment = ''): Recording => ({
  key: `${key}${window}`,
  comment,
  expr: (ground) =>
    key === 'low' ? fellLow(ground, window) : gained(ground, ground.series(METRIC.sessionsStarted), BY_AGENT, window),
  ...(window === short ? {} : { every: window === long ? '4m' : '1m' }),
});

/** Combines two figures of an agent. A label keeps them apart, so that each is queried once. */
const both = (operator: 'sum' | 'max', one: string, other: string): string =>
  aggregated(operator, BY_AGENT, joined('or', `label_replace(\n${indented(`${one},\n"of", "one", "", ""`)}\n)`, other));

/** Sessions that were live at some time in the window. */
const lived = (window: '1h' | '6h', comment = ''): Recording => ({
  key: `lived${window}`,
  comment,
  expr: ({ read, settings: { gap } }) => {
    const before = `last_over_time(${read.over('sessions', gap)} offset ${window})`;
    const most = `max_over_time(${read.over('sessions', window)})`;
    return both('max', both('sum', read.now(`started${window}`), before), most);
  },
  every: window === long ? '4m' : '1m',
});

const burn = (window: '5m' | '30m', base: '1h' | '6h', comment = ''): Recording => ({
  key: `burn${window}`,
  comment,
  expr: ({ read }) => {
    const of = both('max', read.now(`started${window}`), `${read.now(`lived${base}`)} / 12`);
    return `clamp_max(\n${indented(`${read.now(`low${window}`)}\n/ ${bracketed(`${of} > 0`)},\n1`)}\n)`;
  },
});

const burnOfBase = (window: '1h' | '6h'): Recording => ({
  key: `burn${window}`,
  comment: '',
  expr: ({ read }) => `clamp_max(${read.now(`low${window}`)} / (${read.now(`lived${window}`)} > 0), 1)`,
});

/** The long window, without recorded series: the share and the least number in one comparison, with the same rounding. */
const enoughFell = (read: Reader, low: 'low1h' | 'low6h', lived: 'lived1h' | 'lived6h', ratio: number, least: number) =>
  `${read.now(low)} >= clamp_min(${ratio + 0.005} * ${read.now(lived)}, ${least - 0.5})`;

/** The short window, in the same way. */
const fallsOn = ({ now }: Reader, window: '5m' | '30m', base: '1h' | '6h', ratio: number): string =>
  `${now(`low${window}`)} > ${ratio} * ${both('max', now(`started${window}`), `${now(`lived${base}`)} / 12`)}`;

/** What BreakerboxBudgetExhausted fires for, before it is kept. */
export const exhausted = (ground: Ground): string => {
  const paused = ground.series(METRIC.sessions, { [ATTR.sessionState]: ['paused_budget'] });
  return isOrWas(ground, paused, ground.series(METRIC.budgetExhaustions), ground.settings.exhaustedWithin);
};

/**
 * 1 while a burn is to be reported, 0 while a worse alert reports it and for a while after, and no value otherwise. So the last value of a
 * range says which of the two came last. After the worse alert, only a burn that lasts longer than that alert and its own window counts.
 */
const alone = (burns: string, ...worse: readonly string[]): string =>
  joined('or', ...worse.map((one) => `${bracketed(one)} * 0`), `${bracketed(burns)} ^ 0`);

const longer = (one: string, other: string): string => durationOf(Math.max(seconds(one), seconds(other)));

/** Sessions, their budgets, and how fast they use them up. */
export const BUDGET: readonly Recording[] = [
  {
    key: 'sessions',
    comment:
      'Live sessions of an agent, in any state. An agent without sessions reports 0, so a missing series means that the agent is gone.',
    expr: ({ series }) => aggregated('sum', BY_AGENT, series(METRIC.sessions)),
  },
  {
    key: 'comesAndGoes',
    comment:
      'Agents that come and go, such as a nightly job: since they were first seen, they were absent for most of the time. The value is how often they were there. The first hours do not count, because they are too short to show a habit. At least an hour, because BreakerboxTelemetryAbsent remembers a vanished agent for that long.',
    expr: ({ read, settings: { absentHabit, absentHabitShare } }) => {
      const habit = seconds(absentHabit);
      const grace = Math.max(habit / 4, seconds(hour));
      // Not timestamp(), which reads all samples again for each step.
      const firstSeen = `min_over_time(\n  (${read.now('sessions')} * 0 + time())[${durationOf(2 * habit)}:10m]\n)`;
      const known = `clamp_max((time() - ${asSeconds(durationOf(grace))} - ${firstSeen}) / (10 * 60), ${habit / 600})`;
      return `count_over_time(${read.now('sessions')}[${absentHabit}:10m])\n< ${absentHabitShare} * ${known}`;
    },
    every: '15m',
  },
  sessionsThat(
    'low',
    short,
    'Sessions that fell to at most one failure left in their budget. A session counts again once its budget was full in between. The first value of a new process counts, as above.',
  ),
  sessionsThat('low', half),
  sessionsThat('low', hour),
  sessionsThat('low', long),
  {
    key: 'lowBefore',
    comment:
      'How many of them fell before the last hour. Recorded at the same moment as the 6 hours: with the count of the last hour that is recorded more often, sessions that only one of the two counts contains would seem to have fallen earlier.',
    expr: (ground) => `${ground.read.now('low6h')}\n- ${fellLow(ground, hour)}`,
    every: '4m',
  },
  sessionsThat('started', short, 'Sessions that were started.'),
  sessionsThat('started', half),
  sessionsThat('started', hour),
  sessionsThat('started', long),
  lived(
    hour,
    'Sessions that were live at some time in the window: those that were live when it began plus those that started in it. At least as many as were live at one time, because a new agent has no value for the beginning of the window.',
  ),
  lived(long),
  burn(
    short,
    hour,
    'The share of the sessions that fell low. A short window says whether sessions still fall, and how fast. Most sessions that are live in it fall at another time. So the short window divides by the sessions that started in it, or by the pace of the long window, whichever is more. No value without sessions. At most 1, because a session may fall low, recover, and fall again.',
  ),
  burn(half, long),
  burnOfBase(hour),
  burnOfBase(long),
  {
    key: 'burnFast',
    comment:
      'The condition of a burn alert as 1 or 0, because each of the two alerts reads the other, also in Grafana-managed rules. The long window says that the burn matters, the short one that it continues. A least number of sessions is required, because one of one is 100 % too.',
    expr: ({ read, settings, recorded }) => {
      const { burnFastRatio, burnFastLeastSessions } = settings;
      if (!recorded) {
        const long = enoughFell(read, 'low1h', 'lived1h', burnFastRatio, burnFastLeastSessions);
        return `${long}\nand ${fallsOn(read, '5m', '1h', burnFastRatio)}`;
      }
      return [
        `(round(${read.now('burn1h')}, 0.01) > bool ${settings.burnFastRatio})`,
        `* (${read.now('burn5m')} > bool ${settings.burnFastRatio})`,
        `* (round(${read.now('low1h')}) >= bool ${settings.burnFastLeastSessions})`,
      ].join('\n');
    },
  },
  {
    key: 'burnSlow',
    comment:
      'Half of the sessions must have fallen before the last hour: the 6 hours of a new agent may contain only one short outage.',
    expr: ({ read, settings, recorded }) => {
      const { burnSlowRatio, burnSlowLeastSessions } = settings;
      if (!recorded) {
        const long = enoughFell(read, 'low6h', 'lived6h', burnSlowRatio, burnSlowLeastSessions);
        const before = `(${long}) - ${read.now('low1h')} >= ${burnSlowLeastSessions / 2}`;
        return `${before}\nand ${fallsOn(read, '30m', '6h', burnSlowRatio)}`;
      }
      return [
        `(round(${read.now('burn6h')}, 0.01) > bool ${settings.burnSlowRatio})`,
        `* (${read.now('burn30m')} > bool ${settings.burnSlowRatio})`,
        `* (round(${read.now('low6h')}) >= bool ${settings.burnSlowLeastSessions})`,
        `* (round(${read.now('lowBefore')}) >= bool ${settings.burnSlowLeastSessions / 2})`,
      ].join('\n');
    },
  },
  {
    key: 'exhausted',
    comment:
      'The condition of BreakerboxBudgetExhausted, which mutes the burn of the same agent and is kept. The burn alerts read it, because the windows of a burn are longer than that.',
    expr: exhausted,
  },
  {
    key: 'burnFastAlone',
    comment:
      '1 while a fast burn is to be reported, 0 while BreakerboxBudgetExhausted reports it. Otherwise no value, so that the last one in a range says which of the two came last.',
    expr: ({ read, settings: { exhaustedKeep } }) =>
      alone(`${read.now('burnFast')} > 0`, `max_over_time(${read.over('exhausted', longer(short, exhaustedKeep))})`),
  },
  {
    key: 'burnSlowAlone',
    comment: 'The same for a slow burn, which a fast burn covers too.',
    expr: ({ read, settings: { exhaustedKeep, burnFastKeep } }) =>
      alone(
        `${read.now('burnSlow')} > 0`,
        `max_over_time(${read.over('exhausted', longer(half, exhaustedKeep))})`,
        `max_over_time(${read.over('burnFast', longer(half, burnFastKeep))}) > 0`,
      ),
  },
];
