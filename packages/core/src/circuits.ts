import type { Accounts } from './accounts.ts';
import {
  admit,
  type Circuit,
  categoryOf,
  fail,
  isLate,
  isUntouched,
  type Lease,
  release,
  succeed,
} from './circuit/circuit.ts';
import { type CircuitMode, reportedState } from './circuit/mode.ts';
import { restage } from './circuit/outage.ts';
import { dueStep } from './circuit/schedule.ts';
import { hasWindows } from './circuit/trips/counts.ts';
import type { Moment } from './clock.ts';
import type { SessionContext } from './context.ts';
import type { RecoveredBy } from './events.ts';
import type { PermitOwner, SessionPermit } from './permit.ts';
import type { RecoveryWatch } from './recovery.ts';
import { type Judged, SUCCESS } from './settlement.ts';
import { type CircuitStore, circuitMoment, post, postEvent, postRecovery, putCircuit } from './store.ts';
import { DEFAULT_SYSTEMIC, type Opening, type SystemicEvent } from './systemic.ts';
import { spanContextOf } from './telemetry/spans.ts';
import type { SessionWitness } from './telemetry/witness.ts';
import { type TrackedCircuit, takeOver } from './tracked.ts';

/**
 * The circuits that a session goes by, its own or those of its box (C12): moves them, enters in the accounts what opened
 * and closed, and tells the witness. Every `at` is a moment of the session.
 */
export class Circuits {
  readonly store: CircuitStore;
  readonly #box: SessionContext;
  readonly #accounts: Accounts;
  readonly #witness: SessionWitness;
  readonly #recovery: RecoveryWatch | undefined;
  /** What of the board this session has seen (C12). */
  #seenVersion = 0;
  #seenRecoveries: number;

  constructor(box: SessionContext, store: CircuitStore, accounts: Accounts, witness: SessionWitness) {
    this.store = store;
    this.#box = box;
    this.#accounts = accounts;
    this.#witness = witness;
    this.#recovery = box.recoveryWatch();
    this.#seenRecoveries = store.board?.recoveries ?? 0;
  }

