import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { withoutModels } from './adapt.ts';
import { correlatedFailures } from './correlated-failures.ts';
import { failureBudget } from './failure-budget.ts';
import { type DashboardJson, finished } from './finish.ts';
import { fleetOverview } from './fleet-overview.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './limits.ts';
import { type DashboardUid, UID } from './links.ts';
import { toolDetail } from './tool-detail.ts';
import type { DataSource } from './variables.ts';

/** Every dashboard: first the one to open first, then the details. */
const SOURCES: readonly { readonly uid: DashboardUid; build(settings: RuleSettings, logs?: DataSource): Dashboard }[] =
  [
    { uid: UID.fleetOverview, build: fleetOverview },
    { uid: UID.toolDetail, build: toolDetail },
    { uid: UID.failureBudget, build: failureBudget },
    { uid: UID.correlatedFailures, build: correlatedFailures },
  ];

/** A dashboard in Grafana's format. */
export interface BuiltDashboard {
  readonly uid: DashboardUid;
  readonly json: DashboardJson;
}

/**
 * All dashboards in Grafana's format.
 * @param settings the thresholds of the alerts
 * @param logs a Loki with the agents' logs. Default: no panel of logs
 */
export const builtDashboards = (
  settings: RuleSettings = DEFAULT_SETTINGS,
  logs?: DataSource,
): readonly BuiltDashboard[] =>
  SOURCES.map(({ uid, build }) => {
    const json = finished(build(settings, logs));
    // One model or tool is chosen there.
    return { uid, json: uid === UID.toolDetail ? json : withoutModels(json) };
  });
