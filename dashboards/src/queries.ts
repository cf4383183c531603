import { type DashboardJson, isObject, type Json, type JsonObject } from './finish.ts';
import { UID } from './links.ts';

/** A query of a dashboard, its Grafana variables not yet replaced. */
export interface DashboardQuery {
  /** Uid of the dashboard. */
  readonly dashboard: string;
  /** Title of the panel or name of the annotation. */
  readonly panel: string;
  readonly refId: string;
  readonly expr: string;
  /** `instant`: asked for now alone. */
  readonly kind: 'range' | 'instant' | 'annotation';
}

/** What a variable offers: the values of `label` among the series of `selector`. */
export interface VariableQuery {
  readonly variable: string;
  readonly label: string;
  readonly selector: string;
}

/** What stands in for Grafana. */
export interface Substitution {
  /** For `$__rate_interval`: at least four scrapes, such as `4s` or `4m`. */
  readonly rateInterval: string;
  /** For `$__range`, such as `1h`. */
  readonly range: string;
  /** Values of the dashboard's own variables, as regular expressions. Default of each: its "All", `.+` or `.*`. */
  readonly variables?: Readonly<Record<string, string>>;
}

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** All panels, those inside collapsed rows too. */
export const dashboardPanels = (dashboard: DashboardJson): readonly JsonObject[] =>
  objects(dashboard.panels).flatMap((panel) => [panel, ...objects(panel.panels)]);

/**
 * Every query that the dashboard sends to Prometheus for its panels and annotations.
 * @example
 * for (const { panel, expr } of dashboardQueries(json)) await ask(substitute(expr, { rateInterval: '4s', range: '1m' }));
 */
export const dashboardQueries = (dashboard: DashboardJson): readonly DashboardQuery[] => [
  ...dashboardPanels(dashboard).flatMap((panel) =>
    objects(panel.targets).map(
      (target): DashboardQuery => ({
        dashboard: text(dashboard.uid),
        panel: text(panel.title),
        refId: text(target.refId),
        expr: text(target.expr),
        kind: target.instant === true ? 'instant' : 'range',
      }),
    ),
  ),
  ...(isObject(dashboard.annotations) ? objects(dashboard.annotations.list) : []).map(
    (annotation): DashboardQuery => ({
      dashboard: text(dashboard.uid),
      panel: text(annotation.name),
      refId: 'annotation',
      expr: text(annotation.expr),
      kind: 'annotation',
    }),
  ),
];

/** A query that may give nothing but zeros though a fleet has had failures. */
export interface QuietQuery extends Pick<DashboardQuery, 'dashboard' | 'panel' | 'refId'> {
  readonly why: string;
}

const ALERTS_TAKE_TIME = 'alerts are there only where rules are loaded, and fire after minutes';

const FLEET = { dashboard: UID.fleetOverview };
const CORRELATED = { dashboard: UID.correlatedFailures };

/** All such queries. */
export const QUIET_QUERIES: readonly QuietQuery[] = [
  { ...FLEET, panel: 'Agents vanished', refId: 'A', why: 'its agents report to the end' },
  { ...FLEET, panel: 'Firing alerts', refId: 'A', why: ALERTS_TAKE_TIME },
  { ...FLEET, panel: 'Firing alerts', refId: 'B', why: ALERTS_TAKE_TIME },
  { ...CORRELATED, panel: 'Alerts of a shared cause', refId: 'A', why: ALERTS_TAKE_TIME },
  { ...CORRELATED, panel: 'Alerts over time', refId: 'A', why: ALERTS_TAKE_TIME },
];

/**
 * Whether a query must have given something other than zero at some time, once circuits have
 * opened and closed again, a budget has run out, a systemic event has been found, failed calls have said what they cost, calls
 * have been sent elsewhere, tasks been planned, results been labelled, and a pre-call check has answered. Zero is drawn for
 * what isn't there, so one that shows zeros throughout asks for what nobody emits. Ask for all of that time (`query_range`),
 * the `instant` ones too: now alone, a fleet that has recovered has neither open circuits nor paused sessions.
 */
export const showsSomething = ({
  dashboard,
  panel,
  refId,
}: Pick<DashboardQuery, 'dashboard' | 'panel' | 'refId'>): boolean =>
  !QUIET_QUERIES.some((quiet) => quiet.dashboard === dashboard && quiet.panel === panel && quiet.refId === refId);

const LABEL_VALUES = /^label_values\((?<selector>.+), (?<label>\w+)\)$/;

/**
 * Every query with which the dashboard fills its variables: `selector` is the `match[]` of Prometheus'
 * `/api/v1/label/<label>/values`.
 */
export const variableQueries = (dashboard: DashboardJson): readonly VariableQuery[] =>
  (isObject(dashboard.templating) ? objects(dashboard.templating.list) : [])
    .filter(({ type }) => type === 'query')
    .map((variable) => {
      const name = text(variable.name);
      const query = isObject(variable.query) ? text(variable.query.query) : text(variable.query);
      const { selector, label } = LABEL_VALUES.exec(query)?.groups ?? {};
      if (selector === undefined || label === undefined) {
        throw new Error(
          `dashboards: the variable ${name} asks "${query}", which isn't label_values(selector, label); teach variableQueries() this form.`,
        );
      }
      return { variable: name, label, selector };
    });

const BUILT_IN = {
  rateInterval: '__rate_interval',
  range: '__range',
  rangeSeconds: '__range_s',
  interval: '__interval',
  intervalMs: '__interval_ms',
} as const;

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a duration as Prometheus writes it, such as `1h30m`. */
const msOf = (duration: string): number =>
  [...duration.matchAll(/(\d+)(ms|[smhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * MS[unit as keyof typeof MS],
    0,
  );

/**
 * Replaces Grafana's variables as Grafana would, so that Prometheus can read the query.
 * @throws Error for one that Grafana wouldn't know either
 */
export const substitute = (expr: string, { rateInterval, range, variables = {} }: Substitution): string => {
  // As it is when Grafana shows every sample: rate intervals are four scrapes then.
  const intervalMs = String(Math.max(1, Math.round(msOf(rateInterval) / 4)));
  const values: Readonly<Record<string, string>> = {
    job: '.+',
    instance: '.+',
    agent: '.*',
    tool: '.*',
    ...variables,
    [BUILT_IN.rangeSeconds]: String(msOf(range) / 1000),
    [BUILT_IN.interval]: `${intervalMs}ms`,
    [BUILT_IN.intervalMs]: intervalMs,
    [BUILT_IN.rateInterval]: rateInterval,
    [BUILT_IN.range]: range,
  };
  return expr.replace(/\$(?:\{(\w+)\}|(\w+))/g, (written, braced?: string, bare?: string) => {
    const value = values[braced ?? bare ?? ''];
    if (value === undefined) {
      throw new Error(
        `dashboards: "${written}" in the query ${expr} is no variable of the dashboard. Declare it in variables.ts or mend the query.`,
      );
    }
    return value;
  });
};
