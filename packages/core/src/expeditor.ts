import { type Books, enter, hasProvisional, withShadow } from './books.ts';
import { remaining } from './budget.ts';
import { admit, type Circuit, categoryOf, fail, isLate, release, succeed, type Ticket } from './circuit/circuit.ts';
import { type CircuitMode, reportedState } from './circuit/mode.ts';
import type { Moment } from './clock.ts';
import type { SessionContext } from './context.ts';
import { checkControl } from './control.ts';
import {
  chargeFailure,
  type Ledger,
  matureCharges,
  noticeExhaustion,
  recordClosing,
  recordOpening,
  renewBudget,
  resolveEvent,
  sessionState,
} from './ledger.ts';
import type { KeptCircuit, SessionMemory } from './memory.ts';
import { explain } from './message.ts';
import { type Permit, type PermitOwner, SessionPermit } from './permit.ts';
import { beginProbe, endProbe, firstLapsed, type Probing } from './probes.ts';
import { isCounted, isExecuted, type Reason } from './reasons.ts';
import type { AcquireOptions, Session } from './session.ts';
import { type Judged, judge, type Settlement } from './settlement.ts';
import { type SessionSnapshot, takeSnapshot } from './snapshot.ts';
import { spanContextOf } from './telemetry/spans.ts';
import { SessionWitness } from './telemetry/witness.ts';
import { type TrackedCircuit, takeOver, trackedCircuit } from './tracked.ts';
import { type CircuitView, type SessionView, viewCircuit, viewSession } from './view.ts';

/** The expeditor: the one place that joins the pure parts, and tells the witness what came of it. It runs no tool (E1). */
export class Expeditor implements Session, PermitOwner {
  readonly id: string;
  readonly agent: string;
  readonly #box: SessionContext;
  readonly #witness: SessionWitness;
  readonly #circuits = new Map<string, TrackedCircuit>();
  readonly #probing: Probing = new Set();
  /** Restored circuits whose tools aren't declared yet. */
  readonly #kept: Map<string, KeptCircuit>;
  #books: Books;
  #step: number;
  #stepMs: number;
  #ended = false;

  constructor(box: SessionContext, id: string, { books, step, stepMs, circuits }: SessionMemory) {
    this.id = id;
    this.agent = box.agent;
    this.#box = box;
    this.#step = step;
    this.#stepMs = stepMs;
    this.#books = box.undeclared.mode === 'observe_only' ? withShadow(books) : books;
    this.#kept = new Map(circuits);
    this.#witness = new SessionWitness(box, id, this.#circuits, books.real);
    this.#witness.inUse(box.clock.now());
    for (const tool of circuits.keys()) this.#track(tool);
  }

  acquire(tool: string, options?: AcquireOptions): Permit {
    const permit = this.#decide(tool, options);
    this.#witness.tell();
    return permit;
  }

