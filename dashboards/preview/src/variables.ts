import type { DashboardJson } from '../../src/finish.ts';
import { substitute, variableQueries } from '../../src/queries.ts';
import { PreviewError } from './errors.ts';
import type { Prometheus } from './prometheus.ts';
import { duration, rateIntervalMs } from './steps.ts';

/** A variable of a dashboard, from its JSON. */
interface VariableJson {
  readonly name: string;
  readonly type: string;
  readonly label?: string;
  readonly hide?: number;
  readonly query?: unknown;
  readonly includeAll?: boolean;
  readonly allValue?: string;
  readonly current?: { readonly value?: unknown };
}

/** The selection of a variable. */
export interface Choice {
  readonly name: string;
  readonly label: string;
  /** The text that Grafana shows: `All`, or names. */
  readonly text: string;
  /** The text that replaces it in a query. */
  readonly value: string;
  readonly hidden: boolean;
}

/** The caller's selection: names of variables, each with one or more values. */
export type Chosen = Readonly<Record<string, readonly string[]>>;

const ALL = '$__all';
/** `$name`, or `${name}` with or without a format. */
const VARIABLE = /\$(?:\{(\w+)(?::\w+)?\}|(\w+))/g;

/** Escapes a value for `=~` as Grafana's Prometheus data source does. */
export const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\\\\\').replaceAll(/[$^*{}[\]'+?.()|]/g, '\\\\$&');

/** Several values as one regular expression. */
export const joined = (values: readonly string[]): string =>
  values.length === 1 ? escaped(values[0] ?? '') : `(${values.map(escaped).join('|')})`;

const variablesOf = (dashboard: DashboardJson): readonly VariableJson[] =>
  (dashboard.templating as { list?: readonly VariableJson[] } | undefined)?.list ?? [];

const strings = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string' && one !== '');

/**
 * The selection of each variable, as in Grafana: the caller's values, or the default of the dashboard, or the first value.
 * @throws PreviewError if the caller names a variable that the dashboard does not have, or if Prometheus rejects a query
 */
export const choices = async (
  dashboard: DashboardJson,
  chosen: Chosen,
  prometheus: Prometheus,
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly Choice[]> => {
  const list = variablesOf(dashboard);
  const unknown = Object.keys(chosen).find((name) => !list.some((one) => one.name === name));
  if (unknown !== undefined) {
    throw new PreviewError(
      `the dashboard ${String(dashboard.uid)} has no variable "${unknown}". It has: ${list.map(({ name }) => name).join(', ')}.`,
    );
  }
  const queries = variableQueries(dashboard);
  const made: Choice[] = [];
  for (const variable of list) {
    const { name, type, label = name, hide = 0 } = variable;
    const said = chosen[name] ?? strings(variable.current?.value);
    const query = queries.find((one) => one.variable === name);
    const values = Object.fromEntries(made.map((one) => [one.name, one.value]));
    const offered =
      query === undefined
        ? []
        : await prometheus.labelValues(
            query.label,
            substitute(query.selector, { rateInterval: '1m', range: '1h', variables: values }),
            window,
          );
    made.push({ name, label, hidden: hide === 2, ...chosenOf(variable, type, said, offered) });
  }
  return made;
};

/** Data sources of the stack, by type. The caller decides which Prometheus is queried. */
const DATASOURCES: Readonly<Record<string, string>> = { prometheus: 'Prometheus', tempo: 'Tempo' };

const chosenOf = (
  { query, includeAll, allValue }: VariableJson,
  type: string,
  said: readonly string[],
  offered: readonly string[],
): Pick<Choice, 'text' | 'value'> => {
  if (type === 'datasource') {
    const name = DATASOURCES[String(query)] ?? String(query);
    return { text: name, value: name };
  }
  if (said.includes(ALL) || (said.length === 0 && includeAll === true)) {
    return { text: 'All', value: allValue ?? joined(offered) };
  }
  const values = said.length > 0 ? said : offered.slice(0, 1);
  return { text: values.join(' + ') || 'None', value: type === 'query' ? joined(values) : values.join(',') };
};

/** The times of one query, in milliseconds: the time range, the step, and the scrape interval. */
export interface Timing {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly scrapeMs: number;
}

/** A query with all of its variables replaced: first Grafana's own, from the times of this query, then the dashboard's. */
export const interpolated = (
  expr: string,
  all: readonly Choice[],
  { fromMs, toMs, stepMs, scrapeMs }: Timing,
): string => {
  const rangeSeconds = Math.round((toMs - fromMs) / 1000);
  const rateMs = rateIntervalMs(stepMs, scrapeMs);
  const timed: Readonly<Record<string, string>> = {
    __interval: duration(stepMs),
    __interval_ms: String(stepMs),
    __rate_interval: duration(rateMs),
    __rate_interval_ms: String(rateMs),
    __range: `${rangeSeconds}s`,
    __range_s: String(rangeSeconds),
    __range_ms: String(rangeSeconds * 1000),
    __from: String(fromMs),
    __to: String(toMs),
  };
  return substitute(
    expr.replaceAll(VARIABLE, (written, braced?: string, bare?: string) => timed[braced ?? bare ?? ''] ?? written),
    {
      rateInterval: duration(rateMs),
      range: `${rangeSeconds}s`,
      variables: Object.fromEntries(all.map(({ name, value }) => [name, value])),
    },
  );
};

/** Text for a reader, such as a panel's title, with variables replaced as Grafana shows them. */
export const readable = (text: string, all: readonly Choice[]): string =>
  text.replaceAll(VARIABLE, (written, braced?: string, bare?: string) => {
    const choice = all.find(({ name }) => name === (braced ?? bare));
    return choice?.text ?? written;
  });
