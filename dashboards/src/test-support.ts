import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runTool } from '../../stack/tools.ts';
import { builtDashboards } from './dashboards.ts';
import type { DashboardUid } from './links.ts';
import { dashboardQueries, substitute } from './queries.ts';

/** The expected result of a query. */
export interface Sample {
  readonly labels: string;
  readonly value: number;
}

/** A query, the samples that Prometheus has, and the expected result. */
export interface Case {
  /** By selector; one sample per minute in promtool's notation, in which `_` is a missing scrape. */
  readonly samples: Readonly<Record<string, string>>;
  readonly expr: string;
  /** A duration such as `2h10m`, from the first sample. */
  readonly at: string;
  /** The time range shown, up to `at`. Default: `10m`. */
  readonly range?: string;
  /** Four of Grafana's steps. Default: `10m`. */
  readonly rateInterval?: string;
  /** Values of the dashboard's variables. Default: those of All, without rules. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly gives: readonly Sample[];
}

/** Evaluates a query with Prometheus' own engine. promtool accepts JSON as YAML. */
export const proved = async ({
  samples,
  expr,
  at,
  range = '10m',
  rateInterval = '10m',
  variables = {},
  gives,
}: Case): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-dashboards-'));
  try {
    const file = join(folder, 'case.test.yml');
    const test = {
      interval: '1m',
      input_series: Object.entries(samples).map(([series, values]) => ({ series, values })),
      promql_expr_test: [
        { expr: substitute(expr, { rateInterval, range, variables }), eval_time: at, exp_samples: gives },
      ],
    };
    writeFileSync(file, JSON.stringify({ evaluation_interval: '1m', tests: [test] }));
    const { code, output } = await runTool('promtool', ['test', 'rules', file]);
    expect(code, output).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const queries = builtDashboards().flatMap(({ json }) => dashboardQueries(json));

/**
 * @throws Error for a panel that does not exist, so that no test passes without a query
 * @throws Error for a panel that isn't there, so that no test proves something about nothing
 */
export const exprOf = (dashboard: DashboardUid, panel: string, refId = 'A'): string => {
  const found = queries.find(
    (query) => query.dashboard === dashboard && query.panel === panel && query.refId === refId,
  );
  if (found === undefined)
    throw new Error(`no panel "${panel}" with a query ${refId} on ${dashboard}. Name an existing panel`);
  return found.expr;
};

/** Labels of a series of agent `a`, in addition to the given ones. */
export const SOURCE = 'job="j", instance="i", gen_ai_agent_name="a"';
