import type { AlertLabel, DashboardUid, Dialect } from './dialect.ts';
import type { Ground } from './record.ts';
import type { RuleSettings } from './settings.ts';

export type Severity = 'critical' | 'warning';

/** What texts are written with. */
export interface TextGround {
  readonly settings: RuleSettings;
  readonly dialect: Dialect;
  /** Matchers of one's own, for queries inside texts; starts with a comma, or is empty. */
  readonly andSelector: string;
}

/** An alert, before it is a rule of Prometheus or of Grafana. */
export interface AlertDefinition {
  /** `Breakerbox…`; the runbook has the same name. */
  readonly name: string;
  /** `critical`: a run stands still, or is about to. `warning`: an agent works with less. */
  readonly severity: Severity;
  /** Two rules of one alert differ by it, in the label `scope`. */
  readonly scope?: string;
  /** What it says, in a line for tables. */
  says(settings: RuleSettings): string;
  /** Where `dashboard_url` leads. */
  readonly dashboard: DashboardUid;
  /** The labels of its expression. */
  readonly labels: readonly AlertLabel[];
  /** Why the rule is as it is; stands above it in the file. */
  readonly comment: string;
  expr(ground: Ground): string;
  for?(settings: RuleSettings): string;
  keepFiringFor?(settings: RuleSettings): string;
  /** One sentence for the whole group that Alertmanager sends: alertname, agent, job. */
  summary(ground: TextGround): string;
  description(ground: TextGround): string;
}
