import { type DashboardJson, isObject, type Json, type JsonObject } from './finish.ts';
import { ATTR, JOB, label, METRIC, type MetricDefinition } from './names.ts';

/*
 * What makes a finished dashboard a team's own. It works on the JSON, so that whatever a builder made, by whichever way, is
 * reached: panels, variables, annotations.
 */

/** A data source of Grafana's. */
export interface DataSource {
  /** As in its address, `/connections/datasources/edit/<uid>`. */
  readonly uid: string;
  /** As people see it. Default: the uid, until Grafana knows better. */
  readonly name?: string;
}

const onTexts = (value: Json, change: (text: string) => string): Json => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => onTexts(one, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, onTexts(one, change)]));
};

/** Every selector of the dashboards begins so: see `series()` in promql.ts and variables.ts. */
const SELECTOR = /(?<series>[\w:]+)\{job=~"(?<orNone>\$job\|")?/g;

const MATCHER = /(?<label>\w+)\s*(?<operator>=~|!~|!=|=)\s*(?<value>"(?:[^"\\]|\\.)*")/g;

interface Matcher {
  readonly label: string;
  readonly operator: string;
  /** In its quotes. */
  readonly value: string;
}

/** What agents report has every label that a scrape gave it. */
const REPORTED: readonly string[] = Object.values<MetricDefinition>(METRIC).flatMap(({ prometheus }) =>
  ['', '_bucket', '_sum', '_count'].map((suffix) => prometheus + suffix),
);
/** What the rules make of it, recorded series and alerts, has these of them. */
const KEPT: readonly string[] = [JOB, label(ATTR.agent)];

/** The same, and true of a series without the label as well: an alert about many agents is about no one job. */
const orNone = ({ label: name, operator, value }: Matcher): Matcher => {
  if (operator === '=~') return { label: name, operator, value: `"(?:${value.slice(1, -1)})|"` };
  if (operator !== '=') return { label: name, operator, value };
  // A backslash of the regular expression is two in quotes; one of the value, which is two there already, becomes four.
  const escaped = value.slice(1, -1).replaceAll(/\\\\|[.*+?()[\]{}|^$]/g, (one) => `\\\\${one}`);
  return { label: name, operator: '=~', value: `"${escaped}|"` };
};

/**
 * Narrows every query of panels, variables and annotations.
 * @param selector PromQL matchers, without braces and with values in double quotes, such as `job=~"agents-.+"`
 */
export const narrowed = (dashboard: DashboardJson, selector: string): DashboardJson => {
  const matchers = [...selector.matchAll(MATCHER)].map(({ groups }) => groups as unknown as Matcher);
  const kept = matchers.filter(({ label: name }) => KEPT.includes(name));
  return onTexts(dashboard, (text) =>
    text.replaceAll(SELECTOR, (found: string, series: string, optional?: string) => {
      const chosen = REPORTED.includes(series) ? matchers : optional === undefined ? kept : kept.map(orNone);
      const written = chosen.map(({ label: name, operator, value }) => `${name}${operator}${value}, `).join('');
      return found.replace('{', () => `{${written}`);
    }),
  ) as DashboardJson;
};

/** Chooses a data source beforehand. Whoever looks can still choose another. */
export const withDataSource = (dashboard: DashboardJson, { uid, name = uid }: DataSource): DashboardJson => {
  const templating = isObject(dashboard.templating) ? dashboard.templating : {};
  const list = Array.isArray(templating.list) ? templating.list : [];
  const chosen = (variable: Json): Json =>
    isObject(variable) && variable.name === 'datasource'
      ? inOrder({ ...variable, current: { selected: true, text: name, value: uid } })
      : variable;
  return { ...dashboard, templating: { ...templating, list: list.map(chosen) } };
};

const inOrder = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
