import type { Layer, ModelHome, ModelPermit, ModelSession } from './model.ts';
import type { Budget } from './model-budget.ts';
import type { ModelCircuit } from './model-circuit.ts';
import type { Correlation } from './model-correlation.ts';
import { copyOfRun } from './model-run.ts';

/**
 * A copy of a session to look ahead with (C11), and of all that it may change: its circuits, the probes of other sessions among
 * them, and the scores of its box. What is one object there is one object here.
 */
export const copyOfSession = (session: ModelSession): ModelSession => copier(session.home)(session);

const copier = (home: ModelHome): ((session: ModelSession) => ModelSession) => {
  const circuits = new Map<ModelCircuit, ModelCircuit>();
  const circuit = (one: ModelCircuit): ModelCircuit => {
    const known = circuits.get(one) ?? {
      ...one,
      results: [...one.results],
      keyRow: [...one.keyRow],
      probing: [...one.probing],
    };
    circuits.set(one, known);
    return known;
  };
  const copiedHome: ModelHome = {
    circuits: home.circuits.map(circuit),
    keys: home.keys.map((one) => ({ ...one, circuit: circuit(one.circuit) })),
    keyGenerations: new Map(home.keyGenerations),
    probes: [],
    underWay: [...home.underWay],
    real: copyOfCorrelation(home.real, circuit),
    dryRun: home.dryRun && copyOfCorrelation(home.dryRun, circuit),
    steps: home.steps && { ...home.steps },
    fleetEvent: home.fleetEvent,
    fleetEndedMs: home.fleetEndedMs,
  };
  const sessions = new Map<ModelSession, ModelSession>();
  const session = (one: ModelSession): ModelSession => {
    const known = sessions.get(one) ?? ownCopy(one, copiedHome, circuit);
    sessions.set(one, known);
    return known;
  };
  const layer = (one: Layer | undefined) => one && { ...one, circuit: circuit(one.circuit) };
  const permit = (one: ModelPermit): ModelPermit => ({
    ...one,
    session: session(one.session),
    circuit: one.circuit && circuit(one.circuit),
    group: layer(one.group),
    own: layer(one.own),
    key: layer(one.key),
    gate: layer(one.gate),
  });
  copiedHome.probes = home.probes.map(permit);
  return session;
};

const ownCopy = (
  session: ModelSession,
  home: ModelHome,
  circuit: (one: ModelCircuit) => ModelCircuit,
): ModelSession => ({
  ...session,
  home,
  box: { ...session.box, scores: new Map(session.box.scores), wishes: new Map(session.box.wishes) },
  kept: session.kept.map(circuit),
  run: copyOfRun(session.run),
  real: copyOfBudget(session.real),
  dryRun: session.dryRun && copyOfBudget(session.dryRun),
});

export const copyOfCorrelation = (
  { gate, ...correlation }: Correlation,
  circuit: (one: ModelCircuit) => ModelCircuit,
): Correlation => ({ ...correlation, openings: [...correlation.openings], gate: gate && circuit(gate) });

export const copyOfBudget = (budget: Budget): Budget => {
  const { by } = budget;
  if (by.rule === 'window') return { ...budget, by: { ...by, charges: [...by.charges], spent: [...by.spent] } };
  return { ...budget, by: { ...by, failures: by.failures.map((one) => ({ ...one })) } };
};
