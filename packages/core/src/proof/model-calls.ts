import { OTHER_TOOL } from '../index.ts';
import { count, type Ended, flush, type Layer, type Model, type ModelPermit, type ModelSession } from './model.ts';
import { tried } from './model-advice.ts';
import { noteCircle } from './model-circles.ts';
import { halfOpen, type ModelCircuit } from './model-circuit.ts';
import { conclude } from './model-conclude.ts';
import { latestOf } from './model-correlation.ts';
import { type Answer, decide, type Question } from './model-decide.ts';
import { calledCircuit, obeyFleet } from './model-fleet.ts';
import { afterHistory } from './model-history.ts';
import { feeds, firstHung, groupOf, knownCircuit, modeOf, startDryRun } from './model-home.ts';
import { keyCircuit, keyNamed, keySetting } from './model-keys.ts';
import { beginCall, flushLimits, lapseCalls } from './model-limits.ts';
import { toldMove } from './model-moves.ts';
import { obey } from './model-operator.ts';
import { pass, recovered, show } from './model-sharing.ts';

/** What time has brought is looked at whenever a session is used: hung probes first, in the order of their leases (C9). */
export const arrive = (model: Model, session: ModelSession): void => {
  const { home } = session;
  if (lapseCalls(model, session) || model.config.limits?.durationMs !== undefined) flushLimits(model, session); // D3, D4: time has passed.
  for (let hung = firstHung(home, model.ms); hung; hung = firstHung(home, model.ms)) {
    hung.settled = true;
    conclude(model, hung, lapsed(hung), hung.leaseMs ?? 0);
    show(model, hung.session);
  }
  obeyFleet(model, session, [...home.circuits]);
  obey(model, session);
  pass(model, session);
  show(model, session); // Time may have given all of it back before this use takes from it.
  // What would only have paused observed tools ends in the same way (C1).
  const event = home.real.event ?? home.dryRun?.event;
  const afterMs = model.systemic?.recovery.afterMs;
  if (event === undefined || afterMs === undefined) return;
  if (model.ms - latestOf(event).at.ms < afterMs) return;
  recovered(model, session, 'time'); // S5
  pass(model, session); // B1: charges have aged during the pause.
  show(model, session);
};

/** C9, C14: a probe of a key alone has failed for the key alone. */
const lapsed = ({ group, own, gate }: ModelPermit): Ended =>
  [group, own, gate].some((one) => one?.holdsSlot)
    ? { outcome: 'failure', category: 'timeout' }
    : { outcome: 'ignored', category: 'timeout', blames: 'key' };

/** `hint`: what the adapter says of the key (C14). */
export const acquire = (
  model: Model,
  session: ModelSession,
  tool: string,
  input?: string,
  hint?: string,
): ModelPermit => {
  session.live = true; // E7
  arrive(model, session);
  const circuit = calledCircuit(model, session, tool);
  if (modeOf(model, session, tool, circuit) === 'observe_only') startDryRun(session);
  const keyName = keyNamed(model, session, tool, input, hint);
  const key = circuit && keyName !== undefined ? keyCircuit(session.home, circuit, keyName) : undefined;
  const groupName = groupOf(session.box, tool);
  const { reason, decision, slots } = decide(model, session, { tool, circuit, groupName, input, key });
  for (const one of slots) begin(model, session, one);
  const series = session.box.tools.has(tool) ? tool : OTHER_TOOL;
  count(model, `decisions|${series}|${decision}|${reason}`);
  if (decision === 'skip' || decision === 'pause') count(model, `routes|${series}|defer`);
  if (decision === 'skip') avoided(model, series);
  const goes = decision === 'call' || decision === 'probe';
  if (goes) beginCall(model, session, model.permits + 1, tool);
  flushLimits(model, session);
  flush(model, session, 'decision', tool, decision, reason);
  if (goes) tried(session, tool, input, model.repeats);
  model.permits += 1;
  const permit: ModelPermit = {
    id: model.permits,
    session,
    tool,
    input,
    decision,
    reason,
    circuit,
    series,
    keyName,
    isKeyless: session.box.tools.has(tool) && keySetting(model, session, tool) === false,
    ...layersOf(model, session, { reason, decision, slots }, { tool, circuit, groupName, input, key }),
    groupName,
    settled: !goes,
    advice: undefined,
    circle: false,
  };
  for (const one of slots) one.probing.push(permit.id);
  if (slots.length > 0) session.home.probes.push(permit);
  if (reason === 'closed' || slots.length > 0) isUnderWay(model, session, permit);
  show(model, session);
  return permit;
};

/** C17: it takes a place at its tool and its group. */
const isUnderWay = (model: Model, { home }: ModelSession, { id, circuit, groupName }: ModelPermit): void => {
  if (circuit === undefined) return;
  const untilMs = model.ms + circuit.rules.probeLeaseMs;
  for (const name of [circuit.tool, groupName]) if (name !== undefined) home.underWay.push({ id, name, untilMs });
};

/** C6: the first probe makes a circuit half-open. */
const begin = (model: Model, session: ModelSession, circuit: ModelCircuit): void => {
  if (circuit.state !== 'open') return;
  halfOpen(circuit);
  if (session.home.circuits.includes(circuit)) toldMove(model, session, circuit, 'open', circuit.category);
};

/** C15: what the call passes, and hears of its result. */
const layersOf = (
  model: Model,
  session: ModelSession,
  { reason, slots }: Answer,
  { tool, circuit, groupName, key }: Question,
): Pick<ModelPermit, 'group' | 'own' | 'key' | 'gate' | 'leaseMs'> => {
  const { home } = session;
  const group = groupName === undefined ? undefined : knownCircuit(home, groupName);
  const passes = reason === 'closed' || slots.length > 0;
  const counts = group !== undefined && feeds(group, modeOf(model, session, tool, circuit));
  const layer = (one: ModelCircuit): Layer => {
    const { generation } = one;
    return { circuit: one, generation, holdsSlot: slots.includes(one) };
  };
  const gate = slots.find((one) => one === home.real.gate || one === home.dryRun?.gate);
  return {
    group: passes && counts ? layer(group) : undefined,
    own: passes && circuit ? layer(circuit) : undefined,
    key: passes && key ? layer(key) : undefined,
    gate: gate && layer(gate),
    leaseMs: slots.length > 0 && circuit ? model.ms + circuit.rules.probeLeaseMs : undefined,
  };
};

/** O4: an estimate of what a skipped call would have cost, by the mean of the tool's failed calls. */
const avoided = (model: Model, series: string): void => {
  const cost = model.costs.get(series);
  if (cost !== undefined && cost.calls > 0)
    count(model, `tokensAvoided|${series}`, Math.round(cost.tokens / cost.calls));
};

/** E3: the first settle counts. */
export const settle = (model: Model, permit: ModelPermit, ended: Ended): void => {
  if (permit.settled) return;
  arrive(model, permit.session);
  if (permit.settled) {
    show(model, permit.session);
    return; // C9: it came too late.
  }
  permit.settled = true;
  const found = afterHistory(permit, ended);
  conclude(model, permit, found, model.ms);
  noteCircle(model, permit, found);
  if (permit.reason !== 'would_skip' && permit.reason !== 'would_pause') permit.session.calls += 1; // C1
  show(model, permit.session);
};
