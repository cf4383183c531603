import { DEFAULT_SETTINGS, type RuleSettings, seconds } from '@breakerbox/alerts';

/** Thresholds that alerts have, too, come from their settings: a line in a graph is where the alert is due. */
export { DEFAULT_SETTINGS, type RuleSettings };

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** When an agent that reports nothing is missed. */
export interface Absent {
  /** For how many minutes of the last hour it must have reported. */
  readonly minutes: number;
  /** For how long it must be silent, as PromQL has it. */
  readonly silence: string;
  /** The time from which its habit is read, as PromQL has it and in seconds; and the time that is looked back for its first. */
  readonly habit: string;
  readonly habitSeconds: number;
  readonly memory: string;
  /** It comes and goes if it reported less than this share (0 to 1) of the time since it was first seen. */
  readonly share: number;
  /** What of that time counts for nothing, since nothing is a habit yet. */
  readonly graceSeconds: number;
}

const duration = (length: number): string => (length % DAY === 0 ? `${length / DAY}d` : `${length}s`);

/** As the alert on absent telemetry has it. */
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

/** When openings are taken for one event. */
export interface Together {
  /** How far apart they may lie. */
  readonly seconds: number;
  /** How many tools of one agent. */
  readonly tools: number;
  /** On how many agents one tool. */
  readonly agents: number;
}

/** What the alert on correlated openings takes for one event. */
export const togetherOf = ({ correlatedWithin, correlatedTools, correlatedAgents }: RuleSettings): Together => ({
  seconds: seconds(correlatedWithin),
  tools: correlatedTools,
  agents: correlatedAgents,
});
