import { type Level, RUNBOOK_URL, withLevels } from '@breakerbox/alerts';
import { OTHER_TOOL } from '@breakerbox/core';
import { type DashboardJson, isObject, type Json, type JsonObject } from './finish.ts';
import { ATTR, JOB, label, METRIC, type MetricDefinition, MODEL_NAMES } from './names.ts';
import { type DataSource, OF_SCOPE } from './variables.ts';

/*
 * Adapts a finished dashboard to your installation. It works on the JSON, so that it reaches everything that any builder made: panels,
 * variables, annotations.
 */

const onTexts = (value: Json, change: (text: string) => string): Json => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => onTexts(one, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, onTexts(one, change)]));
};

const OF_TOOLS = `${label(ATTR.tool)}=~"$tool"`;

/** L7: models have the metrics of tools, and are not counted as tools, nor offered as such. */
export const withoutModels = (dashboard: DashboardJson): DashboardJson => {
  const no = `${label(ATTR.tool)}!~"${MODEL_NAMES}"`;
  return onTexts(dashboard, (text) =>
    text
      .replaceAll(OF_TOOLS, `${OF_TOOLS}, ${no}`)
      .replaceAll(`${no}, ${label(ATTR.tool)}!="${OTHER_TOOL}"`, `${label(ATTR.tool)}!~"${OTHER_TOOL}|${MODEL_NAMES}"`)
      .replace(/(?=\}, gen_ai_tool_name\)$)/, `, ${no}`),
  ) as DashboardJson;
};

/** Every selector of the dashboards begins like this: see `series()` in promql.ts and variables.ts. */
const SELECTOR = /(?<series>[\w:]+)\{job=~"(?<orNone>\$job\|")?/g;

const MATCHER = /(?<label>\w+)\s*(?<operator>=~|!~|!=|=)\s*(?<value>"(?:[^"\\]|\\.)*")/g;

interface Matcher {
  readonly label: string;
  readonly operator: string;
  /** A value in quotes. */
  readonly value: string;
}

/** Series that agents report have every label of their scrape. */
const REPORTED: readonly string[] = Object.values<MetricDefinition>(METRIC).flatMap(({ prometheus }) =>
  ['', '_bucket', '_sum', '_count'].map((suffix) => prometheus + suffix),
);
/** Series that rules write, recorded series and alerts, have these labels of them. */
const KEPT: readonly string[] = [JOB, label(ATTR.agent)];

/** The same, but a series without the label also matches: an alert about many agents has no single job. */
const orNone = ({ label: name, operator, value }: Matcher): Matcher => {
  if (operator === '=~') return { label: name, operator, value: `"(?:${value.slice(1, -1)})|"` };
  if (operator !== '=') return { label: name, operator, value };
  // A backslash of the regular expression is written as two in quotes. A backslash of the value, already two there, is written as four.
  const escaped = value.slice(1, -1).replaceAll(/\\\\|[.*+?()[\]{}|^$]/g, (one) => `\\\\${one}`);
  return { label: name, operator: '=~', value: `"${escaped}|"` };
};

/**
 * Adds the selector to every query of panels, variables and annotations.
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

/** Links to your own runbooks instead of those of the repository. */
export const withRunbooks = (dashboard: DashboardJson, runbookUrl: string): DashboardJson =>
  onTexts(dashboard, (text) => text.replaceAll(RUNBOOK_URL, () => runbookUrl)) as DashboardJson;

/** Adds a variable for each level, reads only what it selects, and keeps the levels apart wherever jobs are apart. */
export const atLevels = (dashboard: DashboardJson, levels: readonly Level[]): DashboardJson => {
  const own = levels.reduce<Json>((json, level) => onTexts(json, (text) => selectedBy(text, level)), dashboard);
  const grouped = onTexts(own, (text) => withLevels(text, levels));
  return withVariables(named(grouped, levels) as DashboardJson, levels);
};