  /** The circuit of a declared tool; closed on its first use (C2), unless one was kept for it (C11), or the session is over. */
  track(name: string, isOver = false): TrackedCircuit | undefined {
    const found = this.store.circuits.get(name);
    if (found !== undefined || isOver) return found;
    const tool = this.#box.keepsCircuits ? this.#box.tool(name) : undefined;
    if (tool === undefined) return undefined;
    const tracked = putCircuit(this.store, tool, this.#box.clock);
    this.#witness.tracked(tracked);
    if (tracked.mode === 'observe_only') this.#accounts.observe(); // From its first use on, whatever that is (C1).
    return tracked;
  }

  /** Takes a probe's place in half-open, if there is one (C6). */
  lend(tracked: TrackedCircuit, at: Moment): Lease | undefined {
    const admission = admit(tracked.circuit, tracked.tool.policy, circuitMoment(this.store, at));
    if (admission.verdict !== 'probe') return undefined;
    const { lease, circuit } = admission;
    this.#move(tracked, circuit, at);
    return lease;
  }

  /** A probe is on its way. */
  begin(tracked: TrackedCircuit, lease: Lease, permit: SessionPermit): void {
    this.store.probing.begin({ tracked, lease, permit });
  }

  /** Whether time, or what other sessions did, may have brought something that a call has to find settled. */
  get hasPending(): boolean {
    const { probing, board } = this.store;
    return probing.size > 0 || (board !== undefined && board.version !== this.#seenVersion);
  }

  /** What time and other sessions have brought. */
  settleDue(at: Moment, own: PermitOwner): void {
    this.#settleLapsed(at.ms, own);
    this.#catchUp(at);
    this.#accounts.mature(at);
    const event = this.#accounts.event ?? this.#accounts.eventOf(true);
    const by = event && this.#recovery?.isOver(latestOf(event), at.ms);
    if (by !== undefined) this.recovered(by, at);
  }

  /** C9: probes whose lease has run out have failed at that time, in the session that asked for them. */
  #settleLapsed(ms: number, own: PermitOwner): void {
    const { probing } = this.store;
    for (let lapsed = probing.firstLapsed(ms); lapsed; lapsed = probing.firstLapsed(ms)) {
      const { lease, permit } = lapsed;
      probing.end(lease);
      permit.owner.lapsed(permit, lease.untilMs);
      if (permit.owner !== own) permit.owner.tell();
    }
  }

  /** A call is no longer under way; whether it comes back too late to change anything (C7). */
  back(permit: SessionPermit): boolean {
    const { tracked } = permit.seat;
    if (permit.lease !== undefined) this.store.probing.end(permit.lease);
    return tracked !== undefined && permit.answers && isLate(tracked.circuit, permit);
  }

  /** What a call came to moves the circuit that let it through. */
  conclude(permit: SessionPermit, judged: Judged, at: Moment): void {
    const { tracked } = permit.seat;
    if (tracked === undefined || !permit.answers) return;
    if (judged === SUCCESS && isUntouched(tracked.circuit, tracked.tool.policy)) return;
    const { circuit } = tracked;
    const next = this.#next(tracked, permit, judged, at);
    if (circuit.state === 'closed' && next.state === 'open') tracked.openedBy = spanContextOf(permit.span);
    this.#move(tracked, next, at);
  }

  #next(tracked: TrackedCircuit, ticket: SessionPermit, judged: Judged, ended: Moment): Circuit {
    const { circuit, tool } = tracked;
    const { outcome, category = 'unknown', retryAfterMs, tokens = 0 } = judged;
    if (outcome === 'ignored') return release(circuit, ticket);
    const { policy, name, precheck } = tool;
    const { durationMs = ended.ms - ticket.at.ms } = judged;
    const at = circuitMoment(this.store, ended);
    const call = { durationMs, tokens };
    if (outcome === 'success' && !hasWindows(policy)) return succeed(circuit, ticket, call, policy, at);
    const surroundings = { capMs: this.#box.capMs(name), taken: this.#takenBesides(tracked) };
    if (outcome === 'success') return succeed(circuit, ticket, call, policy, at, surroundings);
    const degraded = precheck && this.#box.prechecks.peek(name, at.ms) === 'degraded';
    return fail(circuit, ticket, { ...call, category, retryAfterMs, degraded }, policy, at, surroundings);
  }

  /** C1: by hand. The circuit begins anew, and what is under way is late. */
  takeOver(tracked: TrackedCircuit, mode: CircuitMode): void {
    const before = reportedState(tracked.mode, tracked.circuit);
    const category = categoryOf(tracked.circuit);
    takeOver(tracked, mode);
    this.#closed(false, tracked.tool.name);
    if (mode === 'observe_only') this.#accounts.observe();
    this.#witness.moved(tracked, before, reportedState(mode, tracked.circuit), category);
  }

  /** S5: a systemic event is over, and probing begins anew (P3). */
  recovered(by: RecoveredBy, at: Moment): void {
    for (const tracked of this.store.circuits.values()) {
      const { circuit, tool, mode } = tracked;
      if (this.#accounts.eventOf(mode === 'observe_only') === undefined) continue;
      tracked.circuit = restage(circuit, tool.policy, circuitMoment(this.store, at), this.#takenBesides(tracked));
    }
    const { event } = this.#accounts;
    this.#accounts.resolve();
    if (event === undefined) return;
    this.#box.prechecks.forget();
    const { board } = this.store;
    if (board !== undefined) {
      postRecovery(board, by);
      this.#seenVersion = board.version;
      this.#seenRecoveries = board.recoveries;
    }
    this.#witness.resolved(event, by);
  }

  /** P3: whether the probe of another tool is due on a step. What is only observed takes no step from those that aren't (C1). */
  #takenBesides({ tool: own, mode: ownMode }: TrackedCircuit): (step: number) => boolean {
    const { circuits } = this.store;
    return (step) => {
      for (const { circuit, tool, mode } of circuits.values()) {
        if (tool === own || (mode === 'observe_only' && ownMode !== mode)) continue;
        if (circuit.state !== 'open' || circuit.outage.ladder === undefined) continue;
        if (dueStep(circuit.outage, tool.policy) === step) return true;
      }
      return false;
    };
  }

  /** C12: what other sessions did to the circuits that they share with this one. */
  #catchUp(at: Moment): void {
    const { board } = this.store;
    if (board === undefined || board.version === this.#seenVersion) return;
    this.#seenVersion = board.version;
    if (board.recoveries !== this.#seenRecoveries) {
      this.#seenRecoveries = board.recoveries;
      const { event } = this.#accounts;
      this.#accounts.resolve();
      if (event !== undefined) this.#witness.resolved(event, board.recoveredBy);
    }
    const mine = this.#accounts.real.openings;
    const gone = mine.filter(({ tool, at: opened }) => board.openings.get(tool)?.at.ms !== opened.ms);
    if (gone.length > 0) this.#accounts.closedElsewhere(new Set(gone.map(({ tool }) => tool)));
    // Where openings are never looked at beside each other, those of others are nothing to this session.
    if (this.#box.systemic !== undefined) {
      const openings = Array.from(board.openings.values(), (one) => this.#learnt(one, at));
      this.#accounts.openedElsewhere(openings);
    }
    if (board.event !== undefined) {
      const openings = board.event.openings.map((one) => this.#learnt(one, at));
      if (this.#accounts.joined({ ...board.event, openings })) this.#witness.joined(this.#accounts.event);
    }
    this.#share(this.#accounts.event);
    this.#accounts.noticeExhaustion(); // The one charge of an event may be the last.
  }

  /**
   * An opening that another session brought about, as a moment of this one. Steps of this session can't say how long ago it was:
   * what is older than the window by time lies outside of it by steps as well.
   */
  #learnt(opening: Opening, at: Moment): Opening {
    const { ms } = opening.at;
    const { windowMs, windowSteps } = this.#box.systemic ?? DEFAULT_SYSTEMIC;
    const step = at.ms - ms <= windowMs ? at.step : at.step - windowSteps - 1;
    return { ...opening, at: { ms, step, stepMs: at.stepMs } };
  }

  /** C12: probes of a session that ends give their places back, where others share the circuit. */
  giveBack(owner: PermitOwner): void {
    const { probing, board } = this.store;
    if (board === undefined) return;
    for (const { tracked, lease, permit } of [...probing.all()]) {
      if (permit.owner !== owner) continue;
      probing.end(lease);
      tracked.circuit = release(tracked.circuit, permit);
    }
  }

  /** Puts a circuit into its next state; an opening is looked at beside the others. */
  #move(tracked: TrackedCircuit, next: Circuit, at: Moment): void {
    const before = tracked.circuit;
    tracked.circuit = next;
    if (before.state === next.state) return;
    const { name } = tracked.tool;
    const observed = tracked.mode === 'observe_only';
    if (next.state === 'closed') this.#closed(observed, name);
    const isEvent = next.state === 'open' && this.#opened(observed, { tool: name, category: next.outage.category, at });
    const category = categoryOf(next) ?? categoryOf(before);
    if (observed) this.#witness.shadowMoved(name, before.state, next.state, category);
    else this.#witness.moved(tracked, before.state, next.state, category);
    if (isEvent) {
      this.#share(this.#accounts.event);
      this.#witness.detected(this.#accounts.event);
    }
  }

  /** S1; others that share the circuit are told (C12). Whether it made a systemic event. */
  #opened(observed: boolean, facts: Omit<Opening, 'unixMs'>): boolean {
    const opening = { ...facts, unixMs: this.#box.clock.unixNow() };
    if (!observed) this.#post(opening.tool, opening);
    return this.#accounts.opened(observed, opening);
  }

  #closed(observed: boolean, tool: string): void {
    if (!observed) this.#post(tool, undefined);
    this.#accounts.closed(observed, tool);
  }

  /** C12: what pauses this session pauses all that share its circuits, whatever they make of the openings. */
  #share(event: SystemicEvent | undefined): void {
    const { board } = this.store;
    if (board === undefined || event === undefined || board.event !== undefined) return;
    const isUpToDate = this.#seenVersion === board.version;
    postEvent(board, event);
    if (isUpToDate) this.#seenVersion = board.version;
  }

  #post(tool: string, opening: Opening | undefined): void {
    const { board } = this.store;
    if (board === undefined) return;
    // A probe whose lease ran out may be settled before its session has seen what others posted: that is still news to it.
    const isUpToDate = this.#seenVersion === board.version;
    post(board, tool, opening);
    if (isUpToDate) this.#seenVersion = board.version;
  }
}

/** When the latest circuit joined an event, in monotonic ms: from there on its end is waited for (S5). */
const latestOf = ({ openings }: SystemicEvent): number =>
  openings.reduce((latest, { at }) => Math.max(latest, at.ms), Number.NEGATIVE_INFINITY);
