import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { annotations } from './annotations.ts';
import { budgetRow } from './rows/budget.ts';
import { decisionsRow } from './rows/decisions.ts';
import { latencyRow } from './rows/latency.ts';
import { leftOutRow } from './rows/left-out.ts';
import { nowRow } from './rows/now.ts';
import { systemicRow } from './rows/systemic.ts';
import { toolsRow } from './rows/tools.ts';
import { variables } from './variables.ts';

/** Links and alerts lead here; it never changes. */
export const FLEET_OVERVIEW_UID = 'breakerbox-fleet-overview';

/**
 * The fleet on one screen, from what needs a person down to the details. As the SDK builds it: `finished()` makes it
 * what Grafana reads.
 */
export const fleetOverview = (): Dashboard => {
  const rows = [nowRow(), toolsRow(), decisionsRow(), budgetRow(), systemicRow(), leftOutRow(), latencyRow()];
  const builder = new DashboardBuilder('Breakerbox · Fleet overview')
    .uid(FLEET_OVERVIEW_UID)
    .description(
      'Circuit breakers of the tools that AI agents call: circuits, decisions, failure budgets, systemic failures, and what was left out.',
    )
    .tags(['breakerbox', 'ai-agents'])
    .readonly()
    .timezone('browser')
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .variables(variables())
    .annotations(annotations());
  return rows
    .reduce(
      (built, row) =>
        row.panels.reduce((inRow, panel) => inRow.withPanel(panel), built.withRow(new RowBuilder(row.title))),
      builder,
    )
    .build();
};
