import { type CircuitMode, isLate, isUntouched, type Ticket } from '../circuit/circuit.ts';
import type { CircuitRegistry } from '../circuit-registry.ts';
import type { Moment } from '../clock.ts';
import { countedIn, isBusy } from '../in-flight.ts';
import type { Judged, Settlement } from '../outcome.ts';
import { holdsShared, NO_PASSES, type Pass } from '../passes.ts';
import type { EndingCall, Slots } from '../permit.ts';
import { isCounted, REASONS, type Reason } from '../reasons.ts';
import { tallyOutcome } from '../session-tools.ts';
import {
  type Asked,
  type AskedCall,
  type Barrier,
  type Engine,
  EVENT_PAUSES,
  EVENT_SKIPS,
  GROUP_MOVED,
  HAS_FAILURES,
  HAS_GROUP,
  HAS_KEY,
  HAS_MODE,
  HAS_PRECHECK,
  HAS_RUN,
  IS_BOUNDED,
  IS_CALL,
  IS_RESTRICTED,
  KEYS_MOVED,
  type Question,
  TOOL_MOVED,
} from './barrier.ts';
import { eventBarrier } from './event-barrier.ts';
import { groupBarrier } from './group-barrier.ts';
import { keyBarrier } from './key-barrier.ts';
import { chargeCall, toolBarrier } from './tool-barrier.ts';

/** S2: an event that skips its tools, and pauses nothing. */
const skippingEvent: Question = { when: EVENT_SKIPS, ask: eventBarrier.ask };

/** B1: the failure budget of the session. */
const failureBudget: Question = {
  when: HAS_FAILURES,
  ask: ({ circuits: { ledgers } }, _asked, mode) =>
    ledgers.isExhausted(ledgers.sideOf(mode)) ? 'budget_exhausted' : undefined,
};

/** D2: the limits of the run. */
const runLimits: Question = {
  when: HAS_RUN,
  ask: ({ run }, _asked, _mode, call, { ms }) => (call.run ?? run)?.limitObjection(ms)?.reason,
};

/** K2: a tool that is not allowed is not called. */
const allowedTools: Question = {
  when: IS_RESTRICTED,
  ask: ({ allowed }, { tool }) => (allowed !== undefined && !allowed.has(tool) ? 'not_allowed' : undefined),
};

/** C1: a person has decided. */
const forcedMode: Question = {
  when: HAS_MODE,
  ask: (_engine, _asked, mode) => (mode === 'forced_open' || mode === 'disabled' ? mode : undefined),
};

/** K1: the tool's own check says that it can't be used. */
const precheck: Question = {
  when: HAS_PRECHECK,
  ask: ({ box }, { spec }, _mode, _call, { ms }) =>
    spec?.precheck !== undefined && box.prechecks.availability(spec.name, spec.precheck, ms) === 'unavailable'
      ? 'unavailable'
      : undefined,
};

/** C17: the tool or its group has as many calls under way as it may have. */
const maxInFlight: Question = {
  sparesProbes: true,
  when: IS_BOUNDED,
  ask: (_engine, asked, mode, _call, { ms }) => (isBusy(asked, mode, ms) ? 'busy' : undefined),
};

/**
 * What may reject a call, in the order of asking. The first objection is the reason. The widest cause comes first, because a model
 * has to know first that it may call no tool at all.
 */
const OBJECTIONS: readonly Question[] = [
  eventBarrier, // One that pauses the session (S2).
  failureBudget, // It pauses all calls too, but an event says more.
  runLimits, // So do they, but failures say more.
  skippingEvent, // After what pauses all calls.
  allowedTools, // Before the mode: a tool that is not allowed is not called, even if its circuit is disabled.
  forcedMode, // Before the circuits, which do not count in these modes.
  precheck, // Before the circuits: a tool that can't be used gets no probe.
  groupBarrier, // It decides for all of its tools.
  toolBarrier,
  keyBarrier, // The narrowest: other keys of the tool may still work.
  maxInFlight, // After the circuits, which know more.
];

