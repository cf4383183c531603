/** Runs the rules with promtool over the metrics of simulated processes. Checks which alerts fire and when, and that no other does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { parse } from 'yaml';
import { runTool } from '../../stack/tools.ts';
import { namesIn } from '../promql-names.ts';
import { type PrometheusRule, ruleFiles } from '../src/prometheus.ts';
import type { RuleOptions } from '../src/rules.ts';
import { SimulatedProcess } from './process.ts';

// promtool uses most of the time. Two runs at a time, because CI has two cores. Rare garbage collection saves a fifth.
vi.setConfig({ maxConcurrency: 2 });
process.env.GOGC ??= '400';

/** An alert that must fire, in seconds: silent until `after`, firing from `by` until `until`, silent from `gone` on. */
export interface Firing {
  /** The name without the prefix. */
  readonly alert: string;
  readonly scope?: string;
  /** How many instances fire. Default 1. */
  readonly count?: number;
  readonly after: number;
  readonly by: number;
  /** Default: to the end. */
  readonly until?: number;
  readonly gone?: number;
}

/** What happens in one second to the processes of the scenario. */
export type Second = (now: number, ...processes: SimulatedProcess[]) => void;

export interface Scenario {
  /** Seconds. */
  readonly lasts: number;
  /** Seconds between two scrapes, and between two evaluations. */
  readonly interval: number;
  /** Seconds between two evaluations, if it differs from the scrape interval. */
  readonly evaluation?: number;
  /** Default: one process of agent `a` with one tool, `t`. */
  readonly processes?: readonly SimulatedProcess[];
  /** How many sessions each process that is up starts with. Default 1. */
  readonly sessions?: number;
  /** Whether the scrape at this second fails. */
  missed?(now: number): boolean;
  /** Whether series end without staleness markers, as with OTLP. Default: false, as with a scrape. */
  readonly pushed?: boolean;
  readonly firing?: readonly Firing[];
  /** The exact labels and texts of alerts. */
  readonly says?: readonly Text[];
  /** Queries that must have no result at any time. */
  readonly never?: readonly string[];
  readonly options?: RuleOptions;
  /** Only these alerts and the rules that they read, because all 45 rules take time at each second. Default: all. */
  readonly of?: readonly string[] | undefined;
  readonly externalLabels?: Readonly<Record<string, string>>;
  /** How many orders of the groups to run. Default: both at 60 s, because one evaluation more or less is a minute there. */
  readonly orders?: number;
}

/** What an alert says at a second: all its labels besides its name, and its texts. */
export interface Text {
  readonly at: number;
  /** The name without the prefix. */
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
  /** The link to the dashboard, without its time range: `began` says it. */
  readonly dashboard: string;
  /** When the trouble began, for alerts that say it. */
  readonly began?: string;
  /** When the alert was first true, if `began` does not say when the trouble began. */
  readonly first?: string;
}

/** The samples of all scrapes by series, in promtool's notation. */
const recorded = (
  { lasts, interval, processes = [new SimulatedProcess()], sessions = 1, missed, pushed }: Scenario,
  second: Second,
): Map<string, string[]> => {
  for (const one of processes) if (one.read().size > 0) one.begin(sessions);
  const seen = new Map<string, string[]>();
  const scrapes = Math.floor(lasts / interval) + 1;
  let now = 0;
  for (let index = 0; index < scrapes; index += 1) {
    for (; now <= index * interval; now += 1) second(now, ...processes);
    const values = new Map(missed?.(index * interval) ? [] : processes.flatMap((one) => [...one.read()]));
    for (const [series, value] of values) {
      const samples = seen.get(series) ?? [];
      while (samples.length < index) samples.push('_');
      samples.push(String(value));
      seen.set(series, samples);
    }
    for (const [series, samples] of seen) {
      if (values.has(series)) continue;
      samples.push(pushed || !/^-?\d/.test(samples.at(-1) ?? '') ? '_' : 'stale');
      seen.set(series, samples);
    }
  }
  return seen;
};

