import { readdirSync, readFileSync } from 'node:fs';
import type { DashboardJson } from '../dashboards/src/finish.ts';
import { type DashboardQuery, dashboardQueries } from '../dashboards/src/queries.ts';

const GENERATED = new URL('../dashboards/generated/', import.meta.url);

/** Everything that Grafana is provisioned with. */
export const dashboards: readonly DashboardJson[] = readdirSync(GENERATED)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, GENERATED), 'utf8')));

/** Every query of every panel and annotation. */
export const panelQueries: readonly DashboardQuery[] = dashboards.flatMap((one) => dashboardQueries(one));
