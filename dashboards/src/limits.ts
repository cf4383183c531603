import { DEFAULT_SETTINGS, type RuleSettings, seconds } from '@breakerbox/alerts';

/** Thresholds that alerts have, too, come from their settings: a line in a graph is where the alert is due. */
export { DEFAULT_SETTINGS, type RuleSettings };

const SECONDS_IN_A_MINUTE = 60;

/** For how many minutes of the last hour an agent must have reported to be missed when it is gone. */
export const reportedMinutes = ({ absentLeastReported }: RuleSettings): number =>
  seconds(absentLeastReported) / SECONDS_IN_A_MINUTE;

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
