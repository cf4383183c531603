import { AGENT } from './circuit-state.ts';
import type { Absent } from './limits.ts';
import { ATTR, METRIC } from './names.ts';
import { series, sumBy } from './promql.ts';

const LOOKED_AT = 10 * 60;

/**
 * Agents of jobs that reported for a while in the last hour and nothing since, and that don't come and go: the value says for
 * how many minutes of the hour. It is what the alert on absent telemetry is due for, without its recorded series.
 */
export const vanished = ({ minutes, silence, habit, habitSeconds, memory, share, graceSeconds }: Absent): string => {
  const sessions = series(METRIC.sessions);
  // One state stands for all three, which are always reported together: this reads days.
  const there = sumBy(AGENT, series(METRIC.sessions, { [ATTR.sessionState]: ['active'] }));
  const firstSeen = `min_over_time(timestamp(${there})[${memory}:10m])`;
  const known = `clamp_max((time() - ${graceSeconds} - ${firstSeen}) * ${1 / LOOKED_AT}, ${habitSeconds / LOOKED_AT})`;
  const comesAndGoes = `count_over_time(${there}[${habit}:10m]) < ${share} * ${known}`;
  return `count_over_time(${sumBy(AGENT, sessions)}[1h:1m]) >= ${minutes} unless ${sumBy(AGENT, `last_over_time(${sessions}[${silence}])`)} unless (${comesAndGoes})`;
};
