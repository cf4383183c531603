import type { AlertLabel, DashboardUid, Dialect, TextQuery } from './dialect.ts';
import type { Ground } from './record.ts';
import type { RuleSettings } from './settings.ts';

export type Severity = 'critical' | 'warning';

/** What an operator runs to see more, for texts about circuits. */
export const LOOK = 'To see which sessions it affects and when the next probe is due: breakerbox ctl list.';

/** What an operator runs to stop the calls of a tool that cannot be repaired at once, for texts of alerts. */
export const SWITCH_OFF =
  'To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.';

/** What the texts of an alert are made from. */
export interface TextGround {
  readonly settings: RuleSettings;
  readonly dialect: Dialect;
  /** The caller's own matchers, for queries inside texts. Starts with a comma, or is empty. */
  readonly andSelector: string;
}

/** An alert, before it becomes a rule of Prometheus or of Grafana. */
export interface AlertDefinition {
  /** `Breakerbox…`; the runbook has the same name. */
  readonly name: string;
  /** `critical`: a run has stopped, or is about to. `warning`: an agent works with fewer tools. */
  readonly severity: Severity;
  /** Distinguishes two rules of one alert, in the label `scope`. */
  readonly scope?: string;
  /** When the alert fires, in one line for tables. */
  says(settings: RuleSettings): string;
  /** The dashboard that `dashboard_url` opens. */
  readonly dashboard: DashboardUid;
  /** The labels of its expression. */
  readonly labels: readonly AlertLabel[];
  /** Why the rule is written this way. It becomes the comment above the rule in the file. */
  readonly comment: string;
  expr(ground: Ground): string;
  /** Whether there is such a rule. Default: there is. */
  isOn?(settings: RuleSettings): boolean;
  /** Time between two evaluations, for an alert that takes its time. Default: the evaluation interval of Prometheus. */
  readonly every?: '1m';
  for?(settings: RuleSettings): string;
  keepFiringFor?(settings: RuleSettings): string;
  /** The title: agent, tool or tools, what is wrong, and the error category. */
  summary(ground: TextGround): string;
  /** What, who, since when and whether it lasts. Then what to do. The messages contain at most 900 characters of it. */
  description(ground: TextGround): string;
  /** When the trouble began, which may be minutes before the alert fires: a Unix time, or no result if that is not known. */
  began?(ground: TextGround): TextQuery;
}
