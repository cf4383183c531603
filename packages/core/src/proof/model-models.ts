import type { Model, ModelBox, ModelPermit, ModelSession } from './model.ts';
import { newBox, newModel } from './model.ts';
import { modelMetrics } from './model-metrics.ts';
import { newSession } from './model-sessions.ts';
import { groupRulesOf, modelRulesOf } from './rules.ts';

/** L2: the models of all boxes of an agent. The engine's rules hold for them, and those that are about runs do not. */
export const newModels = (tools: Model): Model => {
  const { agent } = tools.config;
  const apart = newModel(
    { agent, scope: 'process', systemic: false, budget: false, loopGuard: false },
    tools.costs,
    new Map(),
  );
  return Object.defineProperty({ ...apart, told: tools.told }, 'ms', { get: () => tools.ms, enumerable: true });
};

/** The session that has the circuits of a box's models. */
export const newModelSession = (models: Model): ModelSession => newSession(models, newBox(models), 'models');

/** L2: a model has a fallback if another one is behind it in any list. Its group is its provider: `PROVIDER/MODEL`. */
export const listModels = (tools: Model, { box, home }: ModelSession, list: readonly string[]): void => {
  for (const [index, short] of list.entries()) {
    const name = `model:${short}`;
    const [provider = ''] = short.split('/');
    const hasFallback = index < list.length - 1;
    const group = `model:${provider}`;
    box.groups.set(name, group);
    box.groupRules.set(group, groupRulesOf(tools.config.groups?.[group] ?? {}, 'automatic', 'process'));
    if (box.tools.has(name) && !hasFallback) continue;
    const rules = modelRulesOf(tools.config.models?.[short] ?? {}, hasFallback);
    box.tools.set(name, rules);
    follow(home, name, rules);
  }
};

/** The threshold changes while the circuit lives, also beneath the mode of an operator. */
const follow = ({ circuits, keys }: ModelSession['home'], name: string, rules: ReturnType<typeof modelRulesOf>) => {
  const circuit = circuits.find((one) => one.tool === name);
  const ofKeys = [...keys.filter(({ tool }) => tool === name), ...(circuit?.covered?.keys ?? [])];
  for (const { circuit: one } of ofKeys) one.rules = rules.keys ?? rules;
  if (circuit?.covered) circuit.covered.circuit.rules = rules;
  if (circuit) circuit.rules = rules;
};

/** C9, L4: an adapter waits longer for a probe than its lease says. */
export const extend = ({ ms }: Model, permit: ModelPermit, forMs: number): void => {
  if (permit.leaseMs !== undefined) permit.leaseMs = Math.max(permit.leaseMs, ms + forMs);
};

/** L7: circuits and calls of models are in the metrics of tools. Their session is in no metric, because it is not a run. */
export const metricsOfModels = (models: Model, unixStart: number): Record<string, number> =>
  Object.fromEntries(
    Object.entries(modelMetrics(models, unixStart)).filter(([key]) =>
      /^(operatorActions|[a-z]+\|(group:)?model:)/i.test(key),
    ),
  );

export const isOfModels = (box: ModelBox, name: string): boolean =>
  box.tools.has(name) || [...box.groups.values()].includes(name.slice('group:'.length));
