import type { Model, ModelHome, ModelSession } from './model.ts';
import { type ModelCircuit, newCircuit } from './model-circuit.ts';

/** What the settings of the session (C18) or of the box say of the key. */
export const keySetting = ({ config }: Model, { tools, box }: ModelSession, tool: string) =>
  (box.tools.has(tool) ? tools[tool]?.key : undefined) ?? config.tools?.[tool]?.key;

/** C14: the key of a call: what the tool's configuration says, or else the adapter. */
export const keyNamed = (
  model: Model,
  session: ModelSession,
  tool: string,
  input: string | undefined,
  hint: string | undefined,
): string | undefined => {
  const own = keySetting(model, session, tool);
  if (own === false) return undefined;
  if (own === undefined) return hint;
  return input === undefined ? undefined : own(input);
};

/** C14: the circuit of a key; one that was not blamed yet is closed, and shown nowhere. */
export const keyCircuit = (home: ModelHome, { tool, rules, mode }: ModelCircuit, key: string): ModelCircuit => {
  const known = home.keys.find((one) => one.tool === tool && one.key === key);
  if (known !== undefined) return known.circuit;
  const circuit = newCircuit(tool, rules.keys ?? rules);
  circuit.mode = mode;
  circuit.generation = home.keyGenerations.get(tool) ?? 0;
  home.keys.push({ tool, key, circuit, blamed: false });
  return circuit;
};

/** C14: a failure counts for the key. */
export const blame = (home: ModelHome, tool: string, key: string | undefined): void => {
  if (!home.keyGenerations.has(tool)) home.keyGenerations.set(tool, 0);
  for (const one of home.keys) if (one.tool === tool && one.key === key) one.blamed = true;
};

/** C1, C7: a tool in an operator's hands begins without keys, and calls under way are late for those that come. */
export const forgetKeys = (home: ModelHome, tool: string): void => {
  const own = home.keys.filter((one) => one.tool === tool);
  home.keys = home.keys.filter((one) => one.tool !== tool);
  const generation = home.keyGenerations.get(tool);
  if (generation === undefined) return;
  const generations = own.filter(({ blamed }) => blamed).map(({ circuit }) => circuit.generation);
  home.keyGenerations.set(tool, Math.max(generation, ...generations) + 1);
};

export const openKeys = ({ keys }: ModelHome, tool: string): number =>
  keys.filter((one) => one.tool === tool && one.circuit.state !== 'closed').length;
