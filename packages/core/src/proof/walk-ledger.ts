import assert from 'node:assert/strict';
import { type Budget, type Charge, createBudget, remaining } from '../budget.ts';
import { admit, type Circuit, closedCircuit, fail, isLate, succeed, type Ticket } from '../circuit/circuit.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { Moment } from '../clock.ts';
import {
  chargeFailure,
  createLedger,
  type Ledger,
  matureCharges,
  noticeExhaustion,
  recordClosing,
  recordOpening,
  renewBudget,
  resolveEvent,
  sessionState,
} from '../ledger.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { Opening, SystemicPolicy } from '../systemic.ts';
import type { Edge } from './walk.ts';

/** Two circuits, their ledger, and a call under way of each. Canonical: the clock always shows NOW. */
export interface LedgerState {
  readonly ledger: Ledger;
  readonly circuits: Readonly<Record<Tool, Circuit>>;
  readonly underWay: Readonly<Partial<Record<Tool, Ticket>>>;
}

export interface LedgerRules {
  readonly policy: CircuitPolicy;
  readonly systemic: SystemicPolicy;
  readonly categories: readonly ErrorCategory[];
}

type Tool = 'a' | 'b';

const TOOLS: readonly Tool[] = ['a', 'b'];
const NOW = 1_000;
const GENERATION = 10;
const CALL = { durationMs: 0, tokens: 0 };

const moment = (ms: number): Moment => ({ ms, step: 0, stepMs: 0 });
const AT = moment(NOW);

export const ledgerStart = (limit: number): LedgerState => ({
  ledger: createLedger(createBudget(limit)),
  circuits: { a: closedCircuit(GENERATION), b: closedCircuit(GENERATION) },
  underWay: {},
});

/** Everything that may happen, put together as the session does it, with the invariants that hold for it. */
export function* ledgerEdges(state: LedgerState, rules: LedgerRules): Generator<Edge<LedgerState>> {
  const to = (name: string, after: LedgerState): Edge<LedgerState> => {
    held(state.ledger, after.ledger);
    return { name, next: canonical(after, rules, NOW) };
  };
  for (const tool of TOOLS) {
    if (state.underWay[tool] === undefined) {
      const { ticket, ...asked } = ask(state, tool, rules);
      if (ticket === undefined) assert.equal(asked.ledger, state.ledger, 'B3: a rejection costs nothing');
      else yield to(`acquire ${tool}`, { ...asked, underWay: { ...state.underWay, [tool]: ticket } });
      continue;
    }
    for (const category of rules.categories)
      yield to(`${tool} fails: ${category}`, failed(state, tool, category, rules));
    yield to(`${tool} succeeds`, succeeded(state, tool, rules));
  }
  yield to('resume', { ...state, ledger: renewBudget(state.ledger) });
  yield to('confirmRecovered', { ...state, ledger: resolveEvent(state.ledger) });
  const later = moment(NOW + 1);
  const ledger = noticeExhaustion(matureCharges(state.ledger, later, rules.systemic));
  held(state.ledger, ledger);
  yield { name: '1 ms', next: canonical({ ...state, ledger }, rules, later.ms) };
}

/** S2, B1: a paused session lets nothing through. */
const ask = (state: LedgerState, tool: Tool, { policy }: LedgerRules): LedgerState & { readonly ticket?: Ticket } => {
  if (sessionState(state.ledger) !== 'active') return state;
  const admission = admit(state.circuits[tool], policy, AT);
  if (admission.verdict === 'reject') return state;
  const { circuit } = admission;
  const { generation } = circuit;
  const ticket = admission.verdict === 'probe' ? { generation, lease: admission.lease } : { generation };
  return { ...state, circuits: { ...state.circuits, [tool]: circuit }, ticket };
};

const settled = (state: LedgerState, tool: Tool) => {
  const { [tool]: ticket = { generation: -1 }, ...underWay } = state.underWay;
  return { ticket, circuit: state.circuits[tool], rest: { ...state, underWay } };
};

const failed = (
  state: LedgerState,
  tool: Tool,
  category: ErrorCategory,
  { policy, systemic }: LedgerRules,
): LedgerState => {
  const { ticket, circuit, rest } = settled(state, tool);
  if (isLate(circuit, ticket)) return rest;
  const failure = { tool, category, at: AT, tokens: 0, mayWait: policy.failureThreshold };
  let ledger = chargeFailure(state.ledger, failure, systemic);
  const next = fail(circuit, ticket, { ...CALL, category }, policy, AT);
  if (next.state === 'open') ledger = recordOpening(ledger, { tool, category, at: AT, unixMs: 0 }, systemic);
  return { ...rest, circuits: { ...state.circuits, [tool]: next }, ledger: noticeExhaustion(ledger) };
};

const succeeded = (state: LedgerState, tool: Tool, { policy }: LedgerRules): LedgerState => {
  const { ticket, circuit, rest } = settled(state, tool);
  if (isLate(circuit, ticket)) return rest;
  const next = succeed(circuit, ticket, CALL, policy, AT);
  const closes = circuit.state !== 'closed' && next.state === 'closed';
  const ledger = closes ? recordClosing(state.ledger, tool) : state.ledger;
  return { ...rest, circuits: { ...state.circuits, [tool]: next }, ledger };
};

