import { durationOf, seconds } from './duration.ts';
import { AGENT, ATTR, aggregated, BY_AGENT, bracketed, indented, joined, METRIC, type Series } from './promql.ts';
import type { Ground } from './record.ts';

/**
 * The increase of counters in a window, summed, including the first value of series that appeared in the window. `increase()`
 * ignores a first sample. But a process that runs one session is often scraped for the first time after the session's budget was
 * granted or its circuit opened.
 *
 * A series counts as new if it was not seen in the hours before the window, while other series of the same agent were seen at the
 * start of the window and some minutes before. If the whole agent was not seen, scrapes were missing, or the agent is new to this
 * Prometheus. Then the totals that its counters bring must not count as new. The minutes are for a Prometheus that has just
 * started: it finds the processes of an agent one after the other.
 *
 * Without recorded series, {@link lately} is shorter: Grafana-managed rules contain it many times.
 *
 * @param zeros without zeros, the sum has no value if nothing happened, and sums up few series
 */
export const gained = (
  ground: Ground,
  counter: string,
  by: string,
  window: string,
  zeros: 'zeros' | 'no zeros' = 'zeros',
): string =>
  ground.recorded
    ? aggregated(
        'sum',
        by,
        joined(
          'or',
          `increase(${counter}[${window}])${zeros === 'zeros' ? '' : ' > 0'}`,
          `label_replace(\n${indented(`${born(ground, counter, window)},\n"born", "yes", "", ""`)}\n)`,
        ),
      )
    : aggregated('sum', by, lately(ground, counter, window));

/** Within this time, a Prometheus that starts finds all processes of an agent. */
const ALL_FOUND = '3m';
/** How far back a process is looked up. */
const LIFE_BEFORE = '6h';
/** The labels of a process. */
export const BY_PROCESS = `job, instance, ${AGENT}`;

/** A series that each process has. */
export const active = (series: Series): string => series(METRIC.sessions, { [ATTR.sessionState]: ['active'] });

/** The processes that were seen in the last hours. */
export const processes = ({ series }: Pick<Ground, 'series'>): string =>
  `count by (${BY_PROCESS}) (last_over_time(${active(series)}[${LIFE_BEFORE}]))`;

const earlier = (window: string): string => `[5m] offset ${durationOf(seconds(window) + seconds(ALL_FOUND))}`;

/**
 * How much a counter is above its last value in the hour before the window. After a restart, and without such a value, all of it, if the agent
 * was seen before the window, and otherwise its increase.
 */
const lately = ({ series }: Ground, counter: string, window: string): string => {
  const last = `last_over_time(${counter}[${window}])`;
  const before = `last_over_time(${counter}[1h] offset ${window})`;
  const seen = `last_over_time(${active(series)}${earlier(window)})`;
  return joined(
    'or',
    `${last} - ${before} >= 0`,
    `${last} and on (${BY_AGENT}) ${seen}`,
    `increase(${counter}[${window}])`,
  );
};

/**
 * The label keeps new series apart from grown ones; otherwise `or` would drop one of the two. Hours are looked up for each process, not for
 * each series, of which there are hundreds of times as many: a series that comes back after a gap has a process that does too.
 */
const born = (ground: Ground, counter: string, window: string): string => {
  const { series, read } = ground;
  const offset = ` offset ${window}`;
  const seen = `last_over_time(${read.over('processes', '5m')}${offset})`;
  const reported = [`${read.now('sessions')}${offset}`, `last_over_time(${read.now('sessions')}${earlier(window)})`];
  return [
    `min_over_time(${counter}[${window}]) > 0`,
    `unless ${counter}${offset}`,
    `unless on (${BY_PROCESS}) (${seen} unless on (${BY_PROCESS}) ${active(series)}${offset})`,
    ...reported.map((agents) => `and on (${BY_AGENT}) ${agents}`),
  ].join('\n');
};

/**
 * The growth of counters since the last evaluation of a rule that is evaluated once in each `interval`. So the sum of its values over a range
 * is the exact growth in the range, and reads one series instead of those of all processes. It looks at the last sample of both evaluations,
 * so neither the interval of the scrapes nor a missing one changes the sum. A counter that is lower than before, or that was not seen in the
 * hour before, has begun at 0.
 */
export const grown = (counter: string, by: string, interval: string): string => {
  const last = `last_over_time(${counter}[${interval}])`;
  return aggregated('sum', by, joined('or', `${last} - last_over_time(${counter}[1h] offset ${interval}) >= 0`, last));
};

/** True now by the gauge, or true within the last minutes by the counter. */
export const isOrWas = (ground: Ground, state: string, counter: string, within: string): string =>
  joined(
    'or',
    bracketed(`${aggregated('sum', BY_AGENT, `last_over_time(${state}[${ground.settings.gap}])`)} > 0`),
    bracketed(`${gained(ground, counter, BY_AGENT, within)} > 0`),
  );
