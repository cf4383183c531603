import { circuitNow, count, type Ended, flush, type Layer, type Model, type ModelPermit } from './model.ts';
import { resulted, scoreAt } from './model-advice.ts';
import { chargeFailure, followEvent, toolSucceeded } from './model-budget.ts';
import { ANY_TIME, type Failed, keyFailed, type Result, retreat, takeIn } from './model-circuit.ts';
import { logFailure, logSuccess } from './model-correlation.ts';
import { adviceAfter } from './model-decide.ts';
import { correlating, isAffected, modeOf, sidesOf } from './model-home.ts';
import { blame } from './model-keys.ts';
import { endCall, flushLimits } from './model-limits.ts';
import { closed, correlated, detected, nextId, opened, toldMove } from './model-moves.ts';
import { notice, recovered, takenBeside } from './model-sharing.ts';
import type { When } from './rules.ts';

/** A call has ended at that time. R5: if it failed, the model reads what the next call would be rejected with. */
export const conclude = (model: Model, permit: ModelPermit, ended: Ended, ms: number): void => {
  spread(model, permit, ended, ms);
  if (ended.outcome !== 'success') permit.advice = adviceAfter(model, permit);
};

/** Each circuit that let the call through hears of its end (C15). */
const spread = (model: Model, permit: ModelPermit, ended: Ended, ms: number): void => {
  const { outcome, category, tokens = 0, blames } = ended;
  const { session, tool, reason, series, input } = permit;
  const late = isLate(permit.own); // C7
  session.home.probes = session.home.probes.filter((one) => one !== permit);
  session.home.underWay = session.home.underWay.filter(({ id }) => id !== permit.id); // C17
  endCall(model, permit, ended); // D3
  count(model, `outcomes|${series}|${outcome}`);
  if (outcome !== 'success') count(model, `errors|${series}|${outcome}|${category}${blames === 'key' ? '|key' : ''}`);
  if (outcome === 'failure') wasted(model, series, tokens);
  if (reason !== 'disabled') resulted(session, tool, input, `${outcome} ${category}`, model.repeats);
  if (outcome === 'success' && session.box.tools.has(tool)) session.box.succeeded.add(tool);
  flush(model, session, 'outcome', tool, outcome, category, late);
  flushLimits(model, session);
  const layers = [permit.group, permit.own, permit.key, permit.gate].filter((one) => one !== undefined);
  const isShared = [permit.group, permit.gate].some((one) => one?.holdsSlot);
  for (const { circuit } of layers) circuit.probing = circuit.probing.filter((one) => one !== permit.id); // C8
  const isCounted = reason !== 'disabled' && reason !== 'would_skip' && reason !== 'would_pause';
  const at = { ms, step: session.step, calls: session.calls };
  // C14: a probe of the key has failed too if the failure is the tool's.
  const isOfKey = blames === 'key' || outcome === 'success' || (outcome === 'failure' && permit.key?.holdsSlot);
  if (!late && isOfKey) moveKey(model, permit, resultOf(permit, ended)(permit.key), at);
  const isWithoutVerdict = outcome === 'ignored' && category !== 'cancelled' && category !== 'denied';
  for (const one of !late && outcome === 'ignored' ? layers : []) {
    if (one === permit.own) hearOfKeys(model, permit, ended, at);
    if (isWithoutVerdict) giveUp(model, permit, one, at); // C8
  }
  if (late || outcome === 'ignored' || !isCounted) return;
  charge(model, permit, ended, at, isShared || permit.own?.holdsSlot === true);
  const result = resultOf(permit, ended);
  move(model, permit, permit.group, result(permit.group), at);
  // A failed probe of a group or of an event explains itself: the tool's closed circuit does not hear of it.
  const isExplained = isShared && outcome === 'failure' && permit.own?.holdsSlot !== true;
  if (!isExplained) move(model, permit, permit.own, result(permit.own), at);
  moveGate(model, permit, result(permit.gate), at);
  notice(model, session);
};

/** C14: the row of keys that fail, of a tool that is closed or open because of it. */
const hearOfKeys = (model: Model, permit: ModelPermit, ended: Ended, at: When): void => {
  const { session, own, tool, keyName } = permit;
  const { category = 'unknown', blames, answered } = ended;
  if (own === undefined || isLate(own)) return;
  const { circuit } = own;
  const isOfKey = blames === 'key' && permit.key !== undefined;
  if (circuit.state !== 'closed') return;
  if (answered && !isOfKey) circuit.keyRow = [];
  if (!isOfKey) return;
  const failed: Failed = { tool, category, key: keyName, notBeforeMs: ANY_TIME, blamesGroup: false };
  const around = aroundOf(model, session, circuit, tool, at);
  if (!keyFailed(circuit, failed, around)) return;
  // It costs one, and is compared with others as an opening alone (S1).
  charge(model, permit, { outcome: 'failure', category: circuit.category ?? category }, at, false, true);
  opened(model, session, circuit, 'closed', at);
  notice(model, session);
};

const aroundOf = (
  model: Model,
  session: ModelPermit['session'],
  circuit: ModelPermit['circuit'] & object,
  tool: string,
  at: When,
) => ({
  at: { ms: at.ms, step: circuitNow(model, session).when.step },
  degraded: circuit.tool === tool && scoreAt(session, tool, at.ms) === 'degraded',
  hasSucceeded: session.box.succeeded.has(tool),
  taken: takenBeside(session, circuit),
});

