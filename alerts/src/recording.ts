import { DURATION_BUCKETS } from '@breakerbox/core';
import { durationOf, seconds } from './duration.ts';
import { active, BY_PROCESS, gained, processes } from './gained.ts';
import {
  AGENT,
  ATTR,
  aggregated,
  BY_AGENT,
  BY_TOOL,
  bracketed,
  indented,
  joined,
  label,
  type Matchers,
  METRIC,
  matching,
  NOT_CLOSED,
  TOOL,
} from './promql.ts';
import type { Ground, Recording } from './record.ts';
import { BUDGET } from './recording-budget.ts';
import { CORRELATION } from './recording-correlation.ts';
import { OVERVIEW } from './recording-overview.ts';
import { SPEND } from './recording-spend.ts';
import { WINDOW } from './settings.ts';

const { short, quarter, hour, week } = WINDOW;

/**
 * Only series whose process has reported within the gap. The gauge itself is read by its last sample, so it ends at once when a scrape no
 * longer finds it. The process is looked up, not each of its hundreds of series.
 */
const whileFresh = ({ series, settings }: Ground): string =>
  `and on (${BY_PROCESS}) last_over_time(${active(series)}[${settings.gap}])`;

const forKey: Matchers = { [ATTR.decision]: ['skip'], [ATTR.reason]: ['key_open'] };

/** Skips for a key have a series from the first one on, so it counts from 0. */
const nearlyAllSkipped = (ground: Ground): string => {
  const { series, read, settings } = ground;
  const skipped = gained(ground, series(METRIC.decisions, forKey), BY_TOOL, short);
  if (!ground.recorded) {
    const all = aggregated('sum', BY_TOOL, `increase(${series(METRIC.decisions)}[${short}])`);
    return `(${skipped}\n/ (round(${all}) >= ${settings.keyOpenLeastDecisions})\n>= ${settings.keyOpenShare}) ^ 0`;
  }
  // The label keeps both, so that the series of all tools are read once.
  const forKeys = `label_replace(0 - increase(${series(METRIC.decisions, forKey)}[${short}]), "of", "keys", "", "")`;
  // Few tools skip calls for a key, so only their decisions are summed up.
  const ofThese = `${read.now('decisions5m')} and on (${BY_TOOL}) last_over_time(${series(METRIC.decisions, forKey)}[${short}])`;
  const ran = `clamp_min(\n${indented(aggregated('sum', BY_TOOL, joined('or', ofThese, forKeys)))},\n  0\n)`;
  const enough = bracketed(`round(${skipped} + ${ran}) >= ${settings.keyOpenLeastDecisions}`);
  return `ceil(\n${indented(`${skipped}\n/ ${enough}\n>= ${settings.keyOpenShare}`)}\n)`;
};

/** The same without the skips during waits that services asked for. */
const keysOutOfUse = (ground: Ground): string => {
  const { series, read, settings, recorded } = ground;
  const asked = aggregated('sum', BY_TOOL, `increase(${series(METRIC.skipsWaiting)}[${short}])`);
  const skips = recorded
    ? `${read.now('decisions5m')}${matching(forKey)}`
    : `increase(${series(METRIC.decisions, forKey)}[${short}])`;
  const most = `${asked} > (1 - ${settings.keyOpenShare}) * ${aggregated('sum', BY_TOOL, skips)}`;
  return `${nearlyAllSkipped(ground)}\nunless on (${BY_TOOL}) ${bracketed(most)}`;
};

/** Circuits that are not closed, less those that wait as their service asked. */
const withoutWaiting = (ground: Ground, notClosed: string): string => {
  const waiting = `0 - (${ground.series(METRIC.circuitsWaiting)} > 0)`;
  // Recorded series are fresh.
  const all = ground.recorded
    ? joined('or', notClosed, `${waiting}\n${whileFresh(ground)}`)
    : `${bracketed(joined('or', notClosed, waiting))}\n${whileFresh(ground)}`;
  return `clamp_min(\n${indented(`${aggregated('sum', BY_TOOL, all)},\n0`)}\n)`;
};

