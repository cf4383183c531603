import type { DashboardJson, Json } from './finish.ts';

/** A query of a dashboard, its Grafana variables not yet replaced. */
export interface DashboardQuery {
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
  /** Values of the dashboard's own variables, as regular expressions. Default of each: `.+`, which is Grafana's "All". */
  readonly variables?: Readonly<Record<string, string>>;
}

type JsonObject = { readonly [key: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
        panel: text(panel.title),
        refId: text(target.refId),
        expr: text(target.expr),
        kind: target.instant === true ? 'instant' : 'range',
      }),
    ),
  ),
  ...(isObject(dashboard.annotations) ? objects(dashboard.annotations.list) : []).map(
    (annotation): DashboardQuery => ({
      panel: text(annotation.name),
      refId: 'annotation',
      expr: text(annotation.expr),
      kind: 'annotation',
    }),
  ),
];

/** A query of the fleet overview that may give nothing but zeros though a fleet has had failures. */
export interface QuietQuery extends Pick<DashboardQuery, 'panel' | 'refId'> {
  readonly why: string;
}

const WHILE_PROBING = 'a circuit is half-open only while a probe is on its way, which may fall between two scrapes';

/** All such queries. */
export const QUIET_QUERIES: readonly QuietQuery[] = [
  { panel: 'Half-open circuits', refId: 'A', why: WHILE_PROBING },
  { panel: 'Tool health', refId: 'B', why: `its column Half-open: ${WHILE_PROBING}` },
  { panel: 'Tool health', refId: 'D', why: 'its column By hand: nobody has switched off or only observes a tool' },
];

/**
 * Whether a query of the fleet overview must have given something other than zero at some time, once circuits have
 * opened and closed again, a budget has run out, a systemic event has been found, failed calls have said what they cost, calls
 * have been sent elsewhere, tasks been planned, results been labelled, and a pre-call check has answered. Zero is drawn for
 * what isn't there, so one that shows zeros throughout asks for what nobody emits. Ask for all of that time (`query_range`),
 * the `instant` ones too: now alone, a fleet that has recovered has neither open circuits nor paused sessions.
 */
export const showsSomething = ({ panel, refId }: Pick<DashboardQuery, 'panel' | 'refId'>): boolean =>
  !QUIET_QUERIES.some((quiet) => quiet.panel === panel && quiet.refId === refId);

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

const BUILT_IN = { rateInterval: '__rate_interval', range: '__range' } as const;

/**
 * Replaces Grafana's variables as Grafana would, so that Prometheus can read the query.
 * @throws Error for one that Grafana wouldn't know either
 */
export const substitute = (expr: string, { rateInterval, range, variables = {} }: Substitution): string => {
  const values: Readonly<Record<string, string>> = {
    job: '.+',
    instance: '.+',
    agent: '.+',
    tool: '.+',
    ...variables,
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
