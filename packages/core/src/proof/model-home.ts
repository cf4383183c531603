import type { CircuitMode } from '../index.ts';
import type { Model, ModelBox, ModelHome, ModelPermit, ModelSession } from './model.ts';
import type { Budget } from './model-budget.ts';
import { type ModelCircuit, newCircuit } from './model-circuit.ts';
import { copyOfBudget, copyOfCorrelation } from './model-copy.ts';
import type { Correlating, Correlation } from './model-correlation.ts';
import { covering } from './model-wanted.ts';
import { gateRulesOf, groupRulesOf, inOneWindow, type Rules, rulesOf } from './rules.ts';

const GROUP = 'group:';

/** C13: the name of a tool's group as a circuit. */
export const groupOf = ({ groups }: ModelBox, tool: string): string | undefined => {
  const group = groups.get(tool);
  return group === undefined ? undefined : `${GROUP}${group}`;
};

/** The same, and a group is its own. */
const groupFor = (box: ModelBox, name: string): string | undefined =>
  name.startsWith(GROUP) ? name : groupOf(box, name);

/** The tools of a group, by its name as a circuit. */
export const membersOf = (box: ModelBox, group: string): readonly string[] =>
  [...box.groups.keys()].filter((tool) => groupOf(box, tool) === group);

/** Whether a name is that of a declared tool, or of a group that has one. */
export const isKnown = (box: ModelBox, name: string): boolean => box.tools.has(name) || membersOf(box, name).length > 0;

/** C18: the rules of a tool, for a session that may have settings of its own; undefined for one that is not declared. */
export const rulesOfTool = (
  { config, undeclared }: Model,
  { box, tools }: ModelSession,
  tool: string,
): Rules | undefined => {
  const own = tools[tool];
  const known = box.tools.get(tool);
  if (own === undefined || known === undefined) return known;
  const { failureThreshold, cooldownMs, maxCooldownMs, ...rest } = config.tools?.[tool] ?? {};
  const base = own.profile === undefined ? config.tools?.[tool] : rest;
  return rulesOf({ ...base, ...own }, undeclared.mode, config.scope);
};

const rulesOfCircuit = (model: Model, session: ModelSession, name: string): Rules | undefined => {
  if (!name.startsWith(GROUP)) return rulesOfTool(model, session, name);
  const { box } = session;
  const group = name.slice(GROUP.length);
  return box.groupRules.get(group) ?? groupRulesOf({}, model.undeclared.mode, model.config.scope);
};

/** C2, C13: the circuit of a tool that is used, and right before it the one of its group. */
export const circuitOf = (model: Model, session: ModelSession, tool: string): ModelCircuit | undefined => {
  if (!session.box.keepsCircuits || !isKnown(session.box, tool)) return undefined; // B5
  return knownCircuit(session.home, tool) ?? usedCircuit(model, session, tool);
};

/** The same for a tool that is called: an adapter may have named its group since. */
export const usedCircuit = (model: Model, session: ModelSession, tool: string): ModelCircuit | undefined => {
  if (!session.box.keepsCircuits || !isKnown(session.box, tool)) return undefined;
  const group = groupOf(session.box, tool);
  if (group !== undefined) ownCircuit(model, session, group);
  return ownCircuit(model, session, tool);
};

const ownCircuit = (model: Model, session: ModelSession, name: string): ModelCircuit | undefined => {
  const known = knownCircuit(session.home, name);
  const rules = rulesOfCircuit(model, session, name);
  if (known !== undefined || rules === undefined) return known;
  const circuit = session.kept.find((one) => one.tool === name) ?? newCircuit(name, rules);
  session.kept = session.kept.filter((one) => one !== circuit);
  session.home.circuits.push(circuit);
  covering(model, session.box, session.home, circuit);
  if (circuit.mode === 'observe_only') startDryRun(session);
  return circuit;
};

export const knownCircuit = ({ circuits }: ModelHome, name: string): ModelCircuit | undefined =>
  circuits.find((one) => one.tool === name);

/** Who decides for a tool: its circuit, or its configuration if it has no circuit. */
export const modeOf = (
  model: Model,
  session: ModelSession,
  tool: string,
  circuit: ModelCircuit | undefined,
): CircuitMode => (circuit ?? rulesOfTool(model, session, tool) ?? model.undeclared).mode;

/** The same as the next call of the tool would find it. */
export const nextMode = (model: Model, session: ModelSession, tool: string): CircuitMode => {
  const rules = rulesOfTool(model, session, tool) ?? model.undeclared;
  return (nextCircuit(model, session, tool) ?? rules).mode;
};

/** The circuit of a tool or group as the next call would find it. */
export const nextCircuit = (model: Model, session: ModelSession, name: string): ModelCircuit | undefined => {
  const known = knownCircuit(session.home, name);
  const rules = rulesOfCircuit(model, session, name);
  if (known !== undefined || rules === undefined || !session.box.keepsCircuits) return known;
  const circuit = newCircuit(name, rules);
  covering(model, session.box, { ...session.home, keys: [], keyGenerations: new Map() }, circuit); // It is not kept.
  return circuit;
};

