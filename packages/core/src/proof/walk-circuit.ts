import assert from 'node:assert/strict';
import { admit, type Circuit, fail, ignore, type Lease, restage, succeed, type Ticket } from '../circuit/circuit.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { Outage } from '../circuit/schedule.ts';
import type { Moment } from '../clock.ts';
import type { Edge } from './walk.ts';
import { type CircuitState, canonical, NOW, STEP } from './walk-circuit-state.ts';

const MOST_UNDER_WAY = 3;
const RETRY_AFTER_MS = 3;
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
    for (const how of [
      'success',
      'failure',
      'failure with Retry-After',
      'unknown failure',
      'ignored',
      'no verdict',
    ] as const) {
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

type How = 'success' | Failing | 'ignored' | 'no verdict';
type Failing = 'failure' | 'failure with Retry-After' | 'unknown failure';

const isFailure = (how: How): how is Failing => how !== 'success' && how !== 'ignored' && how !== 'no verdict';

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
  const failed = isFailure(how);
  if (failed) assert.equal(next.state, 'open', 'C6: the first failure reopens');
  if (how === 'no verdict') {
    assert.equal(next.state, 'open', 'C8: it waits for the next rung');
    assert.equal(next.outage.openedAt, circuit.outage.openedAt, 'C8: it is no opening');
  }
  if (how === 'ignored') assert.equal(next.state, 'half_open', 'C8');
  if (next.state === 'closed')
    assert.equal(how, 'success', 'C7: only the success of a probe of this generation closes');
  const failedProbes = next.state === 'closed' ? 0 : state.failedProbes + (next.state === 'open' ? 1 : 0);
  return checked({ ...state, circuit: next, underWay, failures: 0, weak: 0, failedProbes }, policy);
};

const outcomeOf = (circuit: Circuit, ticket: Ticket, how: How, policy: CircuitPolicy, at: Moment): Circuit => {
  if (how === 'success') return succeed(circuit, ticket, CALL, policy, at);
  if (how === 'ignored') return ignore(circuit, ticket, { category: 'cancelled' }, policy, at);
  if (how === 'no verdict') return ignore(circuit, ticket, { category: 'tool_error' }, policy, at);
  const retryAfterMs = how === 'failure with Retry-After' ? RETRY_AFTER_MS : undefined;
  const category = how === 'unknown failure' ? 'unknown' : 'network';
  return fail(circuit, ticket, { ...CALL, category, retryAfterMs }, policy, at);
};

/** C3, O6: what the result of a call does that a closed circuit let through. */
const afterCall = (
  state: CircuitState,
  { circuit, underWay }: Pick<CircuitState, 'circuit' | 'underWay'>,
  how: How,
  { failureThreshold }: CircuitPolicy,
): CircuitState => {
  if (how === 'ignored' || how === 'no verdict') {
    assert.equal(circuit, state.circuit, 'O1: an ignored outcome touches nothing');
    return { ...state, underWay };
  }
  const failures = how === 'success' ? 0 : state.failures + 1;
  const weak = how === 'success' ? 0 : state.weak + (how === 'unknown failure' ? 1 : 0);
  const opens = isFailure(how) && failures - weak + weak / 2 >= failureThreshold;
  assert.equal(circuit.state, opens ? 'open' : 'closed', 'C3, O6');
  return opens
    ? { ...state, circuit, underWay, failures: 0, weak: 0 }
    : { ...state, circuit, underWay, failures, weak };
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
    'C9: each slot that is taken is causes by one probe under way',
  );
  assert.equal(new Set(byId(leases)).size, leases.length, 'a slot is given once');
  assert.ok(leases.length <= policy.probes, 'C6: at most `probes` in flight');
  if (circuit.state === 'half_open') {
    assert.ok(leases.length + circuit.succeeded <= policy.probes, 'C6');
    assert.ok(circuit.succeeded < policy.probes, 'C6: enough successes close');
  }
  if (circuit.state === 'closed') {
    const row = circuit.counts?.consecutive ?? { failures: 0, weak: 0, tools: [] };
    const { failures, weak } = state;
    assert.deepEqual(row, { failures, weak, tools: [] }, 'C3, O6');
  }
  return state;
};

/** P1, P2, P3, O3: what the observer makes of the wait. On a ladder, the steps are the ladder's own. */
const isDue = (state: CircuitState, outage: Outage, policy: CircuitPolicy, { ms, step, stepMs }: Moment): boolean => {
  if (ms < outage.notBeforeMs) return false;
  const { ms: fromMs, step: fromStep } = outage.waitFrom ?? outage.openedAt;
  const wait = Math.min(policy.cooldownMs * 2 ** state.failedProbes, policy.maxCooldownMs);
  const steps = policy.probeAfterSteps[state.failedProbes] ?? policy.probeAfterSteps.at(-1) ?? 0;
  const dueStep = outage.ladder?.dueStep ?? fromStep + steps;
  const bySteps = policy.schedule !== 'time' && (step >= dueStep || ms - fromMs >= policy.maxCooldownMs);
  const since = policy.schedule === 'auto' ? Math.max(fromMs, stepMs) : fromMs;
  return bySteps || (policy.schedule !== 'steps' && ms - since >= wait);
};

/**
 * The tool has recovered: calls under way never settle, and each new one succeeds at once. Says after how many rounds of a
 * millisecond (and a step) the circuit is closed; undefined if it never is.
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
