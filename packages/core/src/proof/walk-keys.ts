import assert from 'node:assert/strict';
import {
  admit,
  admits,
  type Circuit,
  closedCircuit,
  fail,
  failuresInRow,
  ignore,
  isLate,
  succeed,
} from '../circuit/circuit.ts';
import { answerKey, distinctKey, enterKey, forgetKeys, giveBackKey, keyCircuit } from '../circuit/key-circuits.ts';
import type { Moment } from '../clock.ts';
import type { Judged } from '../outcome.ts';
import type { Edge } from './walk.ts';
import {
  type Call,
  canonical,
  GENERATION,
  type How,
  type Key,
  type KeyRules,
  type KeyState,
  keyedOf,
  keysIn,
  moment,
  NOW,
} from './walk-keys-state.ts';

const MOST_UNDER_WAY = 2;
const CALL = { durationMs: 0, tokens: 0 };

const JUDGED: Readonly<Record<How, Judged>> = {
  success: { outcome: 'success', category: undefined },
  'key fails': { outcome: 'ignored', category: 'network', blames: 'key' },
  'tool fails': { outcome: 'failure', category: 'network' },
  ignored: { outcome: 'ignored', category: 'cancelled' },
};

/** Everything that may happen, put together as the session does it, with the invariants that hold for it. */
export function* keyEdges(state: KeyState, rules: KeyRules): Generator<Edge<KeyState>> {
  const to = (name: string, after: KeyState, ms = NOW): Edge<KeyState> => ({
    name,
    next: canonical(checked(after), rules, ms),
  });
  if (state.underWay.length < MOST_UNDER_WAY)
    for (const key of rules.keys) yield to(`acquire ${key}`, ask(state, key, rules));
  for (const [index, call] of state.underWay.entries()) {
    for (const how of rules.hows) yield to(`${how} of call ${index} of ${call.key}`, settle(state, call, how, rules));
  }
  yield to('1 ms', lapse(state, rules, NOW + 1), NOW + 1);
  yield to('control', takeOver(state, rules));
}

/** C15: tool, then key; a call takes a slot of each that is not closed, or none. */
const ask = (state: KeyState, key: Key, rules: KeyRules): KeyState => {
  const at = moment(NOW);
  const keyed = keyedOf(state, rules);
  const own = keyCircuit(keyed, key);
  const goes = admits(state.tool, rules.tool, at) && admits(own, rules.key, at);
  if (own.state === 'open' && state.tool.state === 'closed')
    assert.equal(goes, NOW - own.outage.openedAt.ms >= own.outage.waitMs, 'P1, C14');
  if (own.state === 'closed') assert.equal(goes, admits(state.tool, rules.tool, at), 'C14: other keys reject nothing');
  if (!goes) return state;
  const { circuit: tool, ...rest } = admit(state.tool, rules.tool, at);
  const pass = enterKey(keyed, key, at);
  assert.equal(pass.lease === undefined, own.state === 'closed', 'C15: a slot of the key, if it is not closed');
  const lease = 'lease' in rest ? rest.lease : undefined;
  const call = { key, own: { generation: tool.generation, lease }, pass };
  return { ...state, tool, keys: onlyOf(state, key, keysIn(keyed)), underWay: [...state.underWay, call] };
};

/** C14: what happens to one key is nothing to the others. */
const onlyOf = (before: KeyState, key: Key, after: KeyState['keys']): KeyState['keys'] => {
  for (const one of Object.keys({ ...before.keys, ...after }) as Key[])
    if (one !== key) assert.equal(after[one], before.keys[one], 'C14: other keys stay as they are');
  return after;
};

const settle = (state: KeyState, call: Call, how: How, rules: KeyRules, ms = NOW): KeyState => {
  const at = moment(ms);
  const keyed = keyedOf(state, rules);
  const before = keyCircuit(keyed, call.key);
  const rest = { ...state, underWay: state.underWay.filter((one) => one !== call) };
  if (isLate(state.tool, call.own)) {
    giveBackKey(keyed, call.pass); // C7: it only gives its slot back.
    const after = keyCircuit(keyed, call.key);
    assert.equal(after.state, before.state, 'C7');
    return { ...rest, keys: onlyOf(state, call.key, keysIn(keyed)) };
  }
  answerKey(keyed, call.pass, JUDGED[how], at, false);
  const tool = ofTool(state.tool, call, how, rules, at);
  const keys = onlyOf(state, call.key, keysIn(keyed));
  const after = keyCircuit(keyed, call.key);
  if (before.generation === GENERATION && state.keys[call.key] === undefined && how !== 'key fails')
    assert.equal(keys[call.key], undefined, 'C14: a circuit from its first failure on');
  return watchedKey({ ...watchedTool(rest, tool, call, how, rules), keys }, before, after, call, how, rules);
};

const ofTool = (circuit: Circuit, call: Call, how: How, { tool: policy }: KeyRules, at: Moment): Circuit => {
  if (how === 'success') return succeed(circuit, call.own, CALL, policy, at);
  const failure = { ...CALL, category: 'network', key: distinctKey(call.pass, 'network') } as const;
  if (how === 'tool fails') return fail(circuit, call.own, failure, policy, at);
  if (how === 'ignored') return ignore(circuit, call.own, { category: 'cancelled' }, policy, at);
  if (circuit.state === 'closed') return fail(circuit, call.own, { ...failure, ofKey: true }, policy, at);
  return ignore(circuit, call.own, failure, policy, at);
};

