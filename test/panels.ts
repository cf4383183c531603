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

/** Everything that Grafana is provisioned with. */
export const dashboards: readonly DashboardJson[] = readdirSync(GENERATED)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, GENERATED), 'utf8')));

/** Every query of every panel and annotation. */
export const panelQueries: readonly DashboardQuery[] = dashboards.flatMap((one) => dashboardQueries(one));

/** Queries that returned nothing, nothing finite, or only zeros since `from`, although they should return more. Empty: all are fine. */
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
      (values.length === 0 && 'returns no data') ||
      (!values.every(Number.isFinite) && 'returns a value that is not a number') ||
      (showsSomething(query) && values.every((value) => value === 0) && 'returns only zeros');
    if (fault) faults.push(`${query.dashboard}: ${query.panel} ${query.refId} ${fault}`);
  }
  return faults;
};
