import { Accounts } from './accounts.ts';
import { checkTasks, planScope, type ScopePlan, type Task } from './capability/scope.ts';
import type { CircuitMode } from './circuit/mode.ts';
import { Circuits } from './circuits.ts';
import { type Moment, UNTIMED } from './clock.ts';
import type { SessionContext } from './context.ts';
import { CallHistory } from './history.ts';
import type { SessionMemory } from './memory.ts';
import { explain, type Grounds, noteText } from './message.ts';
import { Outlook } from './outlook.ts';
import { type Permit, type PermitOwner, SessionPermit } from './permit.ts';
import { isCounted, isExecuted, type Reason } from './reasons.ts';
import { buildReport, type SessionReport } from './report/report.ts';
import { type Seat, Seats } from './seats.ts';
import type { AcquireOptions, ReportOptions, Session } from './session.ts';
import { type Judged, judge, type Settlement, SUCCESS } from './settlement.ts';
import { type SessionSnapshot, takeSnapshot } from './snapshot.ts';
import { circuitMoment, circuitStore, ownMemory } from './store.ts';
import { followProviders, metricsActive } from './telemetry/hub.ts';
import { SessionWitness } from './telemetry/witness.ts';
import { checkControl, checkReportOptions } from './usage.ts';
import { type CircuitView, type SessionView, viewCircuit, viewCircuits, viewSession } from './view.ts';

/** The expeditor: the one place that joins the pure parts. It decides, and runs no tool (E1). Reads like the agent's loop. */
export class Expeditor implements Session, PermitOwner {
  readonly id: string;
  readonly agent: string;
  readonly #box: SessionContext;
  readonly #witness: SessionWitness;
  readonly #accounts: Accounts;
  readonly #circuits: Circuits;
  readonly #seats: Seats;
  readonly #history: CallHistory;
  readonly #outlook: Outlook;
  #step: number;
  #stepMs: number;
  #plan: ScopePlan | undefined;
  #ended = false;

  constructor(box: SessionContext, id: string, memory: SessionMemory, allowed: ReadonlySet<string> | undefined) {
    const { books, step, stepMs } = memory;
    const store = box.shared ?? circuitStore(undefined, memory.circuits);
    this.id = id;
    this.agent = box.agent;
    this.#box = box;
    this.#step = step;
    this.#stepMs = stepMs;
    this.#witness = new SessionWitness(box, id, store, books.real);
    this.#accounts = new Accounts(books, box.systemic, this.#witness);
    this.#circuits = new Circuits(box, store, this.#accounts, this.#witness);
    this.#seats = new Seats(box);
    this.#history = new CallHistory(box.clock, box.repeats);
    this.#outlook = new Outlook(box, store, this.#accounts, this.#history, allowed);
    followProviders();
    this.#witness.inUse();
    this.#witness.usedAt(box.clock.now());
    for (const tool of store.kept.keys()) this.#circuits.track(tool);
  }

  acquire(tool: string, options?: AcquireOptions): Permit {
    return this.#ended ? this.#decideAfterEnd(tool, options) : this.#decide(tool, options);
  }

