import { createBudget, nextCycle, remaining } from './budget.ts';
import {
  admit,
  type Circuit,
  closedCircuit,
  fail,
  isLate,
  type Lease,
  lapsedLease,
  release,
  succeed,
  type Ticket,
} from './circuit/circuit.ts';
import { probeWait } from './circuit/schedule.ts';
import type { Moment } from './clock.ts';
import {
  chargeFailure,
  createLedger,
  type Ledger,
  matureCharges,
  recordClosing,
  recordOpening,
  resolveEvent,
  sessionState,
} from './ledger.ts';
import { budgetMessage, skipMessage, systemicMessage } from './message.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
import { type Permit, type PermitOwner, SessionPermit } from './permit.ts';
import { REASONS, type Reason } from './reasons.ts';
import type { AcquireOptions, Session } from './session.ts';
import { type Judged, judge, type Settlement } from './settlement.ts';
import type { SystemicPolicy } from './systemic.ts';
import { spanContextOf } from './telemetry/spans.ts';
import { SessionWitness, type WitnessContext } from './telemetry/witness.ts';
import type { ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked.ts';
import { type CircuitView, type SessionView, viewCircuit, viewSession } from './view.ts';

/** What a session shares with its box. */
export interface SessionContext extends WitnessContext {
  /** Undefined: failures of several tools are never taken as one event. */
  readonly systemic: SystemicPolicy | undefined;
  tool(name: string): ToolSpec | undefined;
  declare(name: string): void;
}

/** The expeditor: the one place that joins the pure parts, and tells the witness what came of it. It runs no tool (E1). */
export class Expeditor implements Session, PermitOwner {
  readonly id: string;
  readonly agent: string;
  readonly #box: SessionContext;
  readonly #witness: SessionWitness;
  readonly #circuits = new Map<string, TrackedCircuit>();
  /** Circuits with probes that have not settled. */
  readonly #probing = new Set<TrackedCircuit>();
  #ledger: Ledger;
  #step = 0;
  #stepMs: number;
  #ended = false;

  constructor(box: SessionContext, id: string, budgetLimit: number) {
    this.id = id;
    this.agent = box.agent;
    this.#box = box;
    this.#stepMs = box.clock.now();
    this.#ledger = createLedger(createBudget(budgetLimit));
    this.#witness = new SessionWitness(box, id, this.#circuits, this.#ledger);
    this.#witness.inUse(this.#stepMs);
  }

  acquire(tool: string, options?: AcquireOptions): Permit {
    const ms = this.#arrive();
    if (this.#ended) return this.#permit(tool, 'session_ended', ms, undefined, undefined, options);
    const tracked = this.#track(tool);
    const state = sessionState(this.#ledger);
    if (state === 'paused_systemic') return this.#permit(tool, 'systemic', ms, tracked, undefined, options);
    if (state === 'paused_budget') return this.#permit(tool, 'budget_exhausted', ms, tracked, undefined, options);
    if (tracked === undefined) return this.#permit(tool, 'undeclared', ms, undefined, undefined, options);
    const { circuit } = tracked;
    // Almost every call: a closed circuit needs no admission, and is itself the ticket.
    if (circuit.state === 'closed') return this.#permit(tool, 'closed', ms, tracked, circuit, options);
    const at = this.#moment(ms);
    const admission = admit(circuit, tracked.tool.policy, at);
    if (admission.verdict !== 'probe') {
      return this.#permit(tool, circuit.state === 'open' ? 'open' : 'probe_in_flight', ms, tracked, undefined, options);
    }
    const { lease } = admission;
    this.#move(tracked, admission.circuit, at);
    const ticket = { generation: admission.circuit.generation, lease };
    const permit = this.#permit(tool, 'probe_due', ms, tracked, ticket, options);
    tracked.probes.set(lease, permit);
    this.#probing.add(tracked);
    return permit;
  }

  settled(permit: SessionPermit, settlement: Settlement): void {
    const judged = judge(settlement, permit.tracked?.tool, this.#box.clock.unixNow());
    this.#conclude(permit, judged, this.#arrive());
  }

  declare(tool: string): void {
    this.#box.declare(tool);
  }

  step(): void {
    const ms = this.#arrive();
    this.#step += 1;
    this.#stepMs = ms;
    this.#mature(ms);
  }

  resume(): void {
    this.#arrive();
    if (this.#ended) return;
    this.#write({ ...this.#ledger, budget: nextCycle(this.#ledger.budget) });
    this.#witness.resumed();
  }

  confirmRecovered(): void {
    this.#arrive();
    const { event } = this.#ledger;
    if (event === undefined || this.#ended) return;
    this.#write(resolveEvent(this.#ledger));
    this.#witness.resolved(event);
  }

  peek(tool: string): CircuitView | undefined {
    const tracked = this.#circuits.get(tool);
    return tracked && viewCircuit(tracked, this.#moment(this.#box.clock.now()));
  }

  view(): SessionView {
    const at = this.#moment(this.#box.clock.now());
    const circuits = [...this.#circuits.values()].map((tracked) => viewCircuit(tracked, at));
    return viewSession(this, this.#step, this.#ledger, circuits);
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
    if (this.#ledger.budget.provisional.length > 0) this.#mature(ms);
    return ms;
  }

  /** C9: probes whose lease has run out count as failed at that time. */
  #settleLapsed(ms: number): void {
    for (const tracked of this.#probing) {
      const lease = lapsedLease(tracked.circuit, ms);
      const permit = lease && tracked.probes.get(lease);
      if (permit?.close()) this.#conclude(permit, { outcome: 'failure', category: 'timeout' }, lease?.untilMs ?? ms);
    }
  }

  /** S3: provisional charges whose window has passed may be what empties the budget. */
  #mature(ms: number): void {
    this.#write(matureCharges(this.#ledger, this.#moment(ms), this.#box.systemic));
    this.#witness.settledBudget();
  }

  /** A call is over: circuit and budget hear of it unless they have moved on (C7). */
  #conclude(permit: SessionPermit, judged: Judged, ms: number): void {
    const { tracked, ticket } = permit;
    const late = tracked !== undefined && ticket !== undefined && isLate(tracked.circuit, ticket);
    this.#witness.concluded(permit, judged, late, ms);
    if (tracked !== undefined && ticket?.lease !== undefined) this.#forgetProbe(tracked, ticket.lease);
    if (late || this.#ended) return;
    const at = this.#moment(ms);
    if (judged.outcome === 'failure') this.#fail(permit, judged, at);
    else if (tracked !== undefined && ticket !== undefined) {
      const { circuit, tool } = tracked;
      const next = judged.outcome === 'success' ? succeed(circuit, ticket, tool.policy) : release(circuit, ticket);
      this.#move(tracked, next, at);
    }
  }

  #fail({ tool, tracked, ticket, span }: SessionPermit, judged: Judged, at: Moment): void {
    const { category = 'unknown', retryAfterMs } = judged;
    this.#write(chargeFailure(this.#ledger, { tool, category, at }, this.#box.systemic));
    if (tracked !== undefined && ticket !== undefined) {
      const next = fail(tracked.circuit, ticket, { category, retryAfterMs }, tracked.tool.policy, at);
      if (tracked.circuit.state === 'closed' && next.state === 'open') tracked.openedBy = spanContextOf(span);
      this.#move(tracked, next, at);
    }
    this.#witness.settledBudget();
  }

  /** Puts a circuit into its next state; an opening is looked at beside the others. */
  #move(tracked: TrackedCircuit, next: Circuit, at: Moment): void {
    const before = tracked.circuit;
    tracked.circuit = next;
    if (before.state === next.state) return;
    if (next.state !== 'half_open') this.#forgetProbes(tracked); // Those still under way are late now.
    const category = categoryOf(next) ?? categoryOf(before);
    this.#witness.moved(tracked, before.state, next.state, category);
    if (next.state === 'closed') this.#write(recordClosing(this.#ledger, tracked.tool.name));
    if (next.state === 'open') this.#correlate(tracked.tool.name, next.outage.category, at);
  }

  #correlate(tool: string, category: ErrorCategory, at: Moment): void {
    const known = this.#ledger.event;
    const opening = { tool, category, at, unixMs: this.#box.clock.unixNow() };
    this.#write(recordOpening(this.#ledger, opening, this.#box.systemic));
    const { event } = this.#ledger;
    if (known === undefined && event !== undefined) this.#witness.detected(event);
  }

  #write(next: Ledger): void {
    this.#ledger = next;
    this.#witness.wrote(next);
  }

  #permit(
    tool: string,
    reason: Reason,
    startMs: number,
    tracked: TrackedCircuit | undefined,
    ticket: Ticket | undefined,
    options: AcquireOptions | undefined,
  ): SessionPermit {
    const decision = REASONS[reason];
    const permit = new SessionPermit(this, {
      tool,
      reason,
      tracked,
      ticket,
      startMs,
      span: this.#witness.decided(tool, reason, tracked),
      budgetRemaining: remaining(this.#ledger.budget),
      explain: decision === 'skip' || decision === 'pause' ? this.#explanation(reason, tracked, startMs) : undefined,
    });
    this.#witness.permitted(permit, options);
    return permit;
  }

  /** What the model is told; put into words only if somebody asks. */
  #explanation(reason: Reason, tracked: TrackedCircuit | undefined, ms: number): () => string {
    const { event, budget } = this.#ledger;
    const circuit = tracked?.circuit;
    const at = this.#moment(ms);
    return () => {
      if (reason === 'systemic' && event !== undefined) return systemicMessage(event);
      if (
        reason === 'budget_exhausted' ||
        tracked === undefined ||
        circuit === undefined ||
        circuit.state === 'closed'
      ) {
        return budgetMessage(budget.limit);
      }
      const wait = circuit.state === 'open' ? probeWait(circuit.outage, tracked.tool.policy, at) : undefined;
      return skipMessage(tracked.tool.name, circuit.outage, wait);
    };
  }

  /** The circuit of a declared tool; closed on its first use (C2). */
  #track(name: string): TrackedCircuit | undefined {
    const found = this.#circuits.get(name);
    if (found !== undefined) return found;
    const tool = this.#box.tool(name);
    if (tool === undefined) return undefined;
    const tracked: TrackedCircuit = { tool, circuit: closedCircuit(), openedBy: undefined, probes: new Map() };
    this.#circuits.set(name, tracked);
    this.#witness.tracked(tracked);
    return tracked;
  }

  #forgetProbe(tracked: TrackedCircuit, lease: Lease): void {
    tracked.probes.delete(lease);
    if (tracked.probes.size === 0) this.#probing.delete(tracked);
  }

  #forgetProbes(tracked: TrackedCircuit): void {
    tracked.probes.clear();
    this.#probing.delete(tracked);
  }

  #moment(ms: number): Moment {
    return { ms, step: this.#step, stepMs: this.#stepMs };
  }
}

const categoryOf = (circuit: Circuit): ErrorCategory | undefined =>
  circuit.state === 'closed' ? undefined : circuit.outage.category;
