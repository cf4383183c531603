import { builtDashboards } from '../../dashboards/src/dashboards.ts';
import type { DashboardJson, Json, JsonObject } from '../../dashboards/src/finish.ts';
import { isObject } from '../../dashboards/src/finish.ts';
import { substitute, variableQueries } from '../../dashboards/src/queries.ts';

/** A request that Grafana sends to Prometheus. */
export interface Request {
  /** The panel's title and the query's letter, or the name of a variable. */
  readonly what: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const SCRAPE_SECONDS = 15;
/** The content of a window of 1600 pixels beside Grafana's menu. */
const CONTENT_PIXELS = 1280;
const COLUMNS = 24;
/** Grafana evaluates annotations at as many points as the window has pixels, up to this. */
const ANNOTATION_POINTS = 1500;

/** Grafana's steps: up to so many seconds, this one. */
const STEPS = [
  [12.5, 10],
  [17.5, 15],
  [25, 20],
  [45, 30],
  [90, 60],
  [210, 120],
  [450, 300],
  [750, 600],
  [1050, 900],
  [1500, 1200],
] as const;
const LONGEST_STEP = 1800;

const rounded = (seconds: number): number => STEPS.find(([below]) => seconds < below)?.[1] ?? LONGEST_STEP;

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const secondsOf = (duration: string): number => {
  const [, count = '0', unit = 's'] = /^(\d+)([smh])$/.exec(duration) ?? [];
  return Number(count) * { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h'];
};

const interval = (panel: JsonObject, range: number): { readonly step: number; readonly scrape: number } => {
  const width = isObject(panel.gridPos) ? Number(panel.gridPos.w) : COLUMNS;
  const points = Number(panel.maxDataPoints ?? Math.round((width / COLUMNS) * CONTENT_PIXELS));
  const scrape = panel.interval === undefined ? SCRAPE_SECONDS : secondsOf(text(panel.interval));
  return { step: Math.max(rounded(range / points), scrape), scrape };
};

/** What the variables are when the dashboard opens: their value for All, or the first value that they offer. */
const chosen = (dashboard: DashboardJson, rules: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (isObject(dashboard.templating) ? objects(dashboard.templating.list) : [])
      .filter(({ type }) => type === 'query')
      .map(({ name, allValue, includeAll }): [string, string] => {
        if (name === 'rules' || name === 'fleet') return [name, rules];
        return [text(name), includeAll === true ? text(allValue) || '.*' : 'tool-00'];
      }),
  );

export interface View {
  /** Seconds that are shown. */
  readonly range: number;
  /** Unix time in seconds. */
  readonly end: number;
}

/**
 * Every request of a refresh, as Grafana sends them: none for the panels of a closed row, which are inside of the row. `recorded` is the
 * series that tells the dashboard that rules are loaded.
 */
export const requestsOf = (dashboard: DashboardJson, { range, end }: View, recorded: string): readonly Request[] => {
  const variables = chosen(dashboard, recorded);
  const times = { start: String(end - range), end: String(end) };
  const filled = (expr: string, step: number, scrape: number): string =>
    substitute(expr, {
      interval: `${step}s`,
      rateInterval: `${Math.max(step + scrape, 4 * scrape)}s`,
      range: `${range}s`,
      variables,
    });
  const panels = objects(dashboard.panels).flatMap((panel) => {
    const { step, scrape } = interval(panel, range);
    return objects(panel.targets).map((target): Request => {
      const what = `${text(panel.title)} ${text(target.refId)}`;
      const query = filled(text(target.expr), step, scrape);
      return target.instant === true
        ? { what, path: 'query', parameters: { query, time: times.end } }
        : { what, path: 'query_range', parameters: { query, ...times, step: String(step) } };
    });
  });
  const annotations = (isObject(dashboard.annotations) ? objects(dashboard.annotations.list) : [])
    .filter(({ expr, enable }) => text(expr) !== '' && enable === true)
    .map(({ name, expr }): Request => {
      const step = Math.max(rounded(range / ANNOTATION_POINTS), SCRAPE_SECONDS);
      const query = filled(text(expr), step, SCRAPE_SECONDS);
      return { what: text(name), path: 'query_range', parameters: { query, ...times, step: String(step) } };
    });
  const lists = variableQueries(dashboard).map(
    ({ variable, label, selector }): Request => ({
      what: `variable ${variable}`,
      path: `label/${label}/values`,
      parameters: { 'match[]': substitute(selector, { rateInterval: '1m', range: '1h', variables }), ...times },
    }),
  );
  return [...lists, ...panels, ...annotations];
};

export const dashboards = (): readonly { readonly title: string; readonly json: DashboardJson }[] =>
  builtDashboards().map(({ json }) => ({ title: text(json.title).replace('Breakerbox · ', ''), json }));