const CIRCUITS: readonly Recording[] = [
  {
    key: 'processes',
    comment:
      'Processes of an agent that were seen in the last hours. A series that is new, although its process is not, comes back after a gap in the scrapes: its total must not count as new.',
    expr: (ground) => processes(ground),
    every: '4m',
  },
  {
    key: 'decisions5m',
    comment: 'Decisions by reason. No value for what did not occur.',
    expr: ({ series }) =>
      aggregated(
        'sum',
        `${BY_TOOL}, ${label(ATTR.decision)}, ${label(ATTR.reason)}`,
        `increase(${series(METRIC.decisions)}[${short}]) > 0`,
      ),
    every: '2m',
  },
  {
    key: 'notClosedByState',
    comment:
      'Circuits of a tool that are not closed, by state. No value for a state without circuits, so these are few series. If a process pushes its metrics and is replaced, nothing reports its end. So series without a sample for longer than the permitted gap do not count.',
    expr: (ground) => {
      const notClosed = ground.series(METRIC.circuits, {}, `${label(ATTR.state)}!="closed"`);
      return `${aggregated('sum', `${BY_TOOL}, ${label(ATTR.state)}`, `${bracketed(`${notClosed} > 0`)}\n${whileFresh(ground)}`)} > 0`;
    },
  },
  {
    key: 'circuits',
    comment: 'Circuits of a tool in any state. 0 means that no live session has the tool.',
    expr: (ground) => {
      const { series, read, recorded } = ground;
      // A process that is gone without a word counts for some minutes more.
      if (!recorded) return aggregated('sum', BY_TOOL, series(METRIC.circuits));
      const closed = `${series(METRIC.circuits, { [ATTR.state]: ['closed'] })}\n${whileFresh(ground)}`;
      return aggregated('sum', BY_TOOL, joined('or', closed, read.now('notClosedByState')));
    },
  },
  {
    key: 'notClosed',
    comment:
      'Circuits of a tool that are out of use: open or probing. half_open counts, because a circuit whose probe fails every minute is as broken as one that stays open. forced_open does not count, because an operator wants it. Neither does a circuit whose service asked to wait (Retry-After), until that time, unless a probe has failed since it opened.',
    expr: (ground) => {
      const { series, read, recorded } = ground;
      const notClosed = { [ATTR.state]: NOT_CLOSED } satisfies Matchers;
      if (!recorded) return withoutWaiting(ground, series(METRIC.circuits, notClosed));
      return joined(
        'or',
        withoutWaiting(ground, `${read.now('notClosedByState')}${matching(notClosed)}`),
        `${read.now('circuits')} * 0`,
      );
    },
  },
  {
    key: 'keysOutOfUse',
    comment:
      '1 for a tool of which nearly all decisions skip a call for its key, such as a host. Circuits of keys have no series. So the tool counts as one circuit out of use. Skips while the service of a key asked to wait (Retry-After) do not count.',
    expr: keysOutOfUse,
    every: '1m',
  },
  {
    key: 'outOfUse',
    comment:
      'The same across gaps, and 0 or no value if it may be chance or if none are: these are few series. The median is above 0 if a circuit was out of use in at least half of the samples. That bridges a missed scrape and the moment between two short sessions, because each session starts with a closed circuit. Among hundreds of sessions, a tool that fails now and then always has an open circuit somewhere, so it counts only from the given share of its circuits on. The median delays the start and the end by half of the gap. The series of a vanished agent ends shortly after that, because otherwise its last samples would remain the median while they are in the window. A tool of which nearly all keys are out of use counts too.',
    expr: (ground) => {
      const { read, series, settings, recorded } = ground;
      const { gap, openFor, openShare } = settings;
      const median = `quantile_over_time(0.5, ${read.over('notClosed', gap)})`;
      const many = `${median}\n>= ${openShare} * avg_over_time(${read.over('circuits', gap)})`;
      const stillThere = `last_over_time(${active(series)}[${durationOf(seconds(gap) * 0.6)}])`;
      // Until the last time out of use has left the window of the rule below, which needs the zeros.
      const inUse = recorded
        ? `(max_over_time(${read.over('outOfUse', openFor)}) > 0) * 0`
        : `${read.now('circuits')} * 0`;
      return joined(
        'or',
        read.now('keysOutOfUse'),
        `ceil(\n${indented(many)}\n)\nand on (${BY_AGENT}) ${stillThere}`,
        inUse,
      );
    },
  },
  {
    key: 'unavailableSince',
    comment:
      'Since when the tool has been out of use: the earliest time that its processes have shown while it was. The rule reads its own last value, so a process that restarts, or a session that replaces another, does not begin a new outage. No value for a tool that is not out of use.',
    expr: ({ series, read, recorded, settings: { gap } }) => {
      const now = `${series(METRIC.unavailableTime)} > 0`;
      // An expression that is not recorded has no last value.
      if (!recorded) return `min by (${BY_TOOL}) (${now})\nand on (${BY_TOOL}) (${read.now('outOfUse')} > 0)`;
      const before = `label_replace(\n${indented(`last_over_time(${read.over('unavailableSince', gap)}),\n"before", "yes", "", ""`)}\n)`;
      return `min by (${BY_TOOL}) (\n${indented(joined('or', now, before))}\n)\nand on (${BY_TOOL}) (${read.now('outOfUse')} > 0)`;
    },
  },
  {
    key: 'outOfUseAllAlong',
    comment:
      'Exists only if the tool has been out of use for as long as BreakerboxCircuitOpen requires. Other alerts read this to know that it fires, also in Grafana-managed rules, which have no ALERTS series.',
    expr: ({ read, recorded, settings: { openFor, gap } }) => {
      const outOfUse = `min_over_time(${read.over('outOfUse', openFor)}) > 0`;
      // A tool that was in use before has no value.
      return recorded
        ? `${outOfUse}\nand last_over_time(${read.over('outOfUse', gap)} offset ${openFor}) > 0`
        : outOfUse;
    },
  },
];

