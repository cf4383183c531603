import { durationOf, seconds } from './duration.ts';
import {
  AGENT,
  ATTR,
  aggregated,
  BY_AGENT,
  BY_TOOL,
  bracketed,
  gained,
  indented,
  joined,
  type Matchers,
  METRIC,
  NOT_CLOSED,
  TOOL,
} from './promql.ts';
import type { Ground, Recording } from './record.ts';
import { CORRELATION } from './recording-correlation.ts';
import { WINDOW } from './settings.ts';

const { short, quarter, half, hour, long, week } = WINDOW;

/** A gauge by its last sample, where that is no older than a hole may be; and gone at once where a scrape finds it gone. */
const fresh = ({ settings }: Ground, gauge: string): string =>
  `${gauge}\nand last_over_time(${gauge}[${settings.gap}])`;

/** 1 for a tool whose keys are nearly all out of use. */
const keysOutOfUse = ({ series, settings }: Ground): string => {
  const decisions = (matchers?: Matchers): string =>
    aggregated('sum', BY_TOOL, `increase(${series(METRIC.decisions, matchers)}[${short}])`);
  const skipped = decisions({ [ATTR.decision]: ['skip'], [ATTR.reason]: ['key_open'] });
  const enough = `(round(${decisions()}) >= ${settings.keyOpenLeastDecisions})`;
  return `ceil(\n${indented(`${skipped}\n/ ${enough}\n>= ${settings.keyOpenShare}`)}\n)`;
};

const CIRCUITS: readonly Recording[] = [
  {
    key: 'circuits',
    comment:
      'How many circuits of a tool there are, whatever their state. 0 is reported for a tool that no live session has. Of a process that pushed and was replaced nothing says that it has gone: what has had no sample for longer than a hole may be isn’t counted.',
    expr: (ground) => aggregated('sum', BY_TOOL, fresh(ground, ground.series(METRIC.circuits))),
  },
  {
    key: 'notClosed',
    comment:
      'How many circuits of a tool are kept from normal use: open, probing, or forced open by hand. half_open counts, because a circuit whose probe fails every minute is as broken as one that stays open.',
    expr: (ground) =>
      aggregated('sum', BY_TOOL, fresh(ground, ground.series(METRIC.circuits, { [ATTR.state]: NOT_CLOSED }))),
  },
  {
    key: 'outOfUse',
    comment:
      'The same, looked at across holes, and 0 where it is chance. The median is above 0 where a circuit was out of use in half of the samples or more. That bridges a missed scrape, and the moment between two short sessions, in each of which the circuit starts closed. And among hundreds of sessions a tool that fails now and then always has some circuit open: it is out of use from the given share of its circuits on. What is bridged also makes it half as late, at the beginning and at the end alike. Of an agent that has gone nothing is left a little later than that, or its last samples would be the median for as long as they are in the window. Circuits of keys have no series. So a tool counts as one circuit that is out of use, too, while nearly all of its decisions skip a call for its key.',
    expr: (ground) => {
      const { read, settings } = ground;
      const { gap, openShare } = settings;
      const median = `quantile_over_time(0.5, ${read.over('notClosed', gap)})`;
      const many = `${median}\n>= bool ${openShare} * avg_over_time(${read.over('circuits', gap)})`;
      const stillThere = `last_over_time(${read.over('notClosed', durationOf(seconds(gap) * 0.6))})`;
      return joined('or', keysOutOfUse(ground), `ceil(${median})\n* ${bracketed(many)}\nand ${stillThere}`);
    },
  },
  {
    key: 'outOfUseAllAlong',
    comment:
      'Above 0 where the tool has been out of use for as long as BreakerboxCircuitOpen wants it: by this, other alerts know that it fires, in Grafana-managed rules too, where there is no ALERTS to ask.',
    expr: ({ read, settings }) => `min_over_time(${read.over('outOfUse', settings.openFor)})`,
  },
];

/** From closed alone: a failed probe opens a circuit again that was never in use in between. */
const openings = ({ series }: Ground, window: string): string =>
  gained(
    series,
    series(METRIC.transitions, { [ATTR.stateFrom]: ['closed'], [ATTR.stateTo]: ['open'] }),
    BY_TOOL,
    window,
  );

const OPENINGS: readonly Recording[] = [
  {
    key: 'openings5m',
    comment:
      'How often circuits of a tool went from closed to open. A failed probe is no opening. What is born is for a process whose first scrape already has an opening: increase() sees nothing of a first sample. It counts where other processes of the agent were seen before the window, and this one not in the hours before it; so a hole in the scrapes brings nothing up again.',
    expr: (ground) => openings(ground, short),
  },
  { key: 'openings15m', comment: 'The same over 15 minutes.', expr: (ground) => openings(ground, quarter) },
  {
    key: 'openingsPerCircuit',
    comment:
      'Openings per circuit, so that one outage of 500 parallel sessions is one opening, and a tool that is dead in one short session after the other is many. The most circuits that there were at a time, for sessions end.',
    expr: ({ read }) => `${read.now('openings15m')}\n/ (max_over_time(${read.over('circuits', quarter)}) > 0)`,
  },
];

const outcomes = ({ series }: Ground, which: readonly ('success' | 'failure')[], window: string): string =>
  aggregated('sum', BY_TOOL, `increase(${series(METRIC.outcomes, { [ATTR.outcome]: which })}[${window}])`);

