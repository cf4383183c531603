import type { Decision, Reason } from '../index.ts';
import { REASONS } from '../index.ts';
import { circuitNow, type Model, type ModelPermit, type ModelSession } from './model.ts';
import { isRepeat, scoreNow } from './model-advice.ts';
import { isDueFor, type ModelCircuit, slotsTaken } from './model-circuit.ts';
import { isGrantedOutside, isHeldOpen } from './model-fleet.ts';
import { deciding, feeds, groupOf, isAffected, knownCircuit, modeOf, nextCircuit, rulesOfTool } from './model-home.ts';
import { keyCircuit } from './model-keys.ts';
import { isOver, isSpent } from './model-limits.ts';
import type { Rules } from './rules.ts';

/** What is asked for. */
export interface Question {
  readonly tool: string;
  readonly circuit: ModelCircuit | undefined;
  readonly groupName: string | undefined;
  readonly input: string | undefined;
  /** The circuit of its key (C14). */
  readonly key: ModelCircuit | undefined;
}

/** What is decided, and which circuits the call holds a slot of: all that are not closed, or none (C15). */
export interface Answer {
  readonly reason: Reason;
  readonly decision: Decision;
  readonly slots: readonly ModelCircuit[];
}

/** C15: the first that rejects gives the reason. */
export const decide = (model: Model, session: ModelSession, question: Question): Answer => {
  const { reason, slots = [] } = reasonFor(model, session, question);
  const decision = reason === 'systemic' && model.systemic?.pause === 'affected' ? 'skip' : REASONS[reason];
  if (modeOf(model, session, question.tool, question.circuit) !== 'observe_only' || slots.length > 0)
    return { reason, decision, slots };
  if (decision === 'skip') return { reason: 'would_skip', decision: 'call', slots };
  return decision === 'pause' ? { reason: 'would_pause', decision: 'call', slots } : { reason, decision, slots };
};

/** R5: why the next call with the same arguments would be rejected; a repeated call (O5) says nothing about the tool. */
export const adviceAfter = (model: Model, permit: ModelPermit): Reason | undefined => {
  const { session, tool, circuit, key, keyName } = permit;
  const ofKey = key && circuit && keyName !== undefined ? keyCircuit(session.home, circuit, keyName) : undefined;
  const found = circuit ?? nextCircuit(model, session, tool); // The tool may have been declared since.
  const groupName = circuit === undefined ? groupOf(session.box, tool) : permit.groupName;
  const { reason, decision } = decide(model, session, { ...permit, circuit: found, groupName, key: ofKey });
  if (reason === 'limit_reached' && !isSpent(model, session)) return undefined; // D3: only estimates pause it.
  return decision === 'call' || decision === 'probe' || reason === 'repeat' || reason === 'busy' ? undefined : reason;
};

interface Found {
  readonly reason: Reason;
  readonly slots?: readonly ModelCircuit[];
}

const reasonFor = (model: Model, session: ModelSession, question: Question): Found => {
  const { tool, circuit, input, key } = question;
  const gate = byEvent(model, session, question);
  const comesFirst = 'reason' in gate && (gate.reason !== 'systemic' || model.systemic?.pause === 'all');
  if (isOver(model, session) && !comesFirst) return { reason: 'limit_reached' }; // D2
  if ('reason' in gate) return gate;
  const mode = modeOf(model, session, tool, circuit);
  const { allowedTools } = model.config;
  if (allowedTools && !allowedTools.includes(tool)) return { reason: 'not_allowed' }; // K2
  if (mode === 'forced_open' || mode === 'disabled') return { reason: mode };
  if (scoreNow(model, session, tool) === 'unavailable') return { reason: 'unavailable' }; // K1
  const group = byGroup(model, session, question);
  if ('reason' in group) return group;
  const own = circuit === undefined ? {} : byCircuit(model, session, question, circuit, 'open');
  if ('reason' in own) return own;
  const ofKey = key === undefined ? {} : byCircuit(model, session, question, key, 'key_open');
  if ('reason' in ofKey) return ofKey;
  const slots = [gate.slot, group.slot, own.slot, ofKey.slot].filter((one) => one !== undefined);
  // The loop guard is not asked: a tool that is open fails alike, and a probe may well be the same call once more.
  const [first] = [
    group.slot && 'group_probe_due',
    (own.slot ?? gate.slot) && 'probe_due',
    ofKey.slot && 'key_probe_due',
  ].filter((one) => one !== undefined) as Reason[];
  if (first !== undefined) return { reason: first, slots };
  if (isBusy(model, session, question)) return { reason: 'busy' }; // C17
  if (isRepeat(session, tool, input, model.repeats)) return { reason: 'repeat' }; // O5
  if (circuit !== undefined) return { reason: 'closed' };
  return { reason: session.box.tools.has(tool) ? 'no_circuit' : 'undeclared' };
};