/** `1 1 1` as `1x2`, promtool's notation for repetition, which keeps the files small. */
const compact = (samples: readonly string[]): string => {
  const runs: { value: string; more: number }[] = [];
  for (const value of samples) {
    const last = runs.at(-1);
    if (last?.value === value && value !== 'stale') last.more += 1;
    else runs.push({ value, more: 0 });
  }
  return runs
    .map(({ value, more }) => (more === 0 ? value : value === '_' ? `_x${more + 1}` : `${value}x${more}`))
    .join(' ');
};

/** The input of promtool for the scenario. */
export const seriesOf = (scenario: Scenario, second: Second): { series: string; values: string }[] =>
  [...recorded(scenario, second)].map(([series, samples]) => ({ series, values: compact(samples) }));

const idOf = ({ alert, scope }: Pick<Firing, 'alert' | 'scope'>): string =>
  `Breakerbox${alert}${scope ? `/${scope}` : ''}`;

/** The evaluations to check: all, or one in ten seconds if there are very many. */
const moments = ({ lasts, interval, evaluation = interval }: Scenario): number[] => {
  const step = Math.max(evaluation, evaluation * Math.ceil(10 / evaluation));
  return Array.from({ length: Math.floor(lasts / step) + 1 }, (_, index) => index * step);
};

/** The alerts that must fire at each evaluation. An alert that may start or end there is left out. */
const expectations = (scenario: Scenario) =>
  moments(scenario).map((now) => {
    const { firing = [], lasts } = scenario;
    const state = firing.map((one) => {
      const { after, by, until = lasts, gone = until } = one;
      const silent = now < after || now > gone || (now === gone && gone > until);
      return { id: idOf(one), count: one.count ?? 1, silent, certain: silent || (now >= by && now <= until) };
    });
    const open = state.filter(({ certain }) => !certain).map(({ id }) => id);
    const fires = state.filter(({ id, silent, certain }) => certain && !silent && !open.includes(id));
    const named = `label_join(ALERTS{alertstate="firing"}, "id", "/", "alertname", "scope")`;
    const trimmed = `label_replace(${named}, "id", "$1", "id", "(.*)/")`;
    const without =
      open.length === 0
        ? trimmed
        : `(${trimmed} unless on (id) (${open.map((id) => `label_replace(vector(1), "id", "${id}", "", "")`).join(' or ')}))`;
    return {
      expr: `count by (id) (${without})`,
      eval_time: `${now}s`,
      exp_samples: fires.map(({ id, count }) => ({ labels: `{id="${id}"}`, value: count })),
    };
  });

const neverAnswered = (scenario: Scenario) =>
  (scenario.never ?? []).flatMap((expr) =>
    moments(scenario).map((now) => ({ expr, eval_time: `${now}s`, exp_samples: [] })),
  );

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly PrometheusRule[] }[];
}

const parsed = new Map<string, { name: string; file: RuleFile }[]>();

/** All rules, generated once per options. */
const rulesBy = (options: RuleOptions | undefined): { name: string; file: RuleFile }[] => {
  const key = JSON.stringify(options ?? {});
  const found =
    parsed.get(key) ?? ruleFiles(options).map(({ name, text }) => ({ name, file: parse(text) as RuleFile }));
  parsed.set(key, found);
  return found;
};

/** The rules as files that promtool reads (JSON is YAML): all, or those that the given alerts need. */
export const filesOf = ({ options, of }: Scenario): { name: string; text: string }[] => {
  const files = rulesBy(options);
  const rules = files.flatMap(({ file }) => file.groups.flatMap((group) => group.rules));
  const needed = new Set<PrometheusRule>();
  const need = (rule: PrometheusRule): void => {
    if (needed.has(rule)) return;
    needed.add(rule);
    const { metrics } = namesIn(rule.expr);
    const texts = Object.values(rule.annotations ?? {}).join();
    for (const other of rules)
      if (other.record !== undefined && (metrics.has(other.record) || texts.includes(other.record))) need(other);
  };
  for (const rule of rules) if (of === undefined || of.some((name) => rule.alert === `Breakerbox${name}`)) need(rule);
  return files.map(({ name, file }) => ({
    name,
    text: JSON.stringify({
      groups: file.groups.map((group) => ({ ...group, rules: group.rules.filter((rule) => needed.has(rule)) })),
    }),
  }));
};