/**
 * The circuits that a call passes. If several are due, one call probes them all, and the first gives the reason. In this order
 * they also lend their slots and get the result. It is not the order of asking:
 * - The group comes before the tool, because a group that opens absorbs the tool. The result is late then.
 * - The tool comes before the event. A success ends the event, and then the waits of all open circuits begin again (S5): the tool's
 *   has to be closed by then.
 * - The key is last. It knows the least about the others, and changes nothing but itself.
 */
const CIRCUITS: readonly Barrier[] = [groupBarrier, toolBarrier, eventBarrier, keyBarrier];

/** The facts that any question needs. */
const ASKED = OBJECTIONS.reduce((all, { when }) => all | when, 0);

/** The facts with which a call that nothing rejects passes more than the closed circuit of its tool. */
export const PASSED = CIRCUITS.reduce((all: number, { passed = 0 }) => all | passed, IS_BOUNDED);

/** The facts of a call. A barrier that is not configured costs one comparison. */
export const factsOf = (
  { allowed, box, circuits, run }: Engine,
  { spec, tracked, group }: Asked,
  mode: CircuitMode,
  call: AskedCall,
): number => {
  let facts: number = IS_CALL;
  if (mode !== 'automatic') facts |= HAS_MODE;
  if (mode === 'observe_only' || !circuits.ledgers.isCalm) {
    facts |= HAS_FAILURES | (box.systemic?.decision === 'skip' ? EVENT_SKIPS : EVENT_PAUSES);
  }
  if (run !== undefined || call.run !== undefined) facts |= HAS_RUN;
  if (allowed !== undefined) facts |= IS_RESTRICTED;
  if (spec?.precheck !== undefined) facts |= HAS_PRECHECK;
  if (group !== undefined) {
    facts |= HAS_GROUP;
    if (group.circuit.state !== 'closed' || group.mode === 'forced_open') facts |= GROUP_MOVED;
  }
  if (call.key !== undefined) facts |= HAS_KEY;
  if (tracked !== undefined) {
    if (tracked.circuit.state !== 'closed') facts |= TOOL_MOVED;
    if (tracked.keys !== undefined) facts |= KEYS_MOVED;
  }
  if ((tracked?.tool.policy.maxInFlight ?? group?.tool.policy.maxInFlight) !== undefined) facts |= IS_BOUNDED;
  return facts;
};

/**
 * The first objection to a call with these facts; or the reason to probe if circuits are due; undefined for nearly every call. Repeated calls
 * are not part of it.
 */
