import assert from 'node:assert/strict';
import {
  admit,
  type Circuit,
  closedCircuit,
  fail,
  type Lease,
  type Outage,
  release,
  succeed,
  type Ticket,
} from '../circuit/circuit.ts';
import { restage } from '../circuit/outage.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { Moment } from '../clock.ts';
import type { Edge } from './walk.ts';

/**
 * One circuit, the calls that it let through, and what an onlooker remembers of them. Canonical: the clock always shows NOW and
 * the step counter STEP, whatever has passed lies before them, and what is too long ago to matter lies just long enough ago.
 */
export interface CircuitState {
  readonly circuit: Circuit;
  /** Calls under way, those that are late among them. At most MOST_UNDER_WAY. */
  readonly underWay: readonly Ticket[];
  readonly stepMs: number;
  /** What the onlooker has counted: failures in a row while closed, failed probes since then. */
  readonly failures: number;
  readonly failedProbes: number;
}

const NOW = 1_000;
const STEP = 1_000;
const GENERATION = 10;
const MOST_UNDER_WAY = 3;
const RETRY_AFTER_MS = 3;

export const circuitStart: CircuitState = {
  circuit: closedCircuit(GENERATION),
  underWay: [],
  stepMs: NOW,
  failures: 0,
  failedProbes: 0,
};

const CALL = { durationMs: 0, tokens: 0 };

/** Everything that may happen to a circuit now, with the invariants that hold for it; with `events`, the end of one (P3). */
export function* circuitEdges(
  state: CircuitState,
  policy: CircuitPolicy,
  events: boolean,
): Generator<Edge<CircuitState>> {
  const to = (name: string, next: CircuitState, at: Moment): Edge<CircuitState> => ({
    name,
    next: canonical(next, policy, at),
  });
  const at = { ms: NOW, step: STEP, stepMs: state.stepMs };
  const { underWay } = state;
  if (underWay.length < MOST_UNDER_WAY) yield to('acquire', acquire(state, policy, at), at);
  for (const [index, ticket] of underWay.entries()) {
    for (const how of ['success', 'failure', 'failure with Retry-After', 'ignored'] as const) {
      yield to(`${how} of call ${index}`, settle(state, ticket, how, policy, at), at);
    }
  }
  const later = { ...at, ms: NOW + 1 };
  yield to('1 ms', lapse(state, policy, later), later);
  const further = { ms: NOW, step: STEP + 1, stepMs: NOW };
  yield to('step', { ...state, stepMs: NOW }, further);
  if (events) yield to('confirmRecovered', confirm(state, policy, at), at);
}

const acquire = (state: CircuitState, policy: CircuitPolicy, at: Moment): CircuitState => {
  const { circuit, underWay } = state;
  const admission = admit(circuit, policy, at);
  if (admission.verdict !== 'probe') {
    assert.equal(admission.circuit, circuit, 'C5: a rejection changes nothing');
    assert.equal(admission.verdict, circuit.state === 'closed' ? 'call' : 'reject');
    if (circuit.state === 'open') assert.ok(!isDue(state, circuit.outage, policy, at), 'P1: a probe that is due goes');
    if (circuit.state === 'half_open') assert.equal(circuit.leases.length + circuit.succeeded, policy.probes);
    return admission.verdict === 'call'
      ? { ...state, underWay: [...underWay, { generation: circuit.generation }] }
      : state;
  }
  if (circuit.state === 'open') assert.ok(isDue(state, circuit.outage, policy, at), 'P1: no probe before it is due');
  moved(circuit, admission.circuit);
  const { lease } = admission;
  assert.equal(lease.untilMs, at.ms + policy.probeLeaseMs, 'C9');
  const ticket = { generation: admission.circuit.generation, lease };
  return checked({ ...state, circuit: admission.circuit, underWay: [...underWay, ticket] }, policy);
};

type How = 'success' | 'failure' | 'failure with Retry-After' | 'ignored';