/** Only openings from closed: after a failed probe, the circuit opens again without having been in use. */
const openings = (ground: Ground, window: string): string =>
  gained(
    ground,
    ground.series(METRIC.transitions, { [ATTR.stateFrom]: ['closed'], [ATTR.stateTo]: ['open'] }),
    BY_TOOL,
    window,
    'no zeros',
  );

const OPENINGS: readonly Recording[] = [
  {
    key: 'openings5m',
    comment:
      'How often circuits of a tool went from closed to open. A failed probe is not an opening. The part labelled born is for a process whose first scrape already has an opening, because increase() ignores a first sample. It counts if other processes of the agent were seen before the window and this one was not seen in the hours before. So old openings do not count again after a gap in the scrapes. No value without an opening.',
    expr: (ground) => openings(ground, short),
  },
  {
    key: 'openings15m',
    comment: 'The same over 15 minutes.',
    expr: (ground) => openings(ground, quarter),
    every: '1m',
  },
  {
    key: 'openingsPerCircuit',
    comment:
      'Openings per circuit, so that one outage of 500 parallel sessions is one opening, and a tool that fails in many short sessions in turn is many. Divided by the highest number of circuits at one time, because sessions end.',
    expr: ({ read }) => `${read.now('openings15m')}\n/ (max_over_time(${read.over('circuits', quarter)}) > 0)`,
    every: '1m',
  },
];

const executions = ({ series }: Ground, window: string): string =>
  aggregated(
    'sum',
    BY_TOOL,
    `increase(${series(METRIC.outcomes, { [ATTR.outcome]: ['success', 'failure'] })}[${window}])`,
  );

const failures = ({ series }: Ground, window: string): string =>
  aggregated('sum', BY_TOOL, `increase(${series(METRIC.outcomes, { [ATTR.outcome]: ['failure'] })}[${window}]) > 0`);

const ERRORS: readonly Recording[] = [
  {
    key: 'failures5m',
    comment: 'Failed calls. No value without one.',
    expr: (ground) => failures(ground, short),
    every: '2m',
  },
  {
    key: 'failures1h',
    comment: 'Failed calls over 1 hour, and below executed calls and their ratio.',
    expr: (ground) => failures(ground, hour),
    every: '4m',
  },
  {
    key: 'executions5m',
    comment: 'Executed calls whose outcome says something about the tool. Ignored outcomes are caused by the caller.',
    expr: (ground) => executions(ground, short),
    every: '2m',
  },
  {
    key: 'executions1h',
    comment: '',
    expr: (ground) => executions(ground, hour),
    every: '4m',
  },
  {
    key: 'errorRatio5m',
    comment: 'Failures over executed calls, 0 to 1. No value without failures.',
    expr: ({ read }) => `${read.now('failures5m')}\n/ (${read.now('executions5m')} > 0)`,
    every: '2m',
  },
  {
    key: 'errorRatio1h',
    comment: '',
    expr: ({ read }) => `${read.now('failures1h')}\n/ (${read.now('executions1h')} > 0)`,
    every: '4m',
  },
];