/** Every selector names the job, and a query of logs the scope. A record without the level matches. In links, each variable keeps its selection. */
const selectedBy = (text: string, level: Level): string =>
  text
    .replaceAll(OF_SCOPE, `${OF_SCOPE} | k8s_${level}_name=~"$${level}|"`)
    .replaceAll(/job=~"\$job(\|?)"/g, (job: string, orNone: string) => `${level}=~"$${level}${orNone}", ${job}`)
    .replaceAll(/(?<=[?&])(?:\$\{job:queryparam\}|var-job=)/g, (job) => `\${${level}:queryparam}&${job}`);

/** The columns of tables. */
const named = (value: Json, levels: readonly Level[]): Json => {
  if (Array.isArray(value)) return value.map((one) => named(one, levels));
  if (!isObject(value)) return value;
  const titles = Object.fromEntries(levels.map((level) => [level, level[0]?.toUpperCase() + level.slice(1)]));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) =>
      key === 'renameByName' && isObject(one) ? [key, { ...one, ...titles }] : [key, named(one, levels)],
    ),
  );
};

/** Before the variable of the job, which offers only the jobs of the chosen levels. */
const withVariables = (dashboard: DashboardJson, levels: readonly Level[]): DashboardJson => {
  const templating = isObject(dashboard.templating) ? dashboard.templating : {};
  const list = Array.isArray(templating.list) ? templating.list : [];
  const job = list.find((one) => isObject(one) && one.name === 'job');
  if (!isObject(job)) return dashboard;
  const before = (level: Level): string =>
    levels
      .slice(0, levels.indexOf(level))
      .map((one) => `${one}=~"$${one}"`)
      .join(', ');
  const reads = (text: string, level: Level | 'job'): string =>
    level === 'job'
      ? text.replace('job=~".+"', `${levels.map((one) => `${one}=~"$${one}"`).join(', ')}, job=~".+"`)
      : text
          .replace('job=~".+"', before(level))
          .replace(', }', '}')
          .replace(/, job\)$/, `, ${level})`);
  const made = levels.map((level) =>
    inOrder({
      ...(onTexts(job, (text) => (text.startsWith('label_values(') ? reads(text, level) : text)) as JsonObject),
      name: level,
      label: level[0]?.toUpperCase() + level.slice(1),
      // Also what has no such label.
      allValue: '.*',
    }),
  );
  const chained = onTexts(job, (text) => (text.startsWith('label_values(') ? reads(text, 'job') : text));
  return {
    ...dashboard,
    templating: { ...templating, list: list.flatMap((one) => (one === job ? [...made, chained] : [one])) },
  };
};

/** Selects a data source. Users can still select another one. */
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

/** A value that Grafana fills in from the line or row that was clicked, in a link to a dashboard. */
const LINKED = /[?&]var-(?<name>agent|tool)=(?<value>\$\{__(?:field|data)\b[^&]*)/g;

/** The same place in the console; undefined if the link names no agent of the line or row. */
const inConsole = (url: Json | undefined, consoleUrl: string): string | undefined => {
  if (typeof url !== 'string' || !url.startsWith('/d/')) return undefined;
  const places = [...url.matchAll(LINKED)].map(({ groups }) => `${groups?.name}=${groups?.value}`);
  return places.some((place) => place.startsWith('agent=')) ? `${consoleUrl}/#${places.join('&')}` : undefined;
};

const withConsoleLink = (list: readonly Json[], consoleUrl: string): readonly Json[] => {
  for (const link of list) {
    const url = isObject(link) ? inConsole(link.url, consoleUrl) : undefined;
    if (isObject(link) && url !== undefined) return [...list, { ...link, targetBlank: true, title: 'Console', url }];
  }
  return list;
};

const onLists = (value: Json, change: (list: readonly Json[]) => readonly Json[]): Json => {
  if (Array.isArray(value)) return change(value).map((one) => onLists(one, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, onLists(one, change)]));
};

/**
 * Adds a link to the operators' console (A9) to each line and row that links to a dashboard of its agent. It opens the console at the agent
 * and the tool, and does nothing by itself.
 */
export const withConsole = (dashboard: DashboardJson, consoleUrl: string): DashboardJson =>
  onLists(dashboard, (list) => withConsoleLink(list, consoleUrl)) as DashboardJson;
