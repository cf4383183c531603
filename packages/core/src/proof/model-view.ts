import { type CircuitView, type Decision, REASONS, type Reason } from '../index.ts';
import { circuitNow, type Model, type ModelPermit, type ModelSession } from './model.ts';
import { caution, left, tokensLeft, waiting } from './model-budget.ts';
import { arrive } from './model-calls.ts';
import { failuresInARow, type ModelCircuit, reported, waits } from './model-circuit.ts';
import { copyOfSession } from './model-copy.ts';
import { eventReport } from './model-correlation.ts';
import { decide } from './model-decide.ts';
import { isGrantedOutside } from './model-fleet.ts';
import { firstHung, groupOf, knownCircuit, modeOf, nextCircuit } from './model-home.ts';
import { keyCircuit, keyNamed, openKeys } from './model-keys.ts';
import { isNear, isSpent, shownLimits } from './model-limits.ts';
import { shownState } from './model-sharing.ts';

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
    caution: caution(session.real) || isNear(model, session),
    state: circuit && reported(circuit),
    wouldDecide: mode === 'observe_only' ? wouldDecide(reason) : undefined,
    budgetRemaining: left(session.real),
    words: decision === 'skip' || decision === 'pause',
  };
};

export const circuitView = (model: Model, session: ModelSession, circuit: ModelCircuit): CircuitView => ({
  tool: circuit.tool,
  group: groupOf(session.box, circuit.tool)?.slice('group:'.length),
  state: reported(circuit),
  generation: circuit.generation,
  failures: circuit.state === 'closed' ? failuresInARow(circuit).length : 0,
  failedKeys: circuit.state === 'closed' ? circuit.keyRow.length : 0,
  category: circuit.category,
  trip: circuit.trip,
  openForMs: circuit.state === 'closed' ? undefined : model.ms - circuit.openedAt.ms,
  nextProbe:
    circuit.state === 'open'
      ? waits(
          circuit,
          circuitNow(model, session).when,
          circuitNow(model, session).stepMs,
          isGrantedOutside(model, session, circuit),
        )
      : undefined,
  openKeys: circuit.rules.isKey ? 0 : openKeys(session.home, circuit.tool),
});

/** C11: a copy of the session as the next decision would find it. Nothing is told, and nothing counted. */
export const lookedAhead = (model: Model, session: ModelSession): ModelSession => {
  const ahead = copyOfSession(session);
  arrive({ ...model, told: [], counted: new Map() }, ahead);
  return ahead;
};

/** Whether the lease of a probe has ended, which only a look ahead has noticed yet (C9). */
export const hangs = ({ ms }: Model, { home }: ModelSession): boolean => firstHung(home, ms) !== undefined;

/** What `session.explain(tool, input)` says of each declared tool. Not in a fleet, whose orders a first call takes up. */
export const foreseenBy = (model: Model, session: ModelSession, input: string | undefined) => {
  const ahead = lookedAhead(model, session);
  return [...session.box.tools.keys()].map((tool) => {
    const used = knownCircuit(ahead.home, tool);
    const keyName = keyNamed(model, session, tool, input, undefined);
    const key = used && keyName !== undefined ? keyCircuit(ahead.home, used, keyName) : undefined;
    const circuit = nextCircuit(model, ahead, tool);
    const { reason } = decide(model, ahead, { tool, circuit, groupName: groupOf(session.box, tool), input, key });
    return { tool, reason, isUnavailable: isUnavailable(model, ahead, reason) };
  });
};

/** R3: what will be over in a moment leaves a tool available. */
const isUnavailable = (model: Model, ahead: ModelSession, reason: Reason): boolean => {
  const decision = REASONS[reason];
  if (decision === 'call' || decision === 'probe' || reason === 'busy') return false;
  return reason !== 'limit_reached' || isSpent(model, ahead); // D3
};

/** C14: what `session.peek(tool, input)` shows of the keys that were blamed. */
export const keyViewsOf = (model: Model, session: ModelSession) => {
  const ahead = lookedAhead(model, session);
  return ahead.home.keys
    .filter(({ blamed, tool }) => blamed && ahead.home.circuits.some((one) => one.tool === tool))
    .map(({ tool, key, circuit }) => ({
      tool,
      key,
      view: hasNoKeys(model, session, tool) ? undefined : circuitView(model, ahead, circuit),
    }));
};

/** C18: sessions that share circuits may differ in this. */
const hasNoKeys = ({ config }: Model, { tools }: ModelSession, tool: string): boolean =>
  (tools[tool]?.key ?? config.tools?.[tool]?.key) === false;

/** What `session.view()` shows. */
export const viewOf = (model: Model, session: ModelSession) => {
  const ahead = lookedAhead(model, session);
  const { real, id, step, home } = ahead;
  return {
    id,
    agent: model.config.agent,
    state: shownState(model, ahead),
    step,
    budget: {
      rule: real.by.rule,
      limit: real.by.limit,
      cycle: real.by.cycle,
      remaining: left(real),
      consumed: real.by.consumed,
      tokensRemaining: tokensLeft(real),
      provisional: waiting(real),
    },
    circuits: home.circuits.map((one) => circuitView(model, ahead, one)),
    systemic: home.real.event && eventReport(home.real.event),
    limits: shownLimits(model, ahead),
  };
};
