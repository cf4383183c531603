import assert from 'node:assert/strict';
import {
  admit,
  admits,
  type Circuit,
  closedCircuit,
  fail,
  failuresInRow,
  giveBack,
  isLate,
  succeed,
  type Ticket,
} from '../circuit/circuit.ts';
import type { Asking } from '../circuit/schedule.ts';
import type { FailuresInRow } from '../circuit/trip-policies/consecutive.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { Edge } from './walk.ts';
import {
  type Call,
  canonical,
  type GroupRules,
  type GroupState,
  moment,
  NOW,
  TOOLS,
  type Tool,
} from './walk-group-state.ts';

const MOST_UNDER_WAY = 2;
const CALL = { durationMs: 0, tokens: 0 };

type How = 'success' | 'network' | 'permission' | 'end of the transport' | 'ignored';
const WAYS: readonly How[] = ['success', 'network', 'permission', 'end of the transport', 'ignored'];

/** Everything that may happen, put together as the session does it, with the invariants that hold for it. */
export function* groupEdges(state: GroupState, rules: GroupRules): Generator<Edge<GroupState>> {
  const to = (name: string, after: GroupState, ms = NOW): Edge<GroupState> => ({
    name,
    next: canonical(checked(after), rules, ms),
  });
  if (state.underWay.length < MOST_UNDER_WAY)
    for (const tool of TOOLS) yield to(`acquire ${tool}`, ask(state, tool, rules));
  for (const [index, call] of state.underWay.entries()) {
    for (const how of WAYS) yield to(`${how} of call ${index} of ${call.tool}`, settle(state, call, how, rules));
  }
  yield to('1 ms', lapse(state, rules, NOW + 1), NOW + 1);
}

const asking = (tool: Tool, { tool: policy }: GroupRules): Asking => ({ tool, policy });

/** C15: the first that rejects gives the reason; a call takes a slot of each circuit that is not closed, or none. */
const ask = (state: GroupState, tool: Tool, rules: GroupRules): GroupState => {
  const at = moment(NOW);
  const { group, tools, underWay } = state;
  const own = tools[tool];
  const goes = admits(group, rules.group, at, asking(tool, rules)) && admits(own, rules.tool, at);
  if (group.state === 'open') {
    const { openedAt, waitMs } = group.outage;
    const wait = waitMs + (state.failedLast === tool ? rules.tool.cooldownMs : 0);
    if (own.state === 'closed')
      assert.equal(goes, NOW - openedAt.ms >= wait, 'P1, C15: others first after a failed probe');
  }
  if (!goes) return state;
  const first = admit(group, rules.group, at, asking(tool, rules));
  const second = admit(own, rules.tool, at);
  const ticketOf = ({ circuit, ...rest }: typeof first): Ticket => ({
    generation: circuit.generation,
    ...('lease' in rest && { lease: rest.lease }),
  });
  const call = { tool, group: ticketOf(first), own: ticketOf(second) };
  assert.equal(
    call.group.lease === undefined,
    group.state === 'closed',
    'C15: a slot of the group, if it is not closed',
  );
  assert.equal(
    call.own.lease === undefined,
    own.state === 'closed',
    'C15: and a slot of the tool, if it is not closed',
  );
  return { ...state, group: first.circuit, tools: { ...tools, [tool]: second.circuit }, underWay: [...underWay, call] };
};

const settle = (state: GroupState, call: Call, how: How, rules: GroupRules, ms = NOW): GroupState => {
  const { group, tools } = state;
  const { tool } = call;
  const own = tools[tool];
  const rest = { ...state, underWay: state.underWay.filter((one) => one !== call) };
  if (isLate(own, call.own)) return { ...rest, group: giveBack(group, call.group) }; // C7: it only gives its slots back.
  const at = moment(ms);
  const next = ofGroup(group, call, how, rules, at);
  const seen = watched(rest, state, call, how, next, rules);
  if (group.state === 'closed' && next.state === 'open') {
    const absorbed = (one: Circuit) => closedCircuit(one.generation + 1);
    return { ...seen, group: next, tools: { a: absorbed(tools.a), b: absorbed(tools.b) } };
  }
  // C15: a probe of the group that fails says nothing of a tool whose own circuit is closed.
  const isExplained = call.group.lease !== undefined && own.state === 'closed' && how !== 'success';
  return isExplained
    ? { ...seen, group: next }
    : { ...seen, group: next, tools: { ...tools, [tool]: ofTool(own, call, how, rules, at) } };
};

const categoryOf = (how: How): ErrorCategory => (how === 'permission' ? 'permission' : 'network');