/** Prometheus runs groups in parallel: alerts see a recorded series at once or one evaluation later. Both must work. */
/** The groups of recording rules, in the order in which they read one another. */
export const RECORDING = ['', '.1m', '.2m', '.15m', '.4m']
  .map((every) => `breakerbox.recording${every}`)
  .concat(
    ['correlation.1m', 'correlation', 'overview', 'overview.1m', 'overview.2m', 'overview.4m'].map(
      (name) => `breakerbox.${name}`,
    ),
  );
export const ALERTS = ['breakerbox.alerts', 'breakerbox.alerts.1m'];
const ORDERS = [
  [...RECORDING, ...ALERTS],
  [...ALERTS, ...RECORDING.toReversed()],
];

const RUNBOOKS = 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks';

/** Tests begin in 1970. The link begins a quarter of an hour before the trouble did, or the alert, or else six hours ago. */
const rangeFrom = (at: number, began = ''): string => {
  const from =
    began === '' ? Math.floor(at / 60) * 60 - 6 * 3600 : Date.parse(began.replace(' UTC', ' 1970 UTC')) / 1000 - 900;
  return `from=${from}000&to=now`;
};

const saying = ({ at, alert, labels, summary, description, dashboard, began, first }: Text) => {
  const links = {
    runbook_url: `${RUNBOOKS}/Breakerbox${alert}.md`,
    dashboard_url: `${dashboard}&${rangeFrom(at, began === '' ? first : (began ?? first))}`,
  };
  const annotations = { summary, description, ...links, console_url: '', ...(began !== undefined && { began }) };
  return {
    eval_time: `${at}s`,
    alertname: `Breakerbox${alert}`,
    exp_alerts: [{ exp_labels: labels, exp_annotations: annotations }],
  };
};

/** Runs a test of promtool for each order of the groups, with these rules. */
export async function promtool(
  rules: readonly { readonly name: string; readonly text: string }[],
  orders: readonly (readonly string[])[],
  evaluation: number,
  test: object,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-rules-'));
  try {
    for (const { name, text } of rules) writeFileSync(join(folder, name), text);
    const runs = orders.map((group_eval_order, index) => {
      const file = join(folder, `${index}.test.yml`);
      const rule_files = rules.map(({ name }) => name);
      const document = { rule_files, evaluation_interval: `${evaluation}s`, group_eval_order, tests: [test] };
      writeFileSync(file, JSON.stringify(document));
      return runTool('promtool', ['test', 'rules', file]);
    });
    for (const { code, output } of await Promise.all(runs)) {
      const found = output.replaceAll(/expr: "count by \(id\).*?", time:/g, 'firing at').slice(0, 4000);
      expect(code === 0, found).toBe(true);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a scenario, and checks that exactly its alerts fire. */
export const run = (scenario: Scenario, second: Second = () => undefined): Promise<void> => {
  const { interval, evaluation = interval, orders = evaluation === 60 ? 2 : 1 } = scenario;
  return promtool(filesOf(scenario), ORDERS.slice(0, orders), evaluation, {
    interval: `${interval}s`,
    input_series: seriesOf(scenario, second),
    external_labels: scenario.externalLabels ?? {},
    promql_expr_test: [...expectations(scenario), ...neverAnswered(scenario)],
    alert_rule_test: (scenario.says ?? []).map(saying),
  });
};

const WANTED = (process.env.BREAKERBOX_ALERT_INTERVALS ?? '1,15,60').split(',').map(Number);

/** Of these intervals, those that this run tests: `npm test` leaves out some, which `npm run test:all` adds. */
export const wanted = (...intervals: readonly number[]): readonly number[] =>
  intervals.filter((one) => WANTED.includes(one));

/** Intervals at which every alert must work: a demonstration's, the usual one, and the longest. */
export const INTERVALS = wanted(1, 15, 60);

/** At 60 s with all rules, so that no other alert fires. At shorter intervals with the rules that the alerts read, to save time. */
export const among = (interval: number, ...alerts: readonly string[]): readonly string[] | undefined =>
  interval === 60 ? undefined : alerts;
