import { DEFAULT_SETTINGS, type RuleSettings, seconds } from '@breakerbox/alerts';

/** Thresholds that panels share with alerts come from the settings of the alerts: a line in a graph shows where the alert fires. */
export { DEFAULT_SETTINGS, type RuleSettings };

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** When a silent agent counts as absent. */
export interface Absent {
  /** For how many minutes of the last hour it must have reported. */
  readonly minutes: number;
  /** How long it must have been silent, as a PromQL duration. */
  readonly silence: string;
  /** The time over which its habit is read, as a PromQL duration and in seconds, and the time to look back for its first report. */
  readonly habit: string;
  readonly habitSeconds: number;
  readonly memory: string;
  /** It comes and goes if it reported for less than this share (0 to 1) of the time since it was first seen. */
  readonly share: number;
  /** The beginning of that time that does not count, because it is too short to show a habit. */
  readonly graceSeconds: number;
}

const duration = (length: number): string => (length % DAY === 0 ? `${length / DAY}d` : `${length}s`);

/** The limits of the alert on absent telemetry. */
export const absentOf = (settings: RuleSettings): Absent => {
  const habitSeconds = seconds(settings.absentHabit);
  return {
    minutes: seconds(settings.absentLeastReported) / MINUTE,
    silence: settings.absentFor,
    habit: duration(habitSeconds),
    habitSeconds,
    memory: duration(2 * habitSeconds),
    share: settings.absentHabitShare,
    graceSeconds: Math.max(habitSeconds / 4, HOUR),
  };
};

/** When openings count as one event. */
export interface Together {
  /** The longest time between them. */
  readonly seconds: number;
  /** The least number of tools of one agent. */
  readonly tools: number;
  /** The least number of agents with one tool. */
  readonly agents: number;
}

/** The limits of the alert on correlated openings. */
export const togetherOf = ({ correlatedWithin, correlatedTools, correlatedAgents }: RuleSettings): Together => ({
  seconds: seconds(correlatedWithin),
  tools: correlatedTools,
  agents: correlatedAgents,
});