const settle = (state: CircuitState, ticket: Ticket, how: How, policy: CircuitPolicy, at: Moment): CircuitState => {
  const { circuit } = state;
  const underWay = state.underWay.filter((one) => one !== ticket);
  const next = outcomeOf(circuit, ticket, how, policy, at);
  moved(circuit, next);
  if (ticket.generation !== circuit.generation) {
    assert.equal(next, circuit, 'C7: a late result changes nothing');
    return checked({ ...state, underWay }, policy);
  }
  if (circuit.state === 'closed') return checked(afterCall(state, { circuit: next, underWay }, how, policy), policy);
  assert.equal(circuit.state, 'half_open', 'no call is let through by an open circuit');
  assert.ok(ticket.lease, 'only a probe is let through by a half-open circuit');
  const failed = how === 'failure' || how === 'failure with Retry-After';
  if (failed) assert.equal(next.state, 'open', 'C6: the first failure reopens');
  if (how === 'ignored') assert.equal(next.state, 'half_open', 'C8');
  if (next.state === 'closed')
    assert.equal(how, 'success', 'C7: only the success of a probe of this generation closes');
  const failedProbes = next.state === 'closed' ? 0 : state.failedProbes + (failed ? 1 : 0);
  return checked({ ...state, circuit: next, underWay, failures: 0, failedProbes }, policy);
};

const outcomeOf = (circuit: Circuit, ticket: Ticket, how: How, policy: CircuitPolicy, at: Moment): Circuit => {
  if (how === 'success') return succeed(circuit, ticket, CALL, policy, at);
  if (how === 'ignored') return release(circuit, ticket);
  const retryAfterMs = how === 'failure' ? undefined : RETRY_AFTER_MS;
  return fail(circuit, ticket, { ...CALL, category: 'network', retryAfterMs }, policy, at);
};

/** C3: what a call that a closed circuit let through comes to. */
const afterCall = (
  state: CircuitState,
  { circuit, underWay }: Pick<CircuitState, 'circuit' | 'underWay'>,
  how: How,
  { failureThreshold }: CircuitPolicy,
): CircuitState => {
  if (how === 'ignored') {
    assert.equal(circuit, state.circuit, 'O1: an ignored outcome touches nothing');
    return { ...state, underWay };
  }
  const failures = how === 'success' ? 0 : state.failures + 1;
  const opens = failures >= failureThreshold;
  assert.equal(circuit.state, opens ? 'open' : 'closed', 'C3');
  return { ...state, circuit, underWay, failures: opens ? 0 : failures };
};

/** C9: probes that have not settled by now have failed. */
const lapse = (state: CircuitState, policy: CircuitPolicy, at: Moment): CircuitState => {
  const hung = state.underWay.find(({ lease }) => lease !== undefined && lease.untilMs <= at.ms);
  return hung === undefined ? checked(state, policy) : lapse(settle(state, hung, 'failure', policy, at), policy, at);
};

const confirm = (state: CircuitState, policy: CircuitPolicy, at: Moment): CircuitState => {
  const circuit = restage(state.circuit, policy, at);
  moved(state.circuit, circuit);
  assert.equal(circuit.state, state.circuit.state, 'P3: the end of an event opens and closes nothing');
  return checked({ ...state, circuit }, policy);
};

/** C7: a change of state, and nothing else, makes a new generation. */
const moved = (before: Circuit, after: Circuit): void => {
  assert.equal(after.generation, before.generation + (before.state === after.state ? 0 : 1), 'C7');
  const move = `${before.state}>${after.state}`;
  assert.ok(!['closed>half_open', 'open>closed'].includes(move), `${move} is no way to go`);
};

/** What holds in every state. */
const checked = (state: CircuitState, policy: CircuitPolicy): CircuitState => {
  const { circuit, underWay } = state;
  const own = underWay.filter(({ generation, lease }) => lease && generation === circuit.generation);
  const leases = circuit.state === 'half_open' ? circuit.leases : [];
  const byId = (some: readonly (Lease | undefined)[]) => some.map((one) => one?.id ?? -1).sort((a, b) => a - b);
  assert.deepEqual(
    byId(leases),
    byId(own.map(({ lease }) => lease)),
    'C9: a place is taken by who holds it, and by nobody else',
  );
  assert.equal(new Set(byId(leases)).size, leases.length, 'a place is given once');
  assert.ok(leases.length <= policy.probes, 'C6: at most `probes` in flight');
  if (circuit.state === 'half_open') {
    assert.ok(leases.length + circuit.succeeded <= policy.probes, 'C6');
    assert.ok(circuit.succeeded < policy.probes, 'C6: enough successes close');
  }
  if (circuit.state === 'closed') assert.equal(circuit.failures, state.failures, 'C3');
  return state;
};

