import assert from 'node:assert/strict';
import { type BudgetOptions, createBudget } from '../budget/budget.ts';
import * as paying from '../budget/ledger.ts';
import { createLedger, type Ledger } from '../budget/ledger.ts';
import * as correlating from '../budget/systemic.ts';
import { type Correlation, type CorrelationPolicy, isTogether, NO_CORRELATION } from '../budget/systemic.ts';
import { admit, type Circuit, closedCircuit, fail, isLate, succeed, type Ticket } from '../circuit/circuit.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { Edge } from './walk.ts';
import { canonicalLedger, causes } from './walk-ledger-rules.ts';

/** Two circuits, the ledger that pays for them, and a call under way of each. Canonical: the clock always shows NOW. */
export interface LedgerState {
  readonly ledger: Ledger;
  readonly correlation: Correlation;
  readonly circuits: Readonly<Record<Tool, Circuit>>;
  readonly underWay: Readonly<Partial<Record<Tool, Ticket>>>;
}

export interface LedgerRules {
  readonly policy: CircuitPolicy;
  readonly systemic: CorrelationPolicy;
  readonly categories: readonly ErrorCategory[];
}

type Tool = 'a' | 'b';

const TOOLS: readonly Tool[] = ['a', 'b'];
const NOW = 1_000;
const GENERATION = 10;
const CALL = { durationMs: 0, tokens: 0 };

const moment = (ms: number): Moment => ({ ms, step: 0, stepMs: 0 });
const AT = moment(NOW);

export const ledgerStart = (budget: BudgetOptions): LedgerState => ({
  ledger: createLedger(createBudget(budget)),
  correlation: NO_CORRELATION,
  circuits: { a: closedCircuit(GENERATION), b: closedCircuit(GENERATION) },
  underWay: {},
});

/** Everything that may happen, put together as the session does it, with the invariants that hold for it. */
export function* ledgerEdges(state: LedgerState, rules: LedgerRules): Generator<Edge<LedgerState>> {
  const to = (name: string, after: LedgerState): Edge<LedgerState> => {
    causes(state, after, name);
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
  yield to('resume', { ...state, ledger: paying.renewBudget(state.ledger) });
  yield to('confirmRecovered', confirmed(state, rules));
  const later = moment(NOW + 1);
  const after = isPaused(state) ? state : { ...state, ledger: timePassed(state, rules, later) };
  causes(state, after, '1 ms');
  yield { name: '1 ms', next: canonical(after, rules, later.ms) };
}

const isPaused = ({ correlation }: LedgerState): boolean => correlation.event !== undefined;

const aroundOf = (correlation: Correlation, { systemic }: LedgerRules): paying.Around => ({
  correlation,
  within: (from, to) => isTogether(systemic, from, to),
});

const timePassed = ({ ledger, correlation }: LedgerState, rules: LedgerRules, at: Moment): Ledger =>
  paying.recordExhaustion(paying.recordTime(ledger, at, aroundOf(correlation, rules)));

const followed = (ledger: Ledger, { event }: Correlation, { systemic }: LedgerRules): Ledger =>
  paying.followEvent(ledger, event, (from, to) => isTogether(systemic, from, to));

const confirmed = (state: LedgerState, rules: LedgerRules): LedgerState => {
  const correlation = correlating.resolveEvent(state.correlation);
  return { ...state, correlation, ledger: followed(state.ledger, correlation, rules) };
};

/** S2, B1: a paused session lets nothing through. */
const ask = (state: LedgerState, tool: Tool, { policy }: LedgerRules): LedgerState & { readonly ticket?: Ticket } => {
  if (isPaused(state) || state.ledger.exhausted) return state;
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

const failed = (state: LedgerState, tool: Tool, category: ErrorCategory, rules: LedgerRules): LedgerState => {
  const { policy, systemic } = rules;
  const { ticket, circuit, rest } = settled(state, tool);
  if (isLate(circuit, ticket)) return rest;
  const isProbe = ticket.lease !== undefined;
  const failure = {
    ...{ tool, category, at: AT, tokens: 0, hasCircuit: true, isProbe, group: undefined },
    isPartOfEvent: isPaused(state),
    mayWait: policy.failureThreshold,
  };
  let { correlation } = state;
  let ledger = paying.recordFailure(state.ledger, failure, aroundOf(correlation, rules));
  const entry = { tool, category, at: AT, unixMs: 0 };
  if (!isProbe) correlation = correlating.correlateFailure(correlation, entry, systemic);
  ledger = followed(ledger, correlation, rules);
  const next = fail(circuit, ticket, { ...CALL, category }, policy, AT);
  if (next.state === 'open') {
    const isListed = correlation.openings.some((one) => one.tool === tool);
    correlation = correlating.correlateOpening(correlation, entry, systemic);
    const counts = ledger.budget.rule === 'strict' ? !isListed : circuit.state === 'closed';
    if (counts) ledger = paying.recordOpening(ledger, entry, aroundOf(correlation, rules));
    ledger = followed(ledger, correlation, rules);
  }
  return {
    ...{ ...rest, circuits: { ...state.circuits, [tool]: next }, correlation },
    ledger: paying.recordExhaustion(ledger),
  };
};

const succeeded = (state: LedgerState, tool: Tool, { policy, systemic }: LedgerRules): LedgerState => {
  const { ticket, circuit, rest } = settled(state, tool);
  if (isLate(circuit, ticket)) return rest;
  let correlation = correlating.correlateSuccess(state.correlation, tool, systemic);
  let ledger = paying.recordSuccess(state.ledger, tool, undefined);
  const next = succeed(circuit, ticket, CALL, policy, AT);
  if (circuit.state !== 'closed' && next.state === 'closed') {
    correlation = correlating.correlateClosing(correlation, new Set([tool]));
    ledger = paying.recordClosing(ledger, tool);
  }
  ledger = paying.recordExhaustion(ledger);
  return { ...rest, circuits: { ...state.circuits, [tool]: next }, correlation, ledger };
};

/** The same state as seen from NOW: what is too long ago to matter lies just long enough ago. */
const canonical = (state: LedgerState, rules: LedgerRules, ms: number): LedgerState => {
  const { policy, systemic } = rules;
  const ago = (at: Moment, most: number) => moment(NOW - Math.min(ms - at.ms, most));
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
    ...canonicalLedger(state, systemic, ago, AT),
    circuits: { a: circuitOf(state.circuits.a), b: circuitOf(state.circuits.b) },
    underWay: { ...ticketOf('a'), ...ticketOf('b') },
  };
};

/** Whether both tools are called again once they have recovered, those under way too, and an operator has let the run go on. */
export const recovers = (state: LedgerState, rules: LedgerRules): boolean => {
  const free = confirmed(state, rules);
  let now: LedgerState = { ...free, ledger: paying.renewBudget(free.ledger) };
  for (const tool of TOOLS) if (now.underWay[tool] !== undefined) now = succeeded(now, tool, rules);
  for (let round = 0; round <= rules.policy.maxCooldownMs; round += 1) {
    for (const tool of TOOLS) {
      const { ticket, ...asked } = ask(now, tool, rules);
      now = ticket ? succeeded({ ...asked, underWay: { ...asked.underWay, [tool]: ticket } }, tool, rules) : now;
    }
    if (TOOLS.every((tool) => now.circuits[tool].state === 'closed')) return !isPaused(now) && !now.ledger.exhausted;
    now = canonical(now, rules, NOW + 1);
  }
  return false;
};
