import { type ErrorCategory, OTHER_TOOL, REASONS, type Reason } from '../index.ts';
import {
  accountsOf,
  circuitNow,
  circuitOf,
  count,
  type Ended,
  type Model,
  type ModelPermit,
  type ModelSession,
  modeOf,
  now,
  openShadow,
  post,
  tell,
} from './model.ts';
import { chargeFailure, eventReport, mature, recordClosing, recordOpening, stateOf } from './model-account.ts';
import { cameTo, isRepeat, scoreAt, scoreNow, tried } from './model-advice.ts';
import { halfOpen, isDue, type ModelCircuit, placesTaken, takeIn, waits } from './model-circuit.ts';
import { catchUp, notice, postClosing, recovered, shareEvent, takenBeside } from './model-sharing.ts';
import type { When } from './rules.ts';

/** What time has brought is looked at whenever somebody calls: hung probes first, in the order of their leases (C9). */
export const arrive = (model: Model, session: ModelSession): void => {
  if (session.ended) return;
  for (;;) {
    const hung = session.home.probes.filter(({ leaseMs = 0 }) => leaseMs <= model.ms);
    const [first] = hung.sort((a, b) => (a.leaseMs ?? 0) - (b.leaseMs ?? 0));
    if (first === undefined) break;
    first.settled = true;
    conclude(model, first, { outcome: 'failure', category: 'timeout' }, first.leaseMs ?? 0);
  }
  catchUp(model, session);
  matureAll(model, session);
  // What a trial only would have been paused by ends in the same way (C1).
  const event = session.real.event ?? session.shadow?.event;
  const afterMs = model.systemic?.recovery?.afterMs;
  if (event === undefined || afterMs === undefined) return;
  const latestMs = Math.max(...event.map(({ at }) => at.ms));
  if (model.ms - latestMs >= afterMs) recovered(model, session, 'time'); // S5
};

export const matureAll = (model: Model, session: ModelSession): void => {
  for (const account of accountsOf(session, false)) mature(account, now(model, session), model.systemic);
  notice(model, session);
};

export const acquire = (model: Model, session: ModelSession, tool: string, input?: string): ModelPermit => {
  arrive(model, session);
  const circuit = session.ended ? session.home.circuits.find((one) => one.tool === tool) : circuitOf(session, tool);
  if (!session.ended && modeOf(model, session, tool, circuit) === 'observe_only') openShadow(session);
  const reason = decide(model, session, tool, circuit, input);
  const decision = REASONS[reason];
  const probe = decision === 'probe';
  if (probe && circuit?.state === 'open') {
    halfOpen(circuit);
    toldMove(model, session, circuit, 'open', circuit.category);
  }
  const series = session.box.tools.has(tool) ? tool : OTHER_TOOL;
  count(model, `decisions|${series}|${decision}|${reason}`);
  if (decision === 'skip' || decision === 'pause') count(model, `routes|${series}|defer`);
  if (decision === 'skip') avoided(model, series);
  tell(model, session, 'decision', tool, decision, reason);
  const goes = decision === 'call' || decision === 'probe';
  if (goes && reason !== 'session_ended') tried(session, tool, input, model.repeats);
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
    startMs: model.ms,
    generation: reason === 'closed' || probe ? circuit?.generation : undefined,
    leaseMs: probe && circuit ? model.ms + circuit.rules.probeLeaseMs : undefined,
    settled: !goes,
  };
  if (probe) {
    session.home.probes.push(permit);
    circuit?.probing.push(permit.id);
  }
  return permit;
};

/** In the order of decision: the first reason that applies. */
const decide = (
  model: Model,
  session: ModelSession,
  tool: string,
  circuit: ModelCircuit | undefined,
  input: string | undefined,
): Reason => {
  if (session.ended) return 'session_ended';
  const mode = modeOf(model, session, tool, circuit);
  const observed = mode === 'observe_only';
  const state = stateOf(observed && session.shadow ? session.shadow : session.real);
  if (state === 'paused_systemic') return observed ? 'would_pause' : 'systemic';
  if (state === 'paused_budget') return observed ? 'would_pause' : 'budget_exhausted';
  const { allowedTools } = model.config;
  if (allowedTools && !allowedTools.includes(tool)) return observed ? 'would_skip' : 'not_allowed'; // K2
  if (mode === 'forced_open' || mode === 'disabled') return mode;
  if (scoreNow(model, session, tool) === 'unavailable') return observed ? 'would_skip' : 'unavailable'; // K1
  if (circuit !== undefined && circuit.state !== 'closed') {
    // The loop guard isn't asked: a tool that is out fails alike, and a probe may well be the same call once more.
    const { when, stepMs } = circuitNow(model, session);
    const places = circuit.state === 'half_open' ? placesTaken(circuit) : 0;
    const due = circuit.state === 'half_open' || isDue(waits(circuit, when, stepMs));
    if (due && places < circuit.rules.probes) return 'probe_due';
    if (observed) return 'would_skip';
    return circuit.state === 'open' ? 'open' : 'probe_in_flight';
  }
  if (isRepeat(session, tool, input, model.repeats)) return observed ? 'would_skip' : 'repeat'; // O5
  if (circuit !== undefined) return 'closed';
  return session.box.tools.has(tool) ? 'no_circuit' : 'undeclared';
};

