import { type DashboardJson, isObject, type Json, type JsonObject } from './finish.ts';
import { UID } from './links.ts';

/** A query of a dashboard, before its Grafana variables are replaced. */
export interface DashboardQuery {
  /** Uid of the dashboard. */
  readonly dashboard: string;
  /** Title of the panel or name of the annotation. */
  readonly panel: string;
  readonly refId: string;
  readonly expr: string;
  /** `instant`: evaluated only now. */
  readonly kind: 'range' | 'instant' | 'annotation';
}

/** The values that a variable offers: those of `label` among the series of `selector`. */
export interface VariableQuery {
  readonly variable: string;
  readonly label: string;
  readonly selector: string;
}

/** The values that Grafana would fill in. */
export interface Substitution {
  /** For `$__rate_interval`: at least four scrapes, such as `4s` or `4m`. */
  readonly rateInterval: string;
  /** For `$__interval`, such as `15s`. Default: a quarter of the rate interval, as when Grafana shows every sample. */
  readonly interval?: string;
  /** For `$__range`, such as `1h`. */
  readonly range: string;
  /** Values of the dashboard's own variables, as regular expressions. Default of each: its "All", `.+` or `.*`. */
  readonly variables?: Readonly<Record<string, string>>;
}

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** All panels, including those in collapsed rows. */
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

/** A query that may return only zeros for a fleet with failures. */
export interface QuietQuery extends Pick<DashboardQuery, 'dashboard' | 'panel' | 'refId'> {
  readonly why: string;
}

const ALERTS_TAKE_TIME = 'alerts exist only if rules are loaded, and fire after minutes';

const FLEET = { dashboard: UID.fleetOverview };
const CORRELATED = { dashboard: UID.correlatedFailures };

const FLEET_PANELS = [
  ['Processes with the store', 'A'],
  ['Processes without it', 'A'],
  ['Last answer of the store', 'A'],
  ['Records ignored 1h', 'A'],
  ['Tools that are open in several processes', 'A'],
  ['Tools that are open in several processes', 'B'],
  ['Probes by process', 'A'],
  ['Probes by process', 'B'],
] as const;

const MODEL_PANELS = [
  ...['A', 'B', 'C', 'D'].map((refId) => ['Models in range', refId] as const),
  ['Who answered', 'A'],
  ['Calls that no model answered', 'A'],
  ['Tokens of models', 'A'],
] as const;

/** All such queries. */
export const QUIET_QUERIES: readonly QuietQuery[] = [
  { ...FLEET, panel: 'Vanished', refId: 'A', why: 'the agents of the fleet report to the end' },
  { ...FLEET, panel: 'Firing alerts', refId: 'A', why: ALERTS_TAKE_TIME },
  { ...FLEET, panel: 'Firing alerts', refId: 'B', why: ALERTS_TAKE_TIME },
  { ...CORRELATED, panel: 'Alerts of a shared cause', refId: 'A', why: ALERTS_TAKE_TIME },
  { ...CORRELATED, panel: 'Alerts over time', refId: 'A', why: ALERTS_TAKE_TIME },
  {
    dashboard: UID.toolDetail,
    panel: 'Latency percentiles',
    refId: 'D',
    why: 'it asks only for exemplars, and has no value',
  },
  ...MODEL_PANELS.map(([panel, refId]) => ({ ...FLEET, panel, refId, why: 'only some agents guard their models' })),
  ...FLEET_PANELS.map(([panel, refId]) => ({
    ...CORRELATED,
    panel,
    refId,
    why: 'only processes that share circuits have a store',
  })),
];

/**
 * Whether a query must return a value other than zero at some time. The fleet must have had all of these: circuits that opened and closed
 * again, an exhausted budget, a systemic event, failed calls with costs, calls sent to alternatives, planned tasks, labelled results, and an
 * answer of a pre-call check. A missing series is drawn as zero, so a query that returns only zeros reads a series that core does not emit.
 * Query the whole time (`query_range`), also for `instant` queries: a fleet that has recovered has neither open circuits nor paused
 * sessions now.
 */
export const showsSomething = ({
  dashboard,
  panel,
  refId,
}: Pick<DashboardQuery, 'dashboard' | 'panel' | 'refId'>): boolean =>
  !QUIET_QUERIES.some((quiet) => quiet.dashboard === dashboard && quiet.panel === panel && quiet.refId === refId);

const LABEL_VALUES = /^label_values\((?<selector>.+), (?<label>\w+)\)$/;

/**
 * Every query that fills a variable of the dashboard. `selector` is the `match[]` of Prometheus' `/api/v1/label/<label>/values`.
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
          `dashboards: the variable ${name} has the query "${query}", which is not label_values(selector, label). Add this form to variableQueries().`,
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

/** Milliseconds of a duration in Prometheus' notation, such as `1h30m`. */
const msOf = (duration: string): number =>
  [...duration.matchAll(/(\d+)(ms|[smhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * MS[unit as keyof typeof MS],
    0,
  );

/**
 * Replaces Grafana's variables as Grafana would, so that Prometheus can parse the query.
 * @throws Error for a variable that Grafana does not know either
 */
export const substitute = (expr: string, { rateInterval, interval, range, variables = {} }: Substitution): string => {
  const intervalMs = String(Math.max(1, Math.round(interval === undefined ? msOf(rateInterval) / 4 : msOf(interval))));
  const values: Readonly<Record<string, string>> = {
    job: '.+',
    instance: '.*',
    agent: '.*',
    tool: '.*',
    rules: '',
    fleet: '',
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
        `dashboards: "${written}" in the query ${expr} is not a variable of the dashboard. Declare it in variables.ts or correct the query.`,
      );
    }
    return value;
  });
};