/** C3, C14: what the observer makes of a result that concerns the tool. */
const watchedTool = (
  state: KeyState,
  next: Circuit,
  { key, own }: Call,
  how: How,
  { tool: policy }: KeyRules,
): KeyState => {
  const { tool, row } = state;
  if (how === 'ignored') {
    if (own.lease === undefined) assert.equal(next, tool, 'O1');
    assert.equal(next.state, tool.state, 'C8');
    return { ...state, tool: next };
  }
  if (tool.state !== 'closed') {
    if (how !== 'success') assert.equal(next.state, 'open', 'C6, C8, C14');
    return { ...state, tool: next };
  }
  const failing = how === 'success' ? [] : [...new Set([...state.failing, key])];
  const opensByKeys = failing.length >= policy.keysThreshold;
  if (how === 'key fails') {
    assert.equal(next.state, opensByKeys ? 'open' : 'closed', 'C14');
    assert.equal(failuresInRow(next), opensByKeys ? 0 : row.length, 'C14: it is no failure of the tool');
    return { ...state, tool: next, row: opensByKeys ? [] : row, failing: opensByKeys ? [] : failing };
  }
  const now = how === 'success' ? [] : [...row, key];
  const opens = now.length >= policy.failureThreshold || new Set(now).size >= 3 || opensByKeys;
  assert.equal(next.state, opens ? 'open' : 'closed', 'C3, C14');
  if (next.state === 'open')
    assert.equal(next.outage.trip, now.length >= policy.failureThreshold ? 'consecutive' : 'keys');
  return { ...state, tool: next, row: opens ? [] : now, failing: opens ? [] : failing };
};

/** C14: and of one that concerns the key. */
const watchedKey = (
  state: KeyState,
  before: Circuit,
  after: Circuit,
  { key, pass }: Call,
  how: How,
  { key: policy }: KeyRules,
): KeyState => {
  if (isLate(before, pass)) {
    assert.equal(after.state, before.state, 'C7');
    return state;
  }
  if (before.state !== 'closed') {
    assert.ok(pass.lease, 'only a probe passes a key that is not closed');
    const expected = how === 'success' ? 'closed' : how === 'ignored' ? 'half_open' : 'open';
    if (policy.probes === 1 || how !== 'success') assert.equal(after.state, expected, 'C6, C8, C14');
    return { ...state, rows: { ...state.rows, [key]: 0 } };
  }
  const failures = how === 'success' ? 0 : (state.rows[key] ?? 0) + (how === 'key fails' ? 1 : 0);
  const opens = failures >= policy.failureThreshold;
  assert.equal(after.state, opens ? 'open' : 'closed', 'C14');
  return { ...state, rows: { ...state.rows, [key]: opens ? 0 : failures } };
};

/** C9, C14: calls whose lease has ended have failed: for the key alone where they probed no more than that. */
const lapse = (state: KeyState, rules: KeyRules, ms: number): KeyState => {
  const untilMs = ({ own, pass }: Call) => own.lease?.untilMs ?? pass.lease?.untilMs ?? Number.POSITIVE_INFINITY;
  const hung = state.underWay.find((one) => untilMs(one) <= ms);
  if (hung === undefined) return checked(state);
  const how = hung.own.lease === undefined ? 'key fails' : 'tool fails';
  return lapse(checked(settle(state, hung, how, rules, ms)), rules, ms);
};

/** C1: the tool and its keys begin again, and no result of before is in time. */
const takeOver = (state: KeyState, rules: KeyRules): KeyState => {
  const { keys: before } = keyedOf(state, rules);
  const generation = forgetKeys(before)?.generation ?? 0;
  for (const { pass } of state.underWay) assert.ok(pass.generation < generation, 'C7');
  const underWay = state.underWay.map(({ key, ...call }) => ({
    key,
    own: { ...call.own, generation: GENERATION - 1 },
    pass: { ...call.pass, generation: GENERATION - 1 },
  }));
  return { tool: closedCircuit(GENERATION), keys: {}, underWay, row: [], failing: [], rows: {} };
};

/** What holds in every state. */
const checked = (state: KeyState): KeyState => {
  const { tool, keys, underWay } = state;
  const slots = (circuit: Circuit, tickets: readonly Call['own'][]) => {
    const leases = circuit.state === 'half_open' ? circuit.leases : [];
    const causes = tickets.filter((one) => !isLate(circuit, one)).flatMap(({ lease }) => (lease ? [lease.id] : []));
    assert.deepEqual(
      leases.map(({ id }) => id).sort(),
      causes.sort(),
      'C15: each slot is causes by one call, and each returns',
    );
  };
  slots(
    tool,
    underWay.map(({ own }) => own),
  );
  for (const [key, circuit] of Object.entries(keys)) {
    slots(
      circuit,
      underWay.filter((one) => one.key === key).map(({ pass }) => pass),
    );
    if (circuit.state === 'closed') assert.equal(failuresInRow(circuit), state.rows[key as Key] ?? 0, 'C14');
  }
  if (tool.state === 'closed') assert.equal(failuresInRow(tool), state.row.length, 'C3');
  return state;
};

/** Whether all circuits close once the tool and all targets have recovered: calls under way never settle. */
export const keysRecover = (state: KeyState, rules: KeyRules): boolean => {
  let now = state;
  for (let round = 0; round <= 60; round += 1) {
    for (const key of rules.keys) {
      const asked = ask(now, key, rules);
      const call = asked === now ? undefined : asked.underWay.at(-1);
      if (call !== undefined) now = settle(asked, call, 'success', rules);
    }
    if ([now.tool, ...Object.values(now.keys)].every((one) => one.state === 'closed')) return true;
    now = canonical(lapse(now, rules, NOW + 1), rules, NOW + 1);
  }
  return false;
};
