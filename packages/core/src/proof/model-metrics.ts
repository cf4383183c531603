import type { Model, ModelBox } from './model.ts';
import { reported } from './model-circuit.ts';

/** What the metrics say: counters from what was counted, gauges from the sessions as they were after their last use. */
export const modelMetrics = (model: Model, unixStart: number): Record<string, number> => {
  const all: Record<string, number> = {};
  const add = (key: string, value: number) => {
    all[key] = (all[key] ?? 0) + value;
  };
  for (const [key, value] of model.counted) {
    if (!/^openedTime\|/.test(key)) add(key, value);
    else if (!Number.isNaN(value)) add(key, (unixStart + value) / 1000);
  }
  const shared = new Set<ModelBox>();
  for (const { real, consumedBefore, live, home, box, shown } of model.sessions) {
    if (home.steps) shared.add(box);
    add('budgetConsumed', real.by.consumed - consumedBefore);
    if (!live) continue;
    add('budgetLimit', real.by.limit);
    add('budgetRemaining', shown.remaining);
    add(`sessions|${shown.state}`, 1);
    if (home.steps) continue;
    if (shown.event) add('systemicActive', 1);
    for (const circuit of home.circuits) add(`circuits|${circuit.tool}|${reported(circuit)}`, 1);
  }
  // C12: shared circuits are their box's, and stay when sessions go.
  for (const { shared: home } of shared) {
    if (home?.real.event) add('systemicActive', 1);
    for (const circuit of home?.circuits ?? []) add(`circuits|${circuit.tool}|${reported(circuit)}`, 1);
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== 0));
};

/** C15: openings of tools whose group has taken their place since. */
export const withdrawn = ({ counted }: Model): readonly string[] =>
  [...counted].filter(([, value]) => Number.isNaN(value)).map(([key]) => key);