/** Classic buckets, or else a native histogram, into which Prometheus can convert them, and which OTLP sends for exponential ones. */
const p95 = ({ series }: Ground, window: string, which = ''): string => {
  const buckets = `sum by (job, ${AGENT}, ${TOOL}, le) (rate(${series(METRIC.duration, {}, which, '_bucket')}[${window}]))`;
  const native = `sum by (${BY_TOOL}) (rate(${series(METRIC.duration)}[${window}]))`;
  return bracketed(joined('or', `histogram_quantile(0.95, ${buckets})`, `histogram_quantile(0.95, ${native})`));
};

/** The p95 of tools that are above the highest bucket bound up to the floor. Reads no bucket below that bound, which is half of them. */
const p95AboveFloor = (ground: Ground, window: string): string => {
  const upToFloor = DURATION_BUCKETS.filter((bound) => bound <= ground.settings.slowFloor);
  const below = upToFloor.slice(0, -1).join('|');
  return `${p95(ground, window, below === '' ? '' : `le!~"${below}"`)} > ${upToFloor.at(-1) ?? 0}`;
};

const DURATIONS: readonly Recording[] = [
  {
    key: 'p95',
    comment:
      'The time in seconds that 95 % of the executed calls stayed below. `>= 0` drops the NaN that results without calls.',
    expr: (ground) => `${p95(ground, quarter)} >= 0`,
    every: '4m',
  },
  {
    key: 'p95Short',
    comment:
      'The same over 5 minutes, of tools that may be slow. The buckets below the least time that counts as slow are not read, and tools in them have no value.',
    expr: (ground) => p95AboveFloor(ground, short),
    every: '4m',
  },
  {
    key: 'calls15m',
    comment:
      'Executed calls. Not the count of the histogram, which a native one gives only by a function that VictoriaMetrics does not have.',
    expr: ({ series }) => aggregated('sum', BY_TOOL, `increase(${series(METRIC.outcomes)}[${quarter}])`),
    every: '4m',
  },
  {
    key: 'p95Sampled',
    comment:
      'The usual p95 needs a week. A week of samples every few seconds is too much to read, so this series has one sample for each quarter of an hour.',
    expr: ({ read }) => read.now('p95'),
    every: '15m',
  },
  {
    key: 'p95Usual',
    comment:
      'The median of the week, which an outage or a slow day hardly changes. No value before there is enough history, because the first hour of a tool would be compared with itself.',
    expr: ({ series, read, recorded, settings: { slowLeastHistory } }) => {
      // A tool with calls has a p95.
      const known = recorded
        ? read.over('p95Sampled', week)
        : `(${aggregated('sum', BY_TOOL, series(METRIC.outcomes))})[${week}:1h]`;
      return joined(
        'and',
        `quantile_over_time(0.5, ${read.over('p95Sampled', week)})`,
        `last_over_time(${known} offset ${slowLeastHistory})`,
      );
    },
    every: '15m',
  },
  {
    key: 'slow',
    comment:
      'The p95 over 15 minutes of tools that are much slower than usual, for BreakerboxToolSlow, which is evaluated more often than these series change.',
    expr: ({ read, settings, recorded }) => {
      const [p95, p95Short] = [read.now('p95'), read.now('p95Short')];
      const enough = `and round(${read.now('calls15m')}) >= ${settings.slowLeastCalls}`;
      // A week of samples is read once.
      if (!recorded)
        return `${p95}\n> clamp_min(${settings.slowFactor} * ${read.now('p95Usual')} < ${p95Short}, ${settings.slowFloor})\n${enough}`;
      // Recorded every 15 minutes.
      const usual = `last_over_time(${read.over('p95Usual', '20m')})`;
      return [
        `${p95} > ${settings.slowFactor} * ${usual}`,
        `and ${p95Short} > ${settings.slowFactor} * ${usual}`,
        `and ${p95} > ${settings.slowFloor}`,
        enough,
      ].join('\n');
    },
    every: '4m',
  },
];

/** The recording rules by the subject that names their groups. */
export const RECORDING_SUBJECTS: Readonly<Record<string, readonly Recording[]>> = {
  recording: [...CIRCUITS, ...OPENINGS, ...ERRORS, ...DURATIONS, ...BUDGET],
  correlation: CORRELATION,
  overview: OVERVIEW,
  spend: SPEND,
};

/** Every recording rule. Each one reads only the rules before it. */
export const RECORDINGS: readonly Recording[] = Object.values(RECORDING_SUBJECTS).flat();
