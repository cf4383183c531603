import { readdirSync, readFileSync } from 'node:fs';
import type { DashboardJson } from '../dashboards/src/finish.ts';
import {
  type DashboardQuery,
  dashboardQueries,
  type Substitution,
  showsSomething,
  substitute,
} from '../dashboards/src/queries.ts';
import type { PrometheusClient } from './prometheus.ts';

const GENERATED = new URL('../dashboards/generated/', import.meta.url);

/** All that Grafana is provisioned with. */
export const dashboards: readonly DashboardJson[] = readdirSync(GENERATED)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, GENERATED), 'utf8')));

/** Every query of every panel and annotation. */
export const panelQueries: readonly DashboardQuery[] = dashboards.flatMap((one) => dashboardQueries(one));

/** Queries that give nothing, nothing finite, or nothing but zeros since `from` where they should; an empty list is well. */
export const faultsOf = async (
  prometheus: PrometheusClient,
  from: number,
  asked: Substitution,
): Promise<readonly string[]> => {
  const faults: string[] = [];
  for (const query of panelQueries) {
    const series = await prometheus.range(substitute(query.expr, asked), from);
    const values = series.flatMap((one) => one.values.map(([, value]) => value));
    const fault =
      (values.length === 0 && 'gives no data') ||
      (!values.every(Number.isFinite) && 'gives what is no number') ||
      (showsSomething(query) && values.every((value) => value === 0) && 'gives zeros alone');
    if (fault) faults.push(`${query.dashboard}: ${query.panel} ${query.refId} ${fault}`);
  }
  return faults;
};