/** C1: the dryRun begins with all that has happened so far. */
export const startDryRun = (session: ModelSession): void => {
  const apart = (gate: ModelCircuit): ModelCircuit => ({ ...gate, results: [...gate.results], probing: [] });
  session.home.dryRun ??= copyOfCorrelation(session.home.real, apart);
  session.dryRun ??= copyOfBudget(session.real);
};

/** C13: whether the calls of a tool count in a group. What is only observed counts where nothing is decided. */
export const feeds = (group: ModelCircuit, mode: CircuitMode): boolean =>
  group.mode === 'automatic' ? mode === 'automatic' : group.mode === 'observe_only' && isCounting(mode);

const isCounting = (mode: CircuitMode): boolean => mode === 'automatic' || mode === 'observe_only';

/** A correlation, the budget that goes by it, and whether they are what decides. */
export interface Side {
  readonly correlation: Correlation;
  /** C12: undefined where another session observes a tool, and this one does not. */
  readonly budget: Budget | undefined;
  readonly isReal: boolean;
}

/** What hears of a tool: of what is only observed the dryRun alone (C1). */
export const sidesOf = ({ home, real, dryRun }: ModelSession, observed: boolean): readonly Side[] => [
  ...(observed ? [] : [{ correlation: home.real, budget: real, isReal: true }]),
  ...(home.dryRun ? [{ correlation: home.dryRun, budget: dryRun, isReal: false }] : []),
];

/** What decides about a tool. */
export const deciding = ({ home, real, dryRun = real }: ModelSession, observed: boolean) =>
  observed ? { correlation: home.dryRun ?? home.real, budget: dryRun } : { correlation: home.real, budget: real };

/** What correlation depends on; undefined where failures are never taken as one event. */
export const correlating = ({ systemic, config }: Model, { box, home }: ModelSession): Correlating | undefined =>
  systemic && {
    rules: systemic,
    // C12: steps of many sessions say nothing of what belongs together.
    within: (from, to) => inOneWindow(systemic, from, home.steps === undefined ? to : { ms: to.ms, step: 0 }),
    withinTwice: (from, to) =>
      inOneWindow(
        { windowSteps: systemic.sameCategorySteps, windowMs: systemic.windowMs * 2 },
        from,
        home.steps === undefined ? to : { ms: to.ms, step: 0 },
      ),
    common: (tools) => inCommon(config.tools ?? {}, box, tools),
    dependency: (one, other) => inCommon(config.tools ?? {}, box, [one, other]) === 'dependency',
    isAlternative: (tool, of) =>
      Object.entries(config.tools ?? {}).some(
        ([name, { alternatives = [] }]) =>
          alternatives.some((one) => one.tool === tool) && (name === of || groupFor(box, name) === of),
      ),
    opensAtOnce: (tool) => knownCircuit(home, tool)?.rules.failureThreshold === 1,
    groupOf: (name) => groupFor(box, name),
    isShared: home.steps !== undefined,
    gate: gateRulesOf(systemic),
  };

type Tools = NonNullable<Model['config']['tools']>;

/** S1, S4: what all of these have in common. */
const inCommon = (tools: Tools, box: ModelBox, names: readonly string[]): 'dependency' | 'group' | undefined => {
  const [first = new Set<string>(), ...others] = names.map((name) => basisOf(tools, name));
  if ([...first].some((one) => others.every((basis) => basis.has(one)))) return 'dependency';
  const [group, ...groups] = names.map((name) => groupFor(box, name));
  return group !== undefined && groups.every((one) => one === group) ? 'group' : undefined;
};

/** A tool, and all that it depends on. */
const basisOf = (tools: Tools, name: string): ReadonlySet<string> => {
  const basis = new Set([name]);
  for (const one of basis) for (const other of tools[one]?.dependsOn ?? []) basis.add(other); // It grows as it is walked.
  return basis;
};

/** S2: whether an event concerns a tool: one of its own, a member of a group of it, or what depends on one of those. */
export const isAffected = ({ config }: Model, { box }: ModelSession, { event }: Correlation, tool: string): boolean => {
  const own = (event?.openings ?? []).flatMap((one) => [one.tool, ...membersOf(box, one.tool)]);
  const basis = basisOf(config.tools ?? {}, tool);
  return own.some((one) => basis.has(one));
};

/** Probes that hang (C9), the one whose lease ended first. */
export const firstHung = ({ probes }: ModelHome, ms: number): ModelPermit | undefined =>
  [...probes].filter(({ leaseMs = 0 }) => leaseMs <= ms).sort((a, b) => (a.leaseMs ?? 0) - (b.leaseMs ?? 0))[0];