export const objectionTo = (
  engine: Engine,
  asked: Asked,
  mode: CircuitMode,
  call: AskedCall,
  at: Moment,
  facts: number,
): Reason | undefined => {
  if ((facts & ASKED) === 0) return undefined;
  let isDue = false;
  for (const question of OBJECTIONS) {
    if ((facts & question.when) !== question.when) continue;
    if (isDue && question.sparesProbes) continue;
    const reason = question.ask(engine, asked, mode, call, at);
    if (reason !== undefined && REASONS[reason] !== 'probe') return reason;
    isDue ||= reason !== undefined;
  }
  if (!isDue) return undefined;
  for (const barrier of CIRCUITS) {
    const reason = barrier.ask(engine, asked, mode, call, at);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

/** C6: a call passes its circuits. The decision has checked that each that is not closed has a free slot. */
export const enter = (
  circuits: CircuitRegistry,
  asked: Asked,
  mode: CircuitMode,
  key: string | undefined,
  at: Moment,
): Slots => {
  const passes: Pass[] = [];
  let ofTool: Pass | undefined;
  for (const barrier of CIRCUITS) {
    const pass = barrier.enter(circuits, asked, mode, key, at);
    if (pass?.of === 'tool') ofTool = pass;
    else if (pass !== undefined) passes.push(pass);
  }
  const inFlight = countedIn(asked, at.ms);
  return { lease: ofTool?.lease, passes: passes.length === 0 ? NO_PASSES : passes, inFlight };
};

/** What a call took of a circuit. The permit itself is the ticket of its tool's. */
const ticketOf = (permit: EndingCall, { of }: Barrier): Ticket | undefined =>
  of === 'tool' ? permit : permit.passes.find((pass) => pass.of === of);

/** Whether a success of this call changes no circuit and no ledger. It is nearly always so, and saves the rest. */
const isWithoutEffect = ({ ledgers }: CircuitRegistry, permit: EndingCall): boolean => {
  const { entry, passes, generation, decision } = permit;
  const { tracked, group } = entry;
  if (tracked === undefined || decision === 'probe') return false; // C9: a probe is no longer under way.
  const { circuit, tool } = tracked;
  if (circuit.generation !== generation || !isUntouched(circuit, tool.policy)) return false;
  if (!ledgers.isUntouchedBySuccess(tool.name, group?.tool.name)) return false;
  return passes.every(({ of }) => CIRCUITS.some((one) => one.of === of && one.isUntouched?.(permit)));
};

/** How a call comes back. `untouched`: it changes no circuit and no ledger. `late`: they have moved on (C7). */
export type Return = 'untouched' | 'late' | 'counts';

/**
 * A call is over: its history, its run and its tally take the result. Circuits and ledgers take it next, in {@link answer}. A look ahead does
 * both with copies (C11).
 */
export const leave = (
  { circuits, history }: Pick<Engine, 'circuits' | 'history'>,
  permit: EndingCall,
  judged: Judged,
  settlement: Settlement | undefined,
  ms: number,
): Return => {
  const { entry, limits } = permit;
  const isSuccess = judged.outcome === 'success';
  const isUntouched = isSuccess && isWithoutEffect(circuits, permit);
  const late = !isUntouched && returned(circuits, permit);
  permit.freshness = history.settled(permit, judged, settlement, ms);
  if (limits !== undefined) limits.spent = limits.call?.end(judged, isSuccess);
  tallyOutcome(entry.tally, judged, permit.freshness);
  if (isUntouched) return 'untouched';
  return late ? 'late' : 'counts';
};

/** A call is no longer under way. Returns whether it comes back too late to change anything (C7). Then it only returns its leases. */
const returned = (circuits: CircuitRegistry, permit: EndingCall): boolean => {
  if (permit.decision === 'probe') circuits.store.probing.end(permit);
  const tracked = circuits.own(permit.entry.tracked);
  if (tracked === undefined || !permit.answers || !isLate(tracked.circuit, permit)) return false;
  for (const barrier of CIRCUITS) {
    const ticket = ticketOf(permit, barrier);
    if (ticket !== undefined) barrier.giveBack(circuits, permit, ticket);
  }
  return true;
};

/** Charges the result of a call, and gives it to the circuits that let it through, unless it comes back late. */
export const answer = (
  circuits: CircuitRegistry,
  permit: EndingCall,
  judged: Judged,
  at: Moment,
  back: Exclude<Return, 'untouched'>,
): void => {
  // A lease that ends may be the first that the session hears of an event (C12).
  if (back === 'late') {
    circuits.ledgers.conclude();
    return;
  }
  const { outcome, category = 'unknown', tokens = 0 } = judged;
  const { entry, answers } = permit;
  const counts = isCounted(permit.reason);
  if (outcome === 'failure' && counts) {
    chargeCall(circuits, permit, category, at, { tokens, isProbe: probesMoreThanKey(permit) });
  }
  if (outcome === 'success' && counts && answers) {
    circuits.ledgers.succeeded(circuits.modeOf(entry), entry.tool, entry.group?.tool.name);
  }
  for (const barrier of CIRCUITS) {
    const ticket = answers ? ticketOf(permit, barrier) : undefined;
    if (ticket !== undefined) barrier.answer(circuits, permit, ticket, judged, at);
  }
  // The one charge of an event may be the last one too, and a success may make earlier charges final (S3).
  circuits.ledgers.conclude();
};

/** C14: a probe of a key alone costs what any call does. */
const probesMoreThanKey = ({ lease, passes }: EndingCall): boolean => lease !== undefined || holdsShared(passes);

/**
 * C9: the outcome of a probe that never settled. It is a failure of the tool, or of the key alone if the call probed nothing else.
 */
export const lapseOf = (permit: EndingCall): Judged => (probesMoreThanKey(permit) ? LAPSED : LAPSED_KEY);
const LAPSED: Judged = { outcome: 'failure', category: 'timeout' };
const LAPSED_KEY: Judged = { outcome: 'ignored', category: 'timeout', blames: 'key' };
