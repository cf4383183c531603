import { ATTR, type GroupKey, METRIC } from './names.ts';
import { gained, type Matchers, series, share, sumBy } from './promql.ts';

/** Out by itself: one that somebody holds open recovers when somebody says so. */
const OUT = { [ATTR.state]: ['open', 'half_open'] } satisfies Matchers;
/** A failed probe opens a circuit anew, and is no new outage. */
const WENT_OUT = { [ATTR.stateFrom]: ['closed'], [ATTR.stateTo]: ['open'] } satisfies Matchers;

/**
 * Seconds for which circuits were not closed, of all that is shown. The mean of each series is exact, but of the time for
 * which there was one; how long that was, its samples in steps of `$__interval` tell, so that an agent that ran for three
 * minutes of an hour was out for no more than three.
 */
export const secondsOut = (by: readonly GroupKey[]): string => {
  const out = series(METRIC.circuits, OUT);
  const there = `clamp_max(count_over_time(${out}[$__range:$__interval]) * $__interval_ms * 0.001, $__range_s)`;
  return sumBy(by, `avg_over_time(${out}[$__range]) * ${there}`);
};

/** Circuits that went from closed to open, or were out when the range began. */
export const outages = (by: readonly GroupKey[]): string => {
  const opened = sumBy(by, gained(METRIC.transitions, '$__range', WENT_OUT));
  return `(${opened} + ${sumBy(by, `${series(METRIC.circuits, OUT)} offset $__range`)} or ${opened})`;
};

/**
 * Mean seconds from a circuit's opening until it closes (or its session ends), by Little's law: time out over outages. 0
 * where nothing was out. Of an outage that begins or ends outside the range only what lies inside counts.
 */
export const timeToRecovery = (by: readonly GroupKey[]): string => share(secondsOut(by), outages(by));