/** C8: the circuit is open again, if the call was its probe. */
const giveUp = (model: Model, { session, tool, gate }: ModelPermit, layer: Layer, at: When): void => {
  const { circuit } = layer;
  if (isLate(layer) || !layer.holdsSlot) return;
  const step = layer === gate ? at.step : circuitNow(model, session).when.step;
  const taken = layer === gate ? () => false : takenBeside(session, circuit);
  retreat(circuit, tool, { at: { ms: at.ms, step }, degraded: false, hasSucceeded: false, taken });
  if (session.home.circuits.includes(circuit)) toldMove(model, session, circuit, 'half_open', circuit.category);
};

const isLate = (layer: Layer | undefined): boolean =>
  layer !== undefined && layer.circuit.generation !== layer.generation;

const wasted = (model: Model, series: string, tokens: number): void => {
  if (tokens === 0) return;
  count(model, `tokensWasted|${series}`, tokens);
  const before = model.costs.get(series) ?? { tokens: 0, calls: 0 };
  model.costs.set(series, { tokens: before.tokens + tokens, calls: before.calls + 1 });
};

const resultOf =
  ({ tool, keyName }: ModelPermit, { outcome, category = 'unknown', retryAfterMs, blames }: Ended) =>
  (layer: Layer | undefined): ((at: When) => Result) =>
  ({ ms }) => {
    if (outcome === 'success') return 'success';
    const key = layer?.circuit.tool === tool ? keyName : undefined;
    const longest = layer?.circuit.rules.maxRetryAfterMs ?? 0;
    const notBeforeMs = retryAfterMs === undefined ? ANY_TIME : ms + Math.min(retryAfterMs, longest); // O3
    return { tool, key, category, notBeforeMs, blamesGroup: blames === 'group' } satisfies Failed;
  };

/** B1, S1, S3: what a result does before any circuit moves. */
const charge = (model: Model, permit: ModelPermit, ended: Ended, at: When, isProbe: boolean, ofKeys = false): void => {
  const { session, tool, circuit } = permit;
  const { outcome, category = 'unknown', tokens = 0 } = ended;
  if (category === 'unusable') return; // O8
  const observed = modeOf(model, session, tool, circuit) === 'observe_only';
  const around = correlating(model, session);
  const known = session.home.real.event;
  const failure = { id: nextId(model), tool, category, at: correlated(session, at) };
  for (const { correlation, budget } of sidesOf(session, observed)) {
    if (outcome === 'success') {
      if (circuit === undefined) continue;
      logSuccess(correlation, tool, around);
      if (budget) toolSucceeded(budget, tool, permit.groupName);
      continue;
    }
    const isOfEvent =
      correlation.event !== undefined &&
      (session.home.steps === undefined || isAffected(model, session, correlation, tool));
    const hasCircuit = circuit !== undefined;
    const mayWait = circuit?.rules.failureThreshold ?? 0;
    const charged = { tool, category, at, tokens, hasCircuit, isProbe, isOfEvent, mayWait, group: permit.groupName };
    if (budget) chargeFailure(budget, charged, correlation, around);
    if (hasCircuit && !isProbe && !ofKeys && around) logFailure(correlation, failure, around);
    if (budget) followEvent(budget, correlation, around);
  }
  if (known === undefined) detected(model, session);
};

/** C3, C6, C13: moves a circuit of the home. */
const move = (
  model: Model,
  { session, tool }: ModelPermit,
  layer: Layer | undefined,
  result: (at: When) => Result,
  at: When,
): void => {
  if (layer === undefined || isLate(layer)) return;
  const { circuit } = layer;
  if (circuit.state !== 'closed' && !layer.holdsSlot) return; // C7: only a probe closes.
  const { state, category } = circuit;
  const change = takeIn(circuit, result(at), aroundOf(model, session, circuit, tool, at));
  if (change === 'opens') opened(model, session, circuit, state, at);
  if (change !== 'closes') return;
  closed(session, circuit, circuit.mode === 'observe_only');
  toldMove(model, session, circuit, state, category);
};

/** C14: the circuit of the call's key. It is not reported. */
const moveKey = (
  model: Model,
  { session, tool, key, keyName }: ModelPermit,
  result: (at: When) => Result,
  at: When,
): void => {
  if (key === undefined || isLate(key) || (key.circuit.state !== 'closed' && !key.holdsSlot)) return;
  const own = result({ ms: at.ms, step: at.step });
  if (own !== 'success') blame(session.home, tool, keyName);
  takeIn(key.circuit, own, {
    at: { ms: at.ms, step: circuitNow(model, session).when.step },
    degraded: scoreAt(session, tool, at.ms) === 'degraded',
    hasSucceeded: true,
    taken: () => false,
  });
};

/** S5: the probe of an event. */
const moveGate = (model: Model, permit: ModelPermit, result: (at: When) => Result, at: When): void => {
  const { gate, session } = permit;
  const { real, dryRun } = session.home;
  const isReal = gate?.circuit === real.gate;
  if (gate === undefined || !(isReal || gate.circuit === dryRun?.gate) || isLate(gate)) return;
  const around = { at: { ms: at.ms, step: 0 }, degraded: false, hasSucceeded: true, taken: () => false };
  const change = takeIn(gate.circuit, result(at), around);
  if (change === 'closes') recovered(model, session, 'probe', !isReal);
};
