import { admits, type Circuit, fail, ignore, interrupt, isLate, isWaiting, succeed } from '../circuit/circuit.ts';
import { distinctKey } from '../circuit/key-circuits.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { CircuitRegistry } from '../circuit-registry.ts';
import { circuitMoment } from '../circuit-store.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { Judged } from '../outcome.ts';
import { holdsShared, keyPassOf } from '../passes.ts';
import type { EndingCall } from '../permit.ts';
import type { Reason } from '../reasons.ts';
import { spanContextOf } from '../telemetry/spans.ts';
import type { TrackedCircuit } from '../tracked-circuit.ts';
import { type Barrier, TOOL_MOVED } from './barrier.ts';

/** The reasons that a circuit gives when it is not closed. */
export interface Says {
  readonly due: Reason;
  readonly open: Reason;
}

const SAYS: Says = { due: 'probe_due', open: 'open' };

/** What a circuit says to a call that asks nothing else of it. */
export const whyRejected = (circuit: Circuit, policy: CircuitPolicy, says: Says, at: Moment): Reason | undefined => {
  if (circuit.state === 'closed') return undefined;
  if (admits(circuit, policy, at)) return says.due;
  return isWaiting(circuit) ? says.open : 'probe_in_flight';
};

/** The circuit of the tool. It alone says whether a call came back too late (C7). */
export const toolBarrier: Barrier = {
  of: 'tool',
  when: TOOL_MOVED,

  // A circuit that was not used yet is closed (C2).
  ask: ({ circuits }, { tracked }, _mode, _call, at) =>
    tracked && whyRejected(tracked.circuit, tracked.tool.policy, SAYS, circuitMoment(circuits.store, at)),

  /** The permit itself has the generation of a closed circuit. */
  enter: (circuits, { tool, tracked }, _mode, _key, at) => {
    const lease = tracked && circuits.lease(tracked, { tool, policy: tracked.tool.policy }, at);
    return lease && { of: 'tool', generation: tracked.circuit.generation, lease };
  },

  answer: (circuits, permit, ticket, judged, at) => {
    const tracked = circuits.own(permit.entry.tracked);
    // Late if a group has just opened and absorbed the tool.
    if (tracked === undefined || isLate(tracked.circuit, ticket)) return;
    // A failed probe of a group, or of an event, counts only there. Otherwise each tool of a dead server would open a circuit of its
    // own, one failed probe after the other.
    if (permit.lease === undefined && judged.outcome === 'failure' && holdsShared(permit.passes)) return;
    const { circuit } = tracked;
    const next = nextOf(circuits, tracked, permit, judged, at);
    const opens = circuit.state === 'closed' && next.state === 'open';
    if (opens) tracked.openedBy = permit.span && spanContextOf(permit.span);
    if (opens && judged.outcome === 'ignored') chargeCall(circuits, permit, next.outage.category, at, { ofKeys: true });
    circuits.move(tracked, next, at, 'calls', opens || judged.outcome !== 'ignored');
  },

  /** The circuit has moved on, and with it the lease. */
  giveBack: () => {},
};

/** B1: a failure costs one. Those of keys cost nothing, but the opening of their tool does. */
export const chargeCall = (
  circuits: CircuitRegistry,
  { entry }: EndingCall,
  category: ErrorCategory,
  at: Moment,
  { tokens = 0, isProbe = false, ofKeys = false },
): void => {
  const { tool, tracked } = entry;
  const mayWait = tracked?.tool.policy.failureThreshold ?? 0;
  const group = entry.group?.tool.name;
  const failure = { tool, category, tokens, at, hasCircuit: tracked !== undefined, isProbe, mayWait, group };
  circuits.ledgers.failed(circuits.modeOf(entry), failure, circuits.box.clock.unixNow(), ofKeys);
};

const nextOf = (
  circuits: CircuitRegistry,
  tracked: TrackedCircuit,
  permit: EndingCall,
  judged: Judged,
  ended: Moment,
): Circuit => {
  const { circuit, tool } = tracked;
  const { outcome, category = 'unknown', retryAfterMs, tokens = 0 } = judged;
  const at = circuitMoment(circuits.store, ended);
  if (outcome === 'ignored') return afterIgnored(circuits, tracked, permit, judged, at);
  const { policy } = tool;
  const { durationMs = ended.ms - permit.atMs } = judged;
  const call = { durationMs, tokens };
  const surroundings = circuits.surroundings(tracked);
  if (outcome === 'success') return succeed(circuit, permit, call, policy, at, surroundings);
  const pass = keyPassOf(permit.passes);
  const key = pass && distinctKey(pass, category);
  const degraded = circuits.isDegraded(permit, at);
  const atOnce = category === 'unusable' ? category : undefined;
  const isFirst = !circuits.box.evidence.succeeded.has(permit.tool);
  const failure = { ...call, category, retryAfterMs, degraded, key, atOnce, isFirst };
  return fail(circuit, permit, failure, policy, at, surroundings);
};

/** C14: what is ignored by the tool may count for its keys. */
const afterIgnored = (
  circuits: CircuitRegistry,
  tracked: TrackedCircuit,
  permit: EndingCall,
  judged: Judged,
  at: Moment,
): Circuit => {
  const { circuit } = tracked;
  const { policy } = tracked.tool;
  const { tool } = permit;
  const { category = 'unknown', blames, answered } = judged;
  if (circuit.state !== 'closed')
    return ignore(circuit, permit, { category, tool }, policy, at, circuits.surroundings(tracked));
  const pass = blames === 'key' ? keyPassOf(permit.passes) : undefined;
  const key = pass && distinctKey(pass, category);
  if (key === undefined) return answered === true ? interrupt(circuit, permit, policy, at) : circuit;
  const failure = { category, key, ofKey: true, isFirst: !circuits.box.evidence.succeeded.has(tool) };
  return fail(circuit, permit, failure, policy, at, circuits.surroundings(tracked));
};
