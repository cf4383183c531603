import { type CircuitView, type Decision, REASONS, type Reason } from '../index.ts';
import { circuitNow, type Model, type ModelBox, type ModelPermit, type ModelSession, modeOf } from './model.ts';
import { caution, eventReport, granted, left, stateOf, tokensLeft, waiting } from './model-account.ts';
import { failuresInARow, type ModelCircuit, reported, waits } from './model-circuit.ts';

/** C1: what the reasons of an observed tool stand for. */
const wouldDecide = (reason: Reason): Decision => {
  if (reason === 'would_skip') return 'skip';
  return reason === 'would_pause' ? 'pause' : REASONS[reason];
};

/** What a permit shows right after the decision. */
export const permitOf = (permit: ModelPermit, model: Model) => {
  const { decision, reason, circuit, session, tool } = permit;
  const mode = modeOf(model, session, tool, circuit);
  return {
    decision,
    reason,
    caution: caution(session.real),
    state: circuit && reported(circuit),
    observed: mode === 'observe_only' ? wouldDecide(reason) : undefined,
    budgetRemaining: left(session.real),
    words: decision === 'skip' || decision === 'pause',
  };
};

const circuitView = (model: Model, session: ModelSession, circuit: ModelCircuit): CircuitView => ({
  tool: circuit.tool,
  state: reported(circuit),
  generation: circuit.generation,
  failures: circuit.state === 'closed' ? failuresInARow(circuit).length : 0,
  category: circuit.category,
  trip: circuit.trip,
  openForMs: circuit.state === 'closed' ? undefined : model.ms - circuit.openedAt.ms,
  nextProbe:
    circuit.state === 'open'
      ? waits(circuit, circuitNow(model, session).when, circuitNow(model, session).stepMs)
      : undefined,
});

/** What `session.view()` shows. */
export const viewOf = (model: Model, session: ModelSession) => {
  const { real, id, step, home } = session;
  return {
    id,
    agent: model.config.agent,
    state: stateOf(real),
    step,
    budget: {
      limit: real.limit,
      cycle: real.cycle,
      remaining: left(real),
      granted: granted(real),
      consumed: real.consumed,
      tokensRemaining: tokensLeft(real),
      provisional: waiting(real),
    },
    circuits: home.circuits.map((one) => circuitView(model, session, one)),
    systemic: real.event && eventReport(real.event),
  };
};

/** What the metrics say: counters from what was counted, gauges and budget from the sessions as they are. */
export const modelMetrics = (model: Model, unixStart: number): Record<string, number> => {
  const all: Record<string, number> = {};
  const add = (key: string, value: number) => {
    all[key] = (all[key] ?? 0) + value;
  };
  for (const [key, value] of model.counted) {
    add(key, key.startsWith('openedTime|') ? (unixStart + value) / 1000 : value);
  }
  const shared = new Set<ModelBox>();
  for (const { real, before, ended, home, box } of model.sessions) {
    if (home.board) shared.add(box);
    add('budgetGranted', granted(real) - before.granted);
    add('budgetConsumed', real.consumed - before.consumed);
    if (ended) continue;
    add(`sessions|${stateOf(real)}`, 1);
    if (home.board) continue;
    for (const circuit of home.circuits) add(`circuits|${circuit.tool}|${reported(circuit)}`, 1);
  }
  // C12: shared circuits are their box's, and stay when sessions go.
  for (const { shared: home } of shared) {
    for (const circuit of home?.circuits ?? []) add(`circuits|${circuit.tool}|${reported(circuit)}`, 1);
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== 0));
};