  #decide(tool: string, options: AcquireOptions | undefined): SessionPermit {
    const known = this.#seats.find(tool);
    const at = this.#arrive(known);
    if (this.#ended) return this.#decideAfterEnd(tool, options); // By a listener, meanwhile.
    const seat = known ?? this.#take(tool);
    const digest = options === undefined ? undefined : this.#digestOf(seat, options);
    const mode = seat.tracked === undefined ? this.#modeOf(seat) : seat.tracked.mode;
    if (mode === 'observe_only') this.#accounts.observe();
    const reason = this.#outlook.reason(seat, mode, digest, at);
    if (this.#ended) return this.#decideAfterEnd(tool, options); // Or by a check.
    if (reason !== 'closed') return this.#decideOtherwise(seat, reason, mode, digest, this.#timed(at), options);
    // Almost every call: a closed circuit needs no admission.
    const permit = new SessionPermit(this, seat, reason, mode, this.#accounts.real, at, digest);
    this.#history.tried(seat.tool, digest);
    this.#witness.decided(permit, options);
    return permit;
  }

  /** A probe takes its place, a call that is held up goes elsewhere, and some pass for other reasons than a closed circuit. */
  #decideOtherwise(
    seat: Seat,
    reason: Reason,
    mode: CircuitMode,
    digest: string | undefined,
    at: Moment,
    options: AcquireOptions | undefined,
  ): SessionPermit {
    const { tool, tracked } = seat;
    const lease = reason === 'probe_due' && tracked ? this.#circuits.lend(tracked, at) : undefined;
    const route = isExecuted(reason) ? undefined : this.#outlook.route(reason, seat, digest, at);
    const now = circuitMoment(this.#circuits.store, at);
    const permit = new SessionPermit(this, seat, reason, mode, this.#accounts.real, now, digest, lease, route);
    if (permit.executes && !this.#ended) this.#history.tried(tool, digest);
    if (tracked !== undefined && lease !== undefined) this.#circuits.begin(tracked, lease, permit);
    this.#witness.decided(permit, options);
    return permit;
  }

  #decideAfterEnd(tool: string, options: AcquireOptions | undefined): SessionPermit {
    const seat = this.#take(tool);
    const digest = options === undefined ? undefined : this.#digestOf(seat, options);
    return this.#decideOtherwise(seat, 'session_ended', this.#modeOf(seat), digest, this.#arrive(), options);
  }

  #take(tool: string): Seat {
    const name = this.#seats.nameOf(tool);
    return this.#seats.make(name, this.#circuits.track(name, this.#ended));
  }

  #modeOf({ tracked, spec }: Seat): CircuitMode {
    return (tracked ?? spec ?? this.#box.undeclared).mode;
  }

  #digestOf({ spec }: Seat, options: AcquireOptions): string | undefined {
    return this.#history.digestOf(options, spec ?? this.#box.undeclared);
  }

  settled(permit: SessionPermit, settlement: Settlement): void {
    const at = this.#comeBack(permit); // May find that the probe has failed by its lease (C9).
    if (permit.close()) this.#settle(permit, settlement, at);
    this.#witness.tell();
  }

  #settle(permit: SessionPermit, settlement: Settlement, at: Moment): void {
    const { tool, spec } = permit.seat;
    const judged = judge(settlement, tool, spec ?? this.#box.undeclared, this.#box.clock);
    this.#conclude(permit, judged, settlement, judged === SUCCESS ? at : this.#timed(at));
  }

  lapsed(permit: SessionPermit, atMs: number): void {
    if (!permit.close()) return;
    this.#conclude(permit, { outcome: 'failure', category: 'timeout' }, undefined, this.#moment(atMs));
  }

  tell(): void {
    this.#witness.tell();
  }

  /** A call is over: circuit and budget hear of it unless they have moved on (C7). */
  #conclude(permit: SessionPermit, judged: Judged, settlement: Settlement | undefined, at: Moment): void {
    const late = this.#circuits.back(permit);
    if (!this.#ended) permit.freshness = this.#history.settled(permit, judged, settlement, at.ms);
    this.#witness.concluded(permit, judged, late, at.ms);
    if (late || this.#ended) return;
    const failed = judged.outcome === 'failure' && isCounted(permit.reason);
    if (failed) this.#charge(permit.seat, judged, at);
    this.#circuits.conclude(permit, judged, at);
    // The one charge of an event may be the last too, and a slow success may be what makes the event (C3, S3).
    if (failed || this.#accounts.event !== undefined) this.#accounts.noticeExhaustion();
  }

  /** B1, S3, B4: a failure costs budget. */
  #charge(seat: Seat, { category = 'unknown', tokens = 0 }: Judged, at: Moment): void {
    const mayWait = seat.tracked?.tool.policy.failureThreshold ?? 0;
    const failure = { tool: seat.tool, category, tokens, at, mayWait };
    this.#accounts.failed(this.#modeOf(seat) === 'observe_only', failure);
  }

  declare(tool: string): void {
    this.#box.declare(tool);
    const name = this.#seats.nameOf(tool);
    if (!this.#circuits.store.kept.has(name) || this.#ended) return;
    this.#arrive(); // It counts in the gauges again, before its circuits do.
    this.#circuits.track(name);
    this.#witness.tell();
  }

  step(): void {
    const { ms } = this.#arrive();
    this.#step += 1;
    this.#stepMs = ms;
    const { board } = this.#circuits.store;
    if (board !== undefined && !this.#ended) {
      board.step += 1;
      board.stepMs = ms;
    }
    this.#accounts.mature(this.#moment(ms));
    this.#witness.tell();
  }

  beginTask(): void {
    this.#arrive();
    this.#history.beginTask();
    this.#witness.tell();
  }

  resume(): void {
    this.#arrive();
    if (!this.#ended) this.#accounts.renew();
    this.#witness.tell();
  }

  confirmRecovered(): void {
    const at = this.#arrive();
    if (!this.#ended) this.#circuits.recovered('operator', at);
    this.#witness.tell();
  }

  control(tool: string, mode: CircuitMode): void {
    const name = this.#seats.nameOf(tool);
    checkControl(tool, mode, this.#box.tool(name), this.#box.keepsCircuits);
    this.#arrive();
    const tracked = this.#ended ? undefined : this.#circuits.track(name);
    if (tracked !== undefined && tracked.mode !== mode) this.#circuits.takeOver(tracked, mode);
    this.#witness.tell();
  }

  note(): string {
    return noteText(this.#outs());
  }

  unavailable(): readonly string[] {
    return this.#outs().map(({ tool }) => tool);
  }

  planScope(tasks: readonly Task[]): ScopePlan {
    checkTasks(tasks);
    const at = this.#arrive();
    const plan = planScope(tasks, {
      outlook: (tool) => (this.#ended ? { out: false } : this.#outlook.of(this.#seats.nameOf(tool), at)),
    });
    if (!this.#ended) {
      this.#plan = plan;
      this.#witness.planned(plan);
    }
    this.#witness.tell();
    return plan;
  }

  report(options: ReportOptions = {}): SessionReport {
    checkReportOptions(options);
    const { done = [] } = options;
    return buildReport({
      id: this.id,
      agent: this.agent,
      unixMs: this.#box.clock.unixNow(),
      at: this.#moment(),
      circuits: this.view().circuits,
      tallies: this.#seats.tallies(),
      ledger: this.#accounts.real,
      scope: this.#plan,
      done,
    });
  }

  peek(tool: string): CircuitView | undefined {
    const { store } = this.#circuits;
    const tracked = store.circuits.get(this.#seats.nameOf(tool));
    return tracked && viewCircuit(tracked, circuitMoment(store, this.#moment()));
  }

  view(): SessionView {
    return viewSession(this, this.#step, this.#accounts.real, viewCircuits(this.#circuits.store, this.#moment()));
  }

  snapshot(): SessionSnapshot {
    const { ms, ...steps } = this.#moment();
    return takeSnapshot(this, { ...steps, ...ownMemory(this.#circuits.store, this.#accounts.books) }, ms);
  }

  end(): void {
    if (this.#ended) return;
    followProviders();
    this.#ended = true;
    this.#witness.ended();
    this.#circuits.giveBack(this);
  }

  /**
   * What every call from outside begins with: what time and other sessions have brought is settled first. Untimed where the
   * call is of one tool, no time has a say in it, and nobody measures how long it takes: reading the clock costs as much as
   * the decision.
   */
  #arrive(seat?: Seat): Moment {
    followProviders();
    if (this.#ended) return this.#moment();
    this.#witness.inUse();
    const isDue = seat === undefined || this.#isDue(seat);
    if (!isDue && !metricsActive()) return UNTIMED;
    const at = this.#moment();
    this.#witness.usedAt(at.ms);
    if (isDue) this.#circuits.settleDue(at, this);
    return at;
  }

  /** The same for a call that is over. One that began untimed ends so too: it has no duration. */
  #comeBack({ seat, at }: SessionPermit): Moment {
    if (at !== UNTIMED || this.#ended || this.#isDue(seat)) return this.#arrive(seat);
    this.#witness.inUse();
    return UNTIMED;
  }

  /** Whether time has a say in a call that a closed circuit lets through, and that succeeds. */
  #isDue({ tracked }: Seat): boolean {
    if (tracked === undefined || tracked.circuit.state !== 'closed' || tracked.tool.goesByTime) return true;
    return this.#circuits.hasPending || this.#accounts.hasPending;
  }

  #timed(at: Moment): Moment {
    return at === UNTIMED ? this.#moment() : at;
  }

  explain(permit: SessionPermit): string {
    return explain(this.#outlook.grounds(permit));
  }

  /** Declared tools that would be held up now; none is any more where the session is over. */
  #outs(): readonly Grounds[] {
    const outs = this.#ended ? [] : this.#outlook.outs(this.#arrive());
    this.#witness.tell();
    return outs;
  }

  #moment(ms = this.#box.clock.now()): Moment {
    return { ms, step: this.#step, stepMs: this.#stepMs };
  }
}