/** O4: an estimate of what a skipped call would have cost, by the mean of the tool's failed calls. */
const avoided = (model: Model, series: string): void => {
  const cost = model.costs.get(series);
  if (cost !== undefined && cost.calls > 0)
    count(model, `tokensAvoided|${series}`, Math.round(cost.tokens / cost.calls));
};

const wasted = (model: Model, series: string, tokens: number): void => {
  if (tokens === 0) return;
  count(model, `tokensWasted|${series}`, tokens);
  const before = model.costs.get(series) ?? { tokens: 0, calls: 0 };
  model.costs.set(series, { tokens: before.tokens + tokens, calls: before.calls + 1 });
};

/** A change of state is told, and counted unless the circuit is only observed. */
const toldMove = (
  model: Model,
  session: ModelSession,
  circuit: ModelCircuit,
  from: string,
  category: ErrorCategory | undefined,
): void => {
  const observed = circuit.mode === 'observe_only';
  tell(model, session, 'circuit.transition', circuit.tool, `${from}>${circuit.state}`, category, observed);
  if (observed) return;
  count(model, `transitions|${circuit.tool}|${from}|${circuit.state}`);
  if (from === 'closed') model.counted.set(`openedTime|${circuit.tool}|${category}`, model.ms);
};

/** E3: the first settle counts. */
export const settle = (model: Model, permit: ModelPermit, ended: Ended): void => {
  if (permit.settled) return;
  arrive(model, permit.session);
  if (permit.settled) return; // C9: it came too late.
  permit.settled = true;
  conclude(model, permit, ended, model.ms);
};

const conclude = (model: Model, permit: ModelPermit, ended: Ended, ms: number): void => {
  const { outcome, category, retryAfterMs, tokens = 0 } = ended;
  const { session, circuit, tool, reason, generation, series, input } = permit;
  const late = circuit !== undefined && generation !== undefined && circuit.generation !== generation; // C7
  session.home.probes = session.home.probes.filter((one) => one !== permit);
  count(model, outcome === 'success' ? `outcomes|${series}|success` : `outcomes|${series}|${outcome}|${category}`);
  if (outcome === 'failure') wasted(model, series, tokens);
  if (!session.ended && permit.reason !== 'disabled')
    cameTo(session, tool, input, `${outcome} ${category}`, model.repeats);
  tell(model, session, 'outcome', tool, outcome, category, late);
  if (late || session.ended) return;
  if (circuit !== undefined) circuit.probing = circuit.probing.filter((one) => one !== permit.id); // C8
  if (outcome === 'ignored' || reason === 'disabled' || reason === 'would_skip' || reason === 'would_pause') return;
  const at = { ms, step: session.step };
  const observed = modeOf(model, session, tool, circuit) === 'observe_only';
  if (outcome === 'failure') {
    const failure = { tool, category: category ?? 'unknown', at, tokens };
    const mayWait = circuit?.rules.failureThreshold ?? 0;
    for (const account of accountsOf(session, observed)) chargeFailure(account, failure, mayWait, model.systemic);
  }
  if (circuit !== undefined && generation !== undefined) {
    const longest = circuit.rules.maxRetryAfterMs;
    const notBeforeMs = retryAfterMs === undefined ? 0 : ms + Math.min(retryAfterMs, longest); // O3
    const from = circuit.state;
    const known = circuit.category;
    const failed = { category: category ?? 'unknown', notBeforeMs } as const;
    const change = takeIn(circuit, outcome === 'success' ? 'success' : failed, {
      at: { ms, step: circuitNow(model, session).when.step },
      degraded: scoreAt(session, tool, ms) === 'degraded',
      taken: takenBeside(session, circuit),
    });
    if (change === 'closes') {
      if (!observed) postClosing(session, tool);
      for (const account of accountsOf(session, observed)) recordClosing(account, tool);
      toldMove(model, session, circuit, from, known);
    }
    if (change === 'opens') opened(model, session, circuit, from, at);
  }
  // A success may open too, by a rate, and make the event whose one charge is the last.
  if (outcome === 'failure' || session.real.event !== undefined) notice(model, session);
};

const opened = (model: Model, session: ModelSession, circuit: ModelCircuit, from: string, at: When): void => {
  const { tool, category = 'unknown', mode } = circuit;
  if (mode !== 'observe_only') {
    post(session, (board) => {
      if (!board.openings.some((one) => one.tool === tool)) board.openings.push({ tool, category, ms: at.ms });
    });
  }
  const [detected] = accountsOf(session, mode === 'observe_only')
    .filter((account) => recordOpening(account, { tool, category, at }, model.systemic))
    .filter((account) => account === session.real);
  toldMove(model, session, circuit, from, category);
  if (detected?.event === undefined) return;
  shareEvent(session);
  const report = eventReport(detected.event);
  count(model, `systemicEvents|${report.category ?? '_MIXED'}`);
  tell(model, session, 'systemic.detected', JSON.stringify(report));
};
