import { ATTR, type GroupKey, METRIC } from './names.ts';
import { gained, type Matchers, series, sumBy } from './promql.ts';
import { either, recorded } from './recorded.ts';

/** Open because of failures. A circuit that is forced open recovers only by hand. */
const OUT = { [ATTR.state]: ['open', 'half_open'] } satisfies Matchers;
/** A failed probe opens a circuit again, but is not a new outage. */
const WENT_OUT = { [ATTR.stateFrom]: ['closed'], [ATTR.stateTo]: ['open'] } satisfies Matchers;

/** Recorded series exist only for circuits that opened. The others have 0. */
const orNever = (by: readonly GroupKey[], expr: string): string => `${expr} or ${sumBy(by, recorded('circuits'))} * 0`;

/**
 * Seconds that circuits were not closed in the time range. The recorded series has a value for each step at which they were not. The mean of each series is exact, but only for the time that the series existed.
 * The number of its samples, in steps of `$__interval`, gives that time. So an agent that ran for three minutes of an hour had at most three
 * minutes of outage.
 */
const secondsOut = (by: readonly GroupKey[]) => {
  const out = series(METRIC.circuits, OUT);
  const steps = `sum_over_time(${recorded('notClosedByState', OUT)}[$__range:$__interval])`;
  const there = `clamp_max(count_over_time(${out}[$__range:$__interval]) * $__interval_ms * 0.001, $__range_s)`;
  return {
    ofRecorded: sumBy(by, `${steps} * $__interval_ms * 0.001`),
    ofSeries: sumBy(by, `avg_over_time(${out}[$__range]) * ${there}`),
  };
};

const openings = (by: readonly GroupKey[]) => {
  const before = `label_replace(${series(METRIC.circuits, OUT)} offset $__range, "born", "before", "", "")`;
  const recordedBefore = `${recorded('notClosedByState', OUT)} offset $__range`;
  return {
    ofRecorded: sumBy(by, `sum_over_time(${recorded('transitions', WENT_OUT)}[$__range]) or ${recordedBefore}`),
    ofSeries: sumBy(by, `${gained(METRIC.transitions, '$__range', WENT_OUT)} or ${before}`),
  };
};

/** Circuits that went from closed to open, or were open when the range began. */
export const outages = (by: readonly GroupKey[]): string => {
  const { ofRecorded, ofSeries } = openings(by);
  return either('byAgent', orNever(by, ofRecorded), ofSeries);
};

/**
 * Mean seconds from a circuit's opening until it closes (or its session ends), by Little's law: open time divided by outages. 0 without
 * outages. Only the part of an outage inside the range counts.
 */
export const timeToRecovery = (by: readonly GroupKey[]): string => {
  const [out, opened] = [secondsOut(by), openings(by)];
  return either(
    'byAgent',
    orNever(by, `${out.ofRecorded} / clamp_min(${opened.ofRecorded}, 1)`),
    `${out.ofSeries} / clamp_min(${opened.ofSeries}, 1)`,
  );
};
