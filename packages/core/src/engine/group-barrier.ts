import { admits, fail, giveBack, ignore, isUntouched, isWaiting, succeed } from '../circuit/circuit.ts';
import { countsForGroup } from '../circuit/policy.ts';
import { circuitMoment } from '../circuit-store.ts';
import { feeds, rejects } from '../passes.ts';
import { spanContextOf } from '../telemetry/spans.ts';
import { type Barrier, GROUP_MOVED, HAS_GROUP } from './barrier.ts';

/** C13: the circuit of the tool's group. It has modes of its own: some reject calls, and some get their results. */
export const groupBarrier: Barrier = {
  of: 'group',
  when: GROUP_MOVED,
  passed: HAS_GROUP,

  ask: ({ circuits }, { tool, tracked, group }, mode, _call, at) => {
    if (group === undefined || !rejects(group, mode)) return undefined;
    if (group.mode === 'forced_open') return 'forced_open';
    const { circuit } = group;
    if (circuit.state === 'closed') return undefined;
    const asking = tracked && { tool, policy: tracked.tool.policy };
    if (admits(circuit, group.tool.policy, circuitMoment(circuits.store, at), asking)) {
      return feeds(group, mode) ? 'group_probe_due' : undefined;
    }
    return isWaiting(circuit) ? 'group_open' : 'probe_in_flight';
  },

  enter: (circuits, { tool, tracked, group }, mode, _key, at) => {
    if (group === undefined || tracked === undefined || !feeds(group, mode)) return undefined;
    const isClosed = group.circuit.state === 'closed';
    if (!isClosed && !rejects(group, mode)) return undefined;
    const lease = isClosed ? undefined : circuits.lease(group, { tool, policy: tracked.tool.policy }, at);
    return { of: 'group', generation: group.circuit.generation, lease };
  },

  isUntouched: ({ entry: { group } }) => group === undefined || isUntouched(group.circuit, group.tool.policy),

  answer: (circuits, permit, ticket, judged, at) => {
    const group = circuits.own(permit.entry.group);
    if (group === undefined) return;
    const { circuit, tool } = group;
    const { outcome, category = 'unknown', retryAfterMs, tokens = 0, blames } = judged;
    const now = circuitMoment(circuits.store, at);
    const call = { durationMs: 0, tokens };
    const ended = { ...call, category, retryAfterMs, tool: permit.tool };
    let next = circuit;
    if (outcome === 'ignored') next = ignore(circuit, ticket, ended, tool.policy, now, circuits.surroundings(group));
    else if (outcome === 'success') next = succeed(circuit, ticket, call, tool.policy, now);
    else if (circuit.state !== 'closed' || countsForGroup(category) || blames === 'group') {
      const atOnce = blames === 'group' ? 'transport' : undefined;
      next = fail(circuit, ticket, { ...ended, atOnce }, tool.policy, now, circuits.surroundings(group));
    }
    if (circuit.state === 'closed' && next.state === 'open') group.openedBy = permit.span && spanContextOf(permit.span);
    circuits.move(group, next, at, 'calls', outcome !== 'ignored');
  },

  giveBack: (circuits, permit, ticket) => {
    const group = circuits.own(permit.entry.group);
    if (group !== undefined) group.circuit = giveBack(group.circuit, ticket);
  },
};