/** C17: a group that is only observed, or switched off, limits what it rejects. */
const isBusy = (model: Model, session: ModelSession, { tool, circuit, groupName }: Question): boolean => {
  const group = groupName === undefined ? undefined : knownCircuit(session.home, groupName);
  const mode = modeOf(model, session, tool, circuit);
  const limits = [circuit, group?.mode === 'automatic' || mode === 'observe_only' ? group : undefined];
  const taken = (name: string) =>
    session.home.underWay.filter((one) => one.name === name && one.untilMs > model.ms).length;
  return limits.some((one) => one !== undefined && taken(one.tool) >= one.rules.maxInFlight);
};

type Says = { readonly reason: Reason } | { readonly slot?: ModelCircuit };

/** S2, S5, B1: an event, or an empty budget. */
const byEvent = (model: Model, session: ModelSession, question: Question): Says => {
  const { tool, circuit } = question;
  const { correlation, budget } = deciding(session, modeOf(model, session, tool, circuit) === 'observe_only');
  const { event, gate } = correlation;
  const pausesAll = model.systemic?.pause === 'all';
  const concerns = event !== undefined && (pausesAll || isAffected(model, session, correlation, tool));
  const says: Says =
    gate !== undefined && event !== undefined && isAffected(model, session, correlation, tool)
      ? byCircuit(model, session, question, gate, 'systemic', 'systemic')
      : { reason: 'systemic' };
  if (concerns && pausesAll && 'reason' in says) return says;
  if (budget.by.exhausted) return { reason: 'budget_exhausted' };
  return concerns ? says : {};
};

/** C13, C1: a group that is only observed rejects no other tool's calls, and a tool that is only observed takes no other group's slots. */
const byGroup = (model: Model, session: ModelSession, question: Question): Says => {
  const { tool, circuit, groupName } = question;
  const group = groupName === undefined ? undefined : nextCircuit(model, session, groupName);
  const mode = modeOf(model, session, tool, circuit);
  if (group === undefined || (group.mode === 'observe_only' && mode !== 'observe_only')) return {};
  if (group.mode === 'forced_open') return { reason: 'forced_open' };
  if (group.mode === 'disabled') return {};
  const says = byCircuit(model, session, question, group, 'group_open');
  return 'reason' in says || feeds(group, mode) ? says : {};
};

/** P1, C6: whether a circuit lets the call through, as a probe where it is not closed. */
const byCircuit = (
  model: Model,
  session: ModelSession,
  { tool }: Question,
  circuit: ModelCircuit,
  whenOpen: Reason,
  whenFull: Reason = 'probe_in_flight',
): Says => {
  if (circuit.state === 'closed') return {};
  const { when, stepMs } = circuitNow(model, session);
  if (circuit.held !== undefined) {
    const mayGo = isHeldOpen(circuit, when.ms) || isGrantedOutside(model, session, circuit);
    if (mayGo && slotsTaken(circuit) < circuit.rules.probes) return { slot: circuit };
    // G4: the probe was given back, and no other may go yet.
    return { reason: circuit.probing.length === 0 ? whenOpen : whenFull };
  }
  const own: Rules = rulesOfTool(model, session, tool) ?? model.undeclared;
  if (circuit.state === 'open')
    return isDueFor(circuit, tool, own, when, stepMs) ? { slot: circuit } : { reason: whenOpen };
  return slotsTaken(circuit) < circuit.rules.probes ? { slot: circuit } : { reason: whenFull };
};
