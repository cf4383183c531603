import { ATTR, type AttributeKey, JOB, METRIC } from './names.ts';
import { series, sumBy } from './promql.ts';

/**
 * Agents that reported for so many minutes of the last hour, and nothing in the last five: the value says for how many. The
 * alert on absent telemetry counts in the same way, so that an agent that ran for a few minutes and ended is none of them.
 */
export const vanished = (by: readonly (AttributeKey | typeof JOB)[], minutes: number): string => {
  const sessions = series(METRIC.sessions);
  return `count_over_time(${sumBy(by, sessions)}[1h:1m]) >= ${minutes} unless ${sumBy(by, `last_over_time(${sessions}[5m])`)}`;
};

/** Where an agent is told apart from one of the same name in another job. */
export const JOB_AGENT = [JOB, ATTR.agent] as const;