  #decide(tool: string, options: AcquireOptions | undefined): Permit {
    const ms = this.#arrive();
    if (this.#ended) return this.#permit(tool, 'session_ended', ms, this.#circuits.get(tool), undefined, options);
    const tracked = this.#track(tool);
    const { mode } = tracked ?? this.#box.undeclared;
    const observed = mode === 'observe_only';
    const { real, shadow = real } = this.#books;
    const state = sessionState(observed ? shadow : real);
    if (state !== 'active') {
      const pause = state === 'paused_systemic' ? 'systemic' : 'budget_exhausted';
      return this.#permit(tool, observed ? 'would_pause' : pause, ms, tracked, undefined, options);
    }
    if (mode === 'forced_open' || mode === 'disabled') return this.#permit(tool, mode, ms, tracked, undefined, options);
    if (tracked === undefined) return this.#permit(tool, 'undeclared', ms, undefined, undefined, options);
    const { circuit } = tracked;
    // Almost every call: a closed circuit needs no admission, and is itself the ticket.
    if (circuit.state === 'closed') return this.#permit(tool, 'closed', ms, tracked, circuit, options);
    const at = this.#moment(ms);
    const admission = admit(circuit, tracked.tool.policy, at);
    if (admission.verdict !== 'probe') {
      const skip = circuit.state === 'open' ? 'open' : 'probe_in_flight';
      return this.#permit(tool, observed ? 'would_skip' : skip, ms, tracked, undefined, options);
    }
    const { lease } = admission;
    this.#move(tracked, admission.circuit, at);
    const ticket = { generation: admission.circuit.generation, lease };
    const permit = this.#permit(tool, 'probe_due', ms, tracked, ticket, options);
    beginProbe(this.#probing, tracked, lease, permit);
    return permit;
  }

  settled(permit: SessionPermit, settlement: Settlement): void {
    const ms = this.#arrive(); // May find that the probe has failed by its lease (C9).
    if (permit.close()) {
      const settings = permit.tracked?.tool ?? this.#box.undeclared;
      this.#conclude(permit, judge(settlement, permit.tool, settings, this.#box.clock.unixNow()), ms);
    }
    this.#witness.tell();
  }

  declare(tool: string): void {
    this.#box.declare(tool);
    if (this.#kept.has(tool) && !this.#ended) this.#track(tool);
  }

  step(): void {
    const ms = this.#arrive();
    this.#step += 1;
    this.#stepMs = ms;
    this.#mature(ms);
    this.#witness.tell();
  }

  resume(): void {
    this.#arrive();
    if (this.#ended) return;
    this.#enter(false, renewBudget);
    this.#witness.resumed();
    this.#witness.tell();
  }

  confirmRecovered(): void {
    this.#arrive();
    if (this.#ended) return;
    const { event } = this.#books.real;
    this.#enter(false, resolveEvent);
    if (event !== undefined) this.#witness.resolved(event);
    this.#witness.tell();
  }

  control(name: string, mode: CircuitMode): void {
    checkControl(name, mode, this.#box.tool(name));
    this.#arrive();
    const tracked = this.#ended ? undefined : this.#track(name);
    if (tracked !== undefined && tracked.mode !== mode) this.#takeOver(tracked, mode);
    this.#witness.tell();
  }

  peek(tool: string): CircuitView | undefined {
    const tracked = this.#circuits.get(tool);
    return tracked && viewCircuit(tracked, this.#moment(this.#box.clock.now()));
  }

  view(): SessionView {
    const at = this.#moment(this.#box.clock.now());
    const circuits = [...this.#circuits.values()].map((tracked) => viewCircuit(tracked, at));
    return viewSession(this, this.#step, this.#books.real, circuits);
  }

  snapshot(): SessionSnapshot {
    const circuits = new Map<string, KeptCircuit>([...this.#circuits, ...this.#kept]);
    const memory = { books: this.#books, step: this.#step, stepMs: this.#stepMs, circuits };
    return takeSnapshot(this, memory, this.#box.clock.now());
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#witness.ended();
  }

  /** What every call from outside begins with: what time has brought is settled first. */
  #arrive(): number {
    const ms = this.#box.clock.now();
    if (this.#ended) return ms;
    this.#witness.inUse(ms);
    if (this.#probing.size > 0) this.#settleLapsed(ms);
    if (hasProvisional(this.#books)) this.#mature(ms);
    return ms;
  }

  /** C1: by hand. The circuit begins anew, and what is under way is late. */
  #takeOver(tracked: TrackedCircuit, mode: CircuitMode): void {
    const before = reportedState(tracked.mode, tracked.circuit);
    const category = categoryOf(tracked.circuit);
    takeOver(tracked, mode);
    this.#enter(false, (ledger) => recordClosing(ledger, tracked.tool.name));
    if (mode === 'observe_only') this.#books = withShadow(this.#books);
    this.#witness.moved(tracked, before, reportedState(mode, tracked.circuit), category);
  }

  /** C9: probes whose lease has run out count as failed at that time. */
  #settleLapsed(ms: number): void {
    for (let lapsed = firstLapsed(this.#probing, ms); lapsed; lapsed = firstLapsed(this.#probing, ms)) {
      const { tracked, lease, permit } = lapsed;
      endProbe(this.#probing, tracked, lease);
      if (permit.close()) this.#conclude(permit, { outcome: 'failure', category: 'timeout' }, lease.untilMs);
    }
  }

  /** S3: provisional charges whose window has passed may be what empties the budget. */
  #mature(ms: number): void {
    const at = this.#moment(ms);
    this.#enter(false, (ledger) => matureCharges(ledger, at, this.#box.systemic));
    this.#noticeExhaustion();
  }

  #noticeExhaustion(): void {
    const { exhausted } = this.#books.real;
    this.#enter(false, noticeExhaustion);
    if (!exhausted && this.#books.real.exhausted) this.#witness.exhausted();
  }

  /** A call is over: circuit and budget hear of it unless they have moved on (C7). */
  #conclude(permit: SessionPermit, judged: Judged, ms: number): void {
    const { tracked, ticket } = permit;
    const late = tracked !== undefined && ticket !== undefined && isLate(tracked.circuit, ticket);
    this.#witness.concluded(permit, judged, late, ms);
    if (tracked !== undefined && ticket?.lease !== undefined) endProbe(this.#probing, tracked, ticket.lease);
    if (late || this.#ended) return;
    const at = this.#moment(ms);
    if (judged.outcome === 'failure') this.#fail(permit, judged, at);
    else if (tracked !== undefined && ticket !== undefined) {
      const { circuit, tool } = tracked;
      const next = judged.outcome === 'success' ? succeed(circuit, ticket, tool.policy) : release(circuit, ticket);
      this.#move(tracked, next, at);
    }
  }

  #fail({ tool, reason, tracked, ticket, span }: SessionPermit, judged: Judged, at: Moment): void {
    if (!isCounted(reason)) return;
    const { category = 'unknown', retryAfterMs } = judged;
    const observed = (tracked ?? this.#box.undeclared).mode === 'observe_only';
    const failure = { tool, category, at, mayWait: tracked?.tool.policy.failureThreshold ?? 0 };
    this.#enter(observed, (ledger) => chargeFailure(ledger, failure, this.#box.systemic));
    if (tracked !== undefined && ticket !== undefined) {
      const next = fail(tracked.circuit, ticket, { category, retryAfterMs }, tracked.tool.policy, at);
      if (tracked.circuit.state === 'closed' && next.state === 'open') tracked.openedBy = spanContextOf(span);
      this.#move(tracked, next, at);
    }
    this.#noticeExhaustion();
  }

  /** Puts a circuit into its next state; an opening is looked at beside the others. */
  #move(tracked: TrackedCircuit, next: Circuit, at: Moment): void {
    const before = tracked.circuit;
    tracked.circuit = next;
    if (before.state === next.state) return;
    const { name } = tracked.tool;
    const observed = tracked.mode === 'observe_only';
    const known = this.#books.real.event;
    if (next.state === 'closed') this.#enter(observed, (ledger) => recordClosing(ledger, name));
    if (next.state === 'open') {
      const opening = { tool: name, category: next.outage.category, at, unixMs: this.#box.clock.unixNow() };
      this.#enter(observed, (ledger) => recordOpening(ledger, opening, this.#box.systemic));
    }
    const { event } = this.#books.real;
    const category = categoryOf(next) ?? categoryOf(before);
    if (observed) this.#witness.shadowMoved(name, before.state, next.state, category);
    else this.#witness.moved(tracked, before.state, next.state, category);
    if (known === undefined && event !== undefined) this.#witness.detected(event);
  }

  /** Enters what happened; of a tool that is only observed in the shadow alone. */
  #enter(observed: boolean, change: (ledger: Ledger) => Ledger): void {
    this.#books = enter(this.#books, observed, change);
    this.#witness.wrote(this.#books.real);
  }

  #permit(
    tool: string,
    reason: Reason,
    startMs: number,
    tracked: TrackedCircuit | undefined,
    ticket: Ticket | undefined,
    options: AcquireOptions | undefined,
  ): SessionPermit {
    const permit = new SessionPermit(this, {
      tool,
      reason,
      mode: (tracked ?? this.#box.undeclared).mode,
      tracked,
      ticket,
      startMs,
      span: this.#witness.decided(tool, reason, tracked),
      budgetRemaining: remaining(this.#books.real.budget),
      explain: isExecuted(reason) ? undefined : this.#explanation(tool, reason, tracked, startMs),
    });
    this.#witness.permitted(permit, options);
    return permit;
  }

  /** What the model is told; put into words only if somebody asks. */
  #explanation(tool: string, reason: Reason, tracked: TrackedCircuit | undefined, ms: number): () => string {
    const { policy } = tracked?.tool ?? this.#box.undeclared;
    const grounds = { tool, reason, circuit: tracked?.circuit, policy, ledger: this.#books.real, at: this.#moment(ms) };
    return () => explain(grounds);
  }

  /** The circuit of a declared tool; closed on its first use (C2), unless one was kept for it (C11). */
  #track(name: string): TrackedCircuit | undefined {
    const found = this.#circuits.get(name);
    if (found !== undefined) return found;
    const tool = this.#box.tool(name);
    if (tool === undefined) return undefined;
    const tracked = trackedCircuit(tool, this.#kept.get(name));
    this.#kept.delete(name);
    this.#circuits.set(name, tracked);
    if (tracked.mode === 'observe_only') this.#books = withShadow(this.#books);
    this.#witness.tracked(tracked);
    return tracked;
  }

  #moment(ms: number): Moment {
    return { ms, step: this.#step, stepMs: this.#stepMs };
  }
}
