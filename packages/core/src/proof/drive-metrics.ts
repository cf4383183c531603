import { expect } from 'vitest';
import { METRIC } from '../index.ts';
import { agentCells } from '../telemetry/hub.ts';
import { AGENT_READINGS, type Cell, TOOL_READINGS } from '../telemetry/metrics.ts';
import { ATTR } from '../telemetry/semconv.ts';
import type { Model } from './model.ts';
import { modelMetrics, withdrawn } from './model-metrics.ts';

export const AGENT = 'proof';
export const UNIX_START = 1_700_000_000_000;

const OPENED = 'openedTime|';

/** Compares what the metrics have counted since the start of a case. */
export const compareMetrics = (model: Model, before: ReadonlyMap<string, number>): void => {
  const counted: Record<string, number> = {};
  const expected = modelMetrics(model, UNIX_START);
  const cells = readCells();
  for (const [key, value] of cells) {
    const change = key.startsWith(OPENED) ? value : value - (before.get(key) ?? 0);
    // The time of an opening outlives its case: only those of this case say something.
    if (change !== 0 && (!key.startsWith(OPENED) || key in expected)) counted[key] = change;
  }
  same(sorted(counted), sorted(expected));
  same(
    withdrawn(model).filter((key) => (cells.get(key) ?? 0) !== 0),
    [],
  );
};

const sorted = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));

/** O4: what the cells know of the cost of failed calls: it outlives boxes too. */
export const costsBefore = (): Model['costs'] => {
  const { tools } = agentCells(AGENT);
  return new Map(
    [...tools].map(([tool, one]) => [tool, { tokens: one.tokensWasted.value, calls: one.costedFailures.value }]),
  );
};

const keys = new WeakMap<Cell, string>();

const keyOf = (name: keyof typeof METRIC, cell: Cell): string => {
  const { attributes } = cell;
  const known = keys.get(cell);
  if (known !== undefined) return known;
  const values = [attributes[ATTR.tool], ...METRIC[name].attributes.map((key) => attributes[key])];
  const key = [name, ...values.filter((one) => one !== undefined)].join('|');
  keys.set(cell, key);
  return key;
};

/** What the real cells behind the metrics say. */
export const readCells = (): Map<string, number> => {
  const cells = agentCells(AGENT);
  const all = new Map<string, number>();
  const read = (name: keyof typeof METRIC, some: Iterable<Cell>) => {
    for (const cell of some) all.set(keyOf(name, cell), cell.value);
  };
  for (const [name, of] of Object.entries(AGENT_READINGS)) read(name as keyof typeof AGENT_READINGS, of(cells));
  for (const tool of cells.tools.values()) {
    for (const [name, of] of Object.entries(TOOL_READINGS)) read(name as keyof typeof TOOL_READINGS, of(tool));
  }
  return all;
};

/** Equal as JSON: ten times as fast as `toEqual`, which has the last word where they differ. */
export const same = (seen: unknown, expected: unknown): void => {
  if (JSON.stringify(seen) !== JSON.stringify(expected)) expect(seen).toEqual(expected);
};