const ofGroup = (circuit: Circuit, call: Call, how: How, { group: policy }: GroupRules, at: Moment): Circuit => {
  if (how === 'ignored') return giveBack(circuit, call.group);
  if (how === 'success') return succeed(circuit, call.group, CALL, policy, at);
  if (how === 'permission' && circuit.state === 'closed') return circuit; // C13: the tool's own failure.
  const failure = {
    ...CALL,
    category: categoryOf(how),
    tool: call.tool,
    atOnce: how === 'end of the transport' ? ('transport' as const) : undefined,
  };
  return fail(circuit, call.group, failure, policy, at);
};

const ofTool = (circuit: Circuit, call: Call, how: How, { tool: policy }: GroupRules, at: Moment): Circuit => {
  if (how === 'ignored') return giveBack(circuit, call.own);
  if (how === 'success') return succeed(circuit, call.own, CALL, policy, at);
  return fail(circuit, call.own, { ...CALL, category: categoryOf(how) }, policy, at);
};

/** C13: what the observer makes of a result. */
const watched = (
  rest: GroupState,
  { group, row, failedLast }: GroupState,
  call: Call,
  how: How,
  next: Circuit,
  { group: policy }: GroupRules,
): GroupState => {
  if (isLate(group, call.group)) {
    assert.equal(next, group, 'C7: another probe has moved the group on');
    return rest;
  }
  if (group.state === 'closed') {
    const now = how === 'success' ? [] : [...row, ...(how === 'network' ? [call.tool] : [])];
    const opens =
      how === 'end of the transport' ||
      (how === 'network' && now.length >= policy.failureThreshold && new Set(now).size >= policy.distinctTools);
    assert.equal(next.state, opens ? 'open' : 'closed', 'C13');
    return { ...rest, row: opens ? [] : now };
  }
  assert.ok(call.group.lease, 'C13: only a probe passes a group that is not closed');
  if (how === 'ignored') {
    assert.equal(next.state, 'half_open', 'C8');
    return rest;
  }
  if (how !== 'success') assert.equal(next.state, 'open', 'C6: the first failure reopens, of any category');
  if (next.state === 'closed') return { ...rest, failedLast: undefined };
  return { ...rest, failedLast: how === 'success' ? failedLast : call.tool };
};

/** C9: calls whose lease has ended have failed. */
const lapse = (state: GroupState, rules: GroupRules, ms: number): GroupState => {
  const untilMs = ({ group, own }: Call) => group.lease?.untilMs ?? own.lease?.untilMs ?? Number.POSITIVE_INFINITY;
  const hung = state.underWay.find((one) => untilMs(one) <= ms);
  return hung === undefined ? checked(state) : lapse(checked(settle(state, hung, 'network', rules, ms)), rules, ms);
};

/** What holds in every state. */
const checked = (state: GroupState): GroupState => {
  const { group, tools, underWay } = state;
  const slots = (circuit: Circuit, tickets: readonly Ticket[]) => {
    const leases = circuit.state === 'half_open' ? circuit.leases : [];
    const causes = tickets.filter((one) => !isLate(circuit, one)).flatMap(({ lease }) => (lease ? [lease.id] : []));
    assert.deepEqual(
      leases.map(({ id }) => id).sort(),
      causes.sort(),
      'C15: each slot is causes by one call, and each returns',
    );
  };
  slots(
    group,
    underWay.map((one) => one.group),
  );
  for (const tool of TOOLS)
    slots(
      tools[tool],
      underWay.filter((one) => one.tool === tool).map(({ own }) => own),
    );
  if (group.state === 'closed') {
    assert.equal(failuresInRow(group), state.row.length, 'C13');
    const { tools: failed = [] } = (group.counts?.consecutive ?? {}) as Partial<FailuresInRow>;
    if (failed.length > 0) assert.deepEqual([...failed].sort(), [...new Set(state.row)].sort(), 'C13');
  }
  return state;
};

/** Whether all circuits close once both tools have recovered: calls under way never settle, and each new one succeeds at once. */
export const groupRecovers = (state: GroupState, rules: GroupRules): boolean => {
  let now: GroupState = { ...state, underWay: state.underWay };
  for (let round = 0; round <= 60; round += 1) {
    for (const tool of TOOLS) {
      const asked = ask(now, tool, rules);
      const call = asked === now ? undefined : asked.underWay.at(-1);
      if (call !== undefined) now = settle(asked, call, 'success', rules);
    }
    if ([now.group, now.tools.a, now.tools.b].every((one) => one.state === 'closed')) return true;
    now = canonical(lapse(now, rules, NOW + 1), rules, NOW + 1);
  }
  return false;
};