const flagged = ({ charges }: Budget): number => charges.filter(({ event }) => event === true).length;

/** What holds between a ledger and the next. */
const held = (before: Ledger, after: Ledger): void => {
  const [was, is] = [before.budget, after.budget];
  assert.equal(
    is.granted - is.consumed,
    is.limit - is.earlier.failures - is.charges.length,
    'B1: what is left is what is not on the bill',
  );
  assert.ok(is.consumed >= was.consumed && is.granted >= was.granted, 'both counters only grow');
  const renewed = is.cycle !== was.cycle;
  const begins = before.event === undefined && after.event !== undefined;
  const parts = flagged(is) - flagged(was);
  if (!renewed) assert.equal(parts, begins ? 1 : 0, 'S3: an event costs one, when it begins, and never again');
  if (begins) {
    const twice = [...is.charges, ...is.provisional].filter(
      (one) =>
        one.event !== true && after.event?.openings.some(({ tool, at }) => tool === one.tool && one.at.ms >= at.ms),
    );
    assert.deepEqual(twice, [], 'S3: nothing of the event is charged beside it');
    assert.ok(is.consumed <= was.consumed + 1, 'S3: all of it costs one');
  }
  if (before.event !== undefined && after.event !== undefined && !renewed) {
    assert.equal(is.consumed, was.consumed, 'S3: while it lasts, nothing is charged');
  }
  assert.equal(after.exhausted, remaining(is) === 0, 'B1: paused exactly while nothing is left');
};

/** The same state as seen from NOW: what is too long ago to matter lies just long enough ago. */
const canonical = (state: LedgerState, { policy, systemic }: LedgerRules, ms: number): LedgerState => {
  const ago = (at: Moment, most: number) => moment(NOW - Math.min(ms - at.ms, most));
  const old = systemic.windowMs + 1;
  const { budget, openings, event, exhausted, paid } = state.ledger;
  const moved = new Map<Opening, Opening>(openings.map((one) => [one, { ...one, at: ago(one.at, old) }]));
  const anchorOf = (anchor: { readonly tool: string; readonly at: Moment }) => {
    const opening = openings.find(({ tool, at }) => tool === anchor.tool && at === anchor.at);
    const own = opening && moved.get(opening);
    return own ? { tool: own.tool, at: own.at } : { tool: '', at: moment(0) };
  };
  // The one charge of an event takes part in nothing any more.
  const charge = (one: Charge): Charge =>
    one.event ? { ...one, tool: 'a', category: 'unknown', at: AT } : { ...one, at: ago(one.at, old) };
  const ledger: Ledger = {
    exhausted,
    paid,
    openings: [...moved.values()],
    event: event && { ...event, openings: event.openings.map((one) => ({ ...one, at: ago(one.at, old) })) },
    budget: {
      ...budget,
      cycle: 1,
      consumed: 0,
      granted: budget.granted - budget.consumed,
      charges: budget.charges.map(charge),
      provisional: budget.provisional.map((one) => ({ ...one, at: ago(one.at, old), anchor: anchorOf(one.anchor) })),
    },
  };
  const lease = { id: 0, untilMs: Number.MAX_SAFE_INTEGER };
  const circuitOf = (one: Circuit): Circuit => {
    if (one.state === 'closed') return { ...one, generation: GENERATION };
    const outage = { ...one.outage, openedAt: ago(one.outage.openedAt, policy.maxCooldownMs) };
    if (one.state === 'open') return { ...one, generation: GENERATION, outage };
    return { ...one, generation: GENERATION, outage, leases: one.leases.map(() => lease), issued: 1 };
  };
  const ticketOf = (tool: Tool): { [K in Tool]?: Ticket } => {
    const ticket = state.underWay[tool];
    if (ticket === undefined) return {};
    const generation = isLate(state.circuits[tool], ticket) ? GENERATION - 1 : GENERATION;
    return { [tool]: { generation, ...(ticket.lease && { lease }) } };
  };
  return {
    ledger,
    circuits: { a: circuitOf(state.circuits.a), b: circuitOf(state.circuits.b) },
    underWay: { ...ticketOf('a'), ...ticketOf('b') },
  };
};

/** Whether both tools are called again once they have recovered, those under way too, and an operator has let the run go on. */
export const recovers = (state: LedgerState, rules: LedgerRules): boolean => {
  let now: LedgerState = { ...state, ledger: renewBudget(resolveEvent(state.ledger)) };
  for (const tool of TOOLS) if (now.underWay[tool] !== undefined) now = succeeded(now, tool, rules);
  for (let round = 0; round <= rules.policy.maxCooldownMs; round += 1) {
    for (const tool of TOOLS) {
      const { ticket, ...asked } = ask(now, tool, rules);
      now = ticket ? succeeded({ ...asked, underWay: { ...asked.underWay, [tool]: ticket } }, tool, rules) : now;
    }
    if (TOOLS.every((tool) => now.circuits[tool].state === 'closed')) return sessionState(now.ledger) === 'active';
    now = canonical(now, rules, NOW + 1);
  }
  return false;
};