const ERRORS: readonly Recording[] = [
  { key: 'failures5m', comment: 'Failed calls.', expr: (ground) => outcomes(ground, ['failure'], short) },
  { key: 'failures1h', comment: '', expr: (ground) => outcomes(ground, ['failure'], hour) },
  {
    key: 'executions5m',
    comment: 'Calls that were made and say something of the tool: ignored outcomes are the caller’s own doing.',
    expr: (ground) => outcomes(ground, ['success', 'failure'], short),
  },
  { key: 'executions1h', comment: '', expr: (ground) => outcomes(ground, ['success', 'failure'], hour) },
  {
    key: 'errorRatio5m',
    comment: 'Failures over executed calls, 0 to 1. Nothing where nothing was called.',
    expr: ({ read }) => `${read.now('failures5m')}\n/ (${read.now('executions5m')} > 0)`,
  },
  {
    key: 'errorRatio1h',
    comment: '',
    expr: ({ read }) => `${read.now('failures1h')}\n/ (${read.now('executions1h')} > 0)`,
  },
];

const p95 = ({ series }: Ground, window: string): string =>
  `histogram_quantile(\n  0.95,\n  sum by (job, ${AGENT}, ${TOOL}, le) (rate(${series(METRIC.duration, {}, '', '_bucket')}[${window}]))\n) >= 0`;

const DURATIONS: readonly Recording[] = [
  {
    key: 'p95Short',
    comment:
      'The time that 95 % of the executed calls stayed below, in seconds; `>= 0` drops the NaN of no call at all.',
    expr: (ground) => p95(ground, short),
  },
  { key: 'p95', comment: 'The same over 15 minutes.', expr: (ground) => p95(ground, quarter) },
  {
    key: 'p95Sampled',
    comment:
      'What is usual needs a week, and a week of samples every few seconds is too much to read at each evaluation: one minute of each quarter of an hour is kept for it.',
    expr: ({ read }) => `${read.now('p95')}\nand on () (minute() % 15 == 0)`,
  },
  {
    key: 'p95Usual',
    comment:
      'The median of the week: an outage, or a slow day, hardly moves it. Nothing before there is enough history, for the first hour of a tool would be its own measure.',
    expr: ({ read, settings: { slowLeastHistory } }) =>
      joined(
        'and',
        `quantile_over_time(0.5, ${read.over('p95Sampled', week)})`,
        `last_over_time(${read.over('p95Sampled', week)} offset ${slowLeastHistory})`,
      ),
  },
];

type Window = '5m' | '30m' | '1h' | '6h';

const sessionsThat = (key: 'low' | 'started', window: Window, comment = ''): Recording => ({
  key: `${key}${window}`,
  comment,
  expr: ({ series }) =>
    gained(series, series(key === 'low' ? METRIC.budgetLow : METRIC.sessionsStarted), BY_AGENT, window),
});

/** Two figures of an agent, put together: a label keeps them apart, so that each is asked for once. */
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

const BUDGET: readonly Recording[] = [
  {
    key: 'sessions',
    comment:
      'Live sessions of an agent, whatever their state. 0 is reported: no series means that the agent is not there.',
    expr: ({ series }) => aggregated('sum', BY_AGENT, series(METRIC.sessions)),
  },
  sessionsThat(
    'low',
    short,
    'Sessions that fell to one failure left in their budget, or none. A session counts again once its budget was full in between. As above, with what a new process is first seen with.',
  ),
  sessionsThat('low', half),
  sessionsThat('low', hour),
  sessionsThat('low', long),
  sessionsThat('started', short, 'Sessions that were started.'),
  sessionsThat('started', half),
  sessionsThat('started', hour),
  sessionsThat('started', long),
  lived(
    hour,
    'Sessions that were live at some time in the window: those that were live when it began, and those that were started in it. At least as many as were live at one time: an agent that has just been found was not there when the window began.',
  ),
  lived(long),
  burn(
    short,
    hour,
    'The share of the sessions that fell low. A short window says whether sessions still fall, and at what pace. Most sessions that were live in it fall at another time, so it is measured by the sessions that were started in it, or by the long window’s pace, whichever is more. Nothing where there were no sessions. At most 1, because a session may fall low, recover, and fall again.',
  ),
  burn(half, long),
  burnOfBase(hour),
  burnOfBase(long),
  {
    key: 'burnFast',
    comment:
      'What the alerts on burn ask for, as 1 or 0: each must know of the other, in Grafana-managed rules too. Two windows: the long one says that it matters, the short one that it still goes on. And a least number of sessions, because one of one is 100 % too.',
    expr: ({ read, settings }) =>
      [
        `(round(${read.now('burn1h')}, 0.01) > bool ${settings.burnFastRatio})`,
        `* (${read.now('burn5m')} > bool ${settings.burnFastRatio})`,
        `* (round(${read.now('low1h')}) >= bool ${settings.burnFastLeastSessions})`,
      ].join('\n'),
  },
  {
    key: 'burnSlow',
    comment:
      'Half of the sessions must have fallen before the last hour: an agent that has just been started has only one short outage in its 6 hours.',
    expr: ({ read, settings }) =>
      [
        `(round(${read.now('burn6h')}, 0.01) > bool ${settings.burnSlowRatio})`,
        `* (${read.now('burn30m')} > bool ${settings.burnSlowRatio})`,
        `* (round(${read.now('low6h')}) >= bool ${settings.burnSlowLeastSessions})`,
        `* (round(${read.now('low6h')} - ${read.now('low1h')}) >= bool ${settings.burnSlowLeastSessions / 2})`,
      ].join('\n'),
  },
];

/** Every recording rule, in an order in which each only reads what comes before it. */
export const RECORDINGS: readonly Recording[] = [
  ...CIRCUITS,
  ...OPENINGS,
  ...ERRORS,
  ...DURATIONS,
  ...BUDGET,
  ...CORRELATION,
];
