import { AGENT } from './circuit-state.ts';
import type { Absent } from './limits.ts';
import { ATTR, METRIC } from './names.ts';
import { series, sumBy } from './promql.ts';
import { either, recorded } from './recorded.ts';

const LOOKED_AT = 10 * 60;

/**
 * Agents that reported for a while in the last hour and nothing since, and that do not come and go. The value is the number of minutes
 * of that hour. It is the condition of the alert on absent telemetry, also where no rules are loaded.
 */
export const vanished = ({ minutes, silence, habit, habitSeconds, memory, share, graceSeconds }: Absent): string => {
  const sessions = series(METRIC.sessions);
  // One session state is enough, because all three are always reported together. This query reads days.
  const there = sumBy(AGENT, series(METRIC.sessions, { [ATTR.sessionState]: ['active'] }));
  const firstSeen = `min_over_time(timestamp(${there})[${memory}:10m])`;
  const known = `clamp_max((time() - ${graceSeconds} - ${firstSeen}) * ${1 / LOOKED_AT}, ${habitSeconds / LOOKED_AT})`;
  const comesAndGoes = `count_over_time(${there}[${habit}:10m]) < ${share} * ${known}`;
  const silent = (reported: string, visitors: string): string =>
    `count_over_time(${reported}[1h:1m]) >= ${minutes} unless ${sumBy(AGENT, `last_over_time(${sessions}[${silence}])`)} unless (${visitors})`;
  return either(
    'byAgent',
    silent(recorded('sessions'), sumBy(AGENT, `last_over_time(${recorded('comesAndGoes')}[30m])`)),
    silent(sumBy(AGENT, sessions), comesAndGoes),
  );
};
