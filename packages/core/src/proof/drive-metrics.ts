import { expect } from 'vitest';
import { METRIC } from '../index.ts';
import { agentSeries } from '../telemetry/otel-binding.ts';
import { ATTR } from '../telemetry/semconv.ts';
import { allSeries, readUnavailable, type Series } from '../telemetry/series.ts';
import type { Model } from './model.ts';
import { modelMetrics, withdrawn } from './model-metrics.ts';

export const AGENT = 'proof';
export const UNIX_START = 1_700_000_000_000;

/** Times, which outlive their case: only those of this case say something. */
const TIMES = /^openedTime\|/;
const UNAVAILABLE = 'unavailableTime|';
/** Gauges of unavailable circuits. */
const OF_UNAVAILABLE = /^(?:unavailableTime|retryAfterTime|circuitsWaiting|skipsWaiting)\|/;
const STATES = ['open', 'half_open', 'forced_open'];

/** Compares what the metrics have counted since the start of a case. */
export const compareMetrics = (
  model: Model,
  before: ReadonlyMap<string, number>,
  ofModels: Readonly<Record<string, number>>,
): void => {
  const counted: Record<string, number> = {};
  const expected = modelMetrics(model, UNIX_START);
  for (const [key, value] of Object.entries(ofModels)) expected[key] = (expected[key] ?? 0) + value;
  const series = readSeries();
  for (const [key, value] of series) {
    if (OF_UNAVAILABLE.test(key)) continue;
    const change = TIMES.test(key) ? value : value - (before.get(key) ?? 0);
    if (change === 0 || (TIMES.test(key) && !(key in expected))) continue;
    // The model knows no routes, and no names of dependencies and groups.
    const known = key
      .replace('|alternative|unknown', '|defer')
      .replace(/^(systemicEvents\|\w+\|(?:dependency|group)) .*/, '$1');
    counted[known] = (counted[known] ?? 0) + change;
  }
  same(sorted(counted), sorted(expected));
  same(sinceTimes(series), toolsUnavailable(series));
  same(
    withdrawn(model).filter((key) => (series.get(key) ?? 0) !== 0),
    [],
  );
};

/** Circuits of earlier boxes stay in these gauges, so the model does not know since when a tool is unavailable, or waits: metrics.test.ts does. */
const sinceTimes = (series: ReadonlyMap<string, number>): readonly string[] =>
  [...series]
    .flatMap(([key, value]) => (key.startsWith(UNAVAILABLE) && value > 0 ? [key.slice(UNAVAILABLE.length)] : []))
    .sort();

const toolsUnavailable = (series: ReadonlyMap<string, number>): readonly string[] => {
  const tools = [...series].flatMap(([key, value]) => {
    const [name, tool = '', state = ''] = key.split('|');
    return name === 'circuits' && STATES.includes(state) && value > 0 ? [tool] : [];
  });
  return [...new Set(tools)].sort();
};

const sorted = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));

/** O4: what the series know of the cost of failed calls: it outlives boxes too. */
export const costsBefore = (): Model['costs'] => {
  const { tools } = agentSeries(AGENT);
  return new Map(
    [...tools].map(([tool, series]) => [
      tool,
      { tokens: [...allSeries(series, 'tokensWasted')][0]?.value ?? 0, calls: series.costedFailures },
    ]),
  );
};

const keys = new WeakMap<Series, string>();

const keyOf = (name: keyof typeof METRIC, series: Series): string => {
  const { attributes } = series;
  const known = keys.get(series);
  if (known !== undefined) return known;
  const values = [attributes[ATTR.tool], ...METRIC[name].attributes.map((key) => attributes[key])];
  const key = [name, ...values.filter((one) => one !== undefined)].join('|');
  keys.set(series, key);
  return key;
};

/** What the real series behind the metrics say. */
export const readSeries = (): Map<string, number> => {
  const agent = agentSeries(AGENT);
  const all = new Map<string, number>();
  for (const tool of agent.tools.values()) readUnavailable(tool);
  for (const owner of [agent, ...agent.tools.values()]) {
    for (const name of Object.keys(owner.families) as (keyof typeof METRIC)[]) {
      for (const series of allSeries(owner, name)) all.set(keyOf(name, series), series.value);
    }
  }
  return all;
};

/** Equal as JSON: ten times as fast as `toEqual`, which has the last word where they differ. */
export const same = (seen: unknown, expected: unknown): void => {
  if (JSON.stringify(seen) !== JSON.stringify(expected)) expect(seen).toEqual(expected);
};
