import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { annotations } from './annotations.ts';
import { type DashboardUid, TAG, topLinks } from './links.ts';
import type { Row } from './panels.ts';
import { logsRow } from './rows/logs.ts';
import { type DataSource, variables } from './variables.ts';

/** The options of a dashboard. */
export interface DashboardSource {
  readonly uid: DashboardUid;
  /** Without the product's name, such as `Tool detail`. */
  readonly title: string;
  /** One or two sentences: the question that it answers. */
  readonly description: string;
  readonly rows: readonly Row[];
  /** Opens with one tool, and offers no All for tools: it would cost too much in a large fleet. Default: false. */
  readonly oneTool?: boolean;
  /** A Loki with the agents' logs: the last row shows them. Default: no such row. */
  readonly logs?: DataSource | undefined;
}

/** A dashboard as built with the SDK. `finished()` turns it into Grafana's format. */
export const assembled = ({ uid, title, description, rows, oneTool = false, logs }: DashboardSource): Dashboard => {
  const builder = new DashboardBuilder(`Breakerbox · ${title}`)
    .uid(uid)
    .description(description)
    .tags([TAG, 'ai-agents'])
    .readonly()
    .timezone('browser')
    .time({ from: 'now-1h', to: 'now' })
    .refresh('1m')
    .tooltip(DashboardCursorSync.Crosshair)
    .links(topLinks())
    .variables(variables(oneTool, logs))
    .annotations(annotations());
  return [...rows, ...(logs === undefined ? [] : [logsRow()])].reduce(added, builder).build();
};

const added = (built: DashboardBuilder, { title, collapsed, panels }: Row): DashboardBuilder => {
  if (title !== undefined && collapsed) {
    const row = new RowBuilder(title).collapsed(true);
    return built.withRow(panels.reduce((inRow, panel) => inRow.withPanel(panel), row));
  }
  const below = title === undefined ? built : built.withRow(new RowBuilder(title));
  return panels.reduce((inRow, panel) => inRow.withPanel(panel), below);
};