/** P1, P2, P3, O3: what the onlooker makes of the wait. On a ladder, the steps are the ladder's own. */
const isDue = (state: CircuitState, outage: Outage, policy: CircuitPolicy, { ms, step, stepMs }: Moment): boolean => {
  if (ms < outage.notBeforeMs) return false;
  const { ms: fromMs, step: fromStep } = outage.waitFrom ?? outage.openedAt;
  const wait = Math.min(policy.cooldownMs * 2 ** state.failedProbes, policy.maxCooldownMs);
  const dueStep = outage.ladder?.dueStep ?? fromStep + policy.probeAfterSteps;
  const bySteps = policy.schedule !== 'time' && step >= dueStep;
  const since = policy.schedule === 'auto' ? Math.max(fromMs, stepMs) : fromMs;
  return bySteps || (policy.schedule !== 'steps' && ms - since >= wait);
};

/** The same state as seen from NOW and STEP. */
const canonical = (state: CircuitState, policy: CircuitPolicy, at: Moment): CircuitState => {
  const longest = policy.maxCooldownMs;
  const msAgo = (ms: number, most = longest) => NOW - Math.min(at.ms - ms, most);
  const ahead = (ms: number) => (ms > at.ms ? NOW + ms - at.ms : 0);
  const moment = (one: Moment): Moment => {
    const step = STEP - Math.min(at.step - one.step, policy.probeAfterSteps);
    return { ms: msAgo(one.ms), step, stepMs: msAgo(one.ms) };
  };
  const outage = (one: Outage): Outage => ({
    ...one,
    openedAt: moment(one.openedAt),
    notBeforeMs: ahead(one.notBeforeMs),
    ...(one.waitFrom && { waitFrom: moment(one.waitFrom) }),
    ...(one.ladder && { ladder: { ...one.ladder, dueStep: STEP + Math.max(0, one.ladder.dueStep - at.step) } }),
  });
  const { circuit } = state;
  const ids = circuit.state === 'half_open' ? circuit.leases.map(({ id }) => id) : [];
  const lease = ({ id, untilMs }: Lease): Lease => ({ id: ids.indexOf(id), untilMs: NOW + untilMs - at.ms });
  const ticket = ({ generation, lease: own }: Ticket): Ticket =>
    generation === circuit.generation
      ? { generation: GENERATION, ...(own && { lease: lease(own) }) }
      : // Late ones are all alike but for what they carry: to tell them apart is what generations are for.
        {
          generation: GENERATION - 1,
          ...(own && { lease: { id: 0, untilMs: Math.max(NOW, NOW + own.untilMs - at.ms) } }),
        };
  const seen = (one: Circuit): Circuit => {
    const generation = GENERATION;
    if (one.state === 'closed') return { ...one, generation, notBeforeMs: ahead(one.notBeforeMs) };
    if (one.state === 'open') return { ...one, generation, outage: outage(one.outage) };
    return { ...one, generation, outage: outage(one.outage), leases: one.leases.map(lease), issued: ids.length };
  };
  const doublings = Math.ceil(Math.log2(longest / policy.cooldownMs));
  return {
    circuit: seen(circuit),
    underWay: state.underWay.map(ticket).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    stepMs: policy.schedule === 'auto' ? msAgo(state.stepMs) : NOW, // Nobody else asks.
    failures: state.failures,
    failedProbes: Math.min(state.failedProbes, doublings),
  };
};

/**
 * The tool has recovered, and nobody holds it up: calls under way never settle, and each new one succeeds at once. Says after
 * how many rounds of a millisecond (and a step) the circuit is closed; undefined if it never is.
 */
export const roundsToClose = (state: CircuitState, policy: CircuitPolicy, stepping: boolean): number | undefined => {
  let now = state;
  for (let round = 0; round <= 100; round += 1) {
    const at = { ms: NOW, step: STEP, stepMs: now.stepMs };
    for (let probe = 0; probe < policy.probes && now.circuit.state !== 'closed'; probe += 1) {
      const { circuit, underWay } = acquire(now, policy, at);
      const ticket = underWay[now.underWay.length];
      if (ticket !== undefined) now = settle({ ...now, circuit, underWay }, ticket, 'success', policy, at);
    }
    if (now.circuit.state === 'closed') return round;
    const later = { ms: NOW + 1, step: STEP + (stepping ? 1 : 0), stepMs: stepping ? NOW + 1 : now.stepMs };
    now = canonical({ ...lapse(now, policy, later), stepMs: later.stepMs }, policy, later);
  }
  return undefined;
};
