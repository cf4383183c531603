import { Accounts } from './accounts.ts';
import { withoutCircuits } from './books.ts';
import { isCautious, remaining } from './budget.ts';
import { checkTasks, planScope, type ScopePlan, type Task } from './capability/scope.ts';
import { show } from './checks.ts';
import type { Ticket } from './circuit/circuit.ts';
import type { CircuitMode } from './circuit/mode.ts';
import { Circuits } from './circuits.ts';
import type { Moment } from './clock.ts';
import type { SessionContext } from './context.ts';
import { CallHistory } from './history.ts';
import type { SessionMemory } from './memory.ts';
import { explain, type Grounds, noteText } from './message.ts';
import { type Asked, Outlook } from './outlook.ts';
import { type Permit, type PermitOwner, SessionPermit } from './permit.ts';
import { isCounted, isExecuted, type Reason } from './reasons.ts';
import type { RecoveryWatch } from './recovery.ts';
import { buildReport, type SessionReport } from './report/report.ts';
import type { AcquireOptions, ReportOptions, Session } from './session.ts';
import { type Judged, judge, type Settlement } from './settlement.ts';
import { type SessionSnapshot, takeSnapshot } from './snapshot.ts';
import { circuitMoment, circuitStore } from './store.ts';
import type { SystemicEvent } from './systemic.ts';
import { SessionWitness } from './telemetry/witness.ts';
import { checkControl, checkReportOptions } from './usage.ts';
import { type CircuitView, type SessionView, viewCircuit, viewSession } from './view.ts';

/** The expeditor: the one place that joins the pure parts. It decides, and runs no tool (E1). Reads like the agent's loop. */
export class Expeditor implements Session, PermitOwner {
  readonly id: string;
  readonly agent: string;
  readonly #box: SessionContext;
  readonly #witness: SessionWitness;
  readonly #accounts: Accounts;
  readonly #circuits: Circuits;
  readonly #history: CallHistory;
  readonly #outlook: Outlook;
  readonly #recovery: RecoveryWatch | undefined;
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
    this.#history = new CallHistory(box.clock, box.repeats);
    this.#outlook = new Outlook(box, store, this.#accounts, this.#history, allowed);
    this.#recovery = box.recoveryWatch();
    this.#witness.inUse(box.clock.now());
    for (const tool of store.kept.keys()) this.#circuits.track(tool);
  }

  acquire(tool: string, options?: AcquireOptions): Permit {
    // Untyped callers may ask for anything; reports and snapshots hold texts.
    const permit = this.#decide(typeof tool === 'string' ? tool : show(tool), options);
    this.#witness.tell();
    return permit;
  }

  #decide(tool: string, options: AcquireOptions | undefined): Permit {
    const at = this.#arrive();
    const spec = this.#box.tool(tool);
    const digest = this.#history.digestOf(options, spec ?? this.#box.undeclared);
    if (this.#ended) {
      const tracked = this.#circuits.store.circuits.get(tool);
      return this.#permit({ tool, spec, tracked, digest }, 'session_ended', at, undefined, options);
    }
    const tracked = this.#circuits.track(tool);
    const asked: Asked = { tool, spec, tracked, digest };
    if ((tracked ?? spec ?? this.#box.undeclared).mode === 'observe_only') this.#accounts.observe();
    const reason = this.#outlook.reason(asked, at);
    if (isExecuted(reason)) this.#history.tried(tool, digest);
    // Almost every call: a closed circuit needs no admission, and is itself the ticket.
    if (reason === 'closed') return this.#permit(asked, reason, at, tracked?.circuit, options);
    const ticket = reason === 'probe_due' && tracked ? this.#circuits.lend(tracked, at) : undefined;
    const permit = this.#permit(asked, reason, at, ticket, options);
    if (tracked !== undefined && ticket !== undefined) this.#circuits.begin(tracked, ticket.lease, permit);
    return permit;
  }

  settled(permit: SessionPermit, settlement: Settlement): void {
    const at = this.#arrive(); // May find that the probe has failed by its lease (C9).
    if (permit.close()) {
      const judged = judge(settlement, permit.tool, permit.spec ?? this.#box.undeclared, this.#box.clock);
      this.#conclude(permit, judged, settlement, at);
    }
    this.#witness.tell();
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
    if (failed) this.#charge(permit, judged, at);
    this.#circuits.conclude(permit, judged, at);
    // The one charge of an event may be the last too, and a slow success may be what makes the event (C3, S3).
    if (failed || this.#accounts.event !== undefined) this.#accounts.noticeExhaustion();
  }

  /** B1, S3, B4: a failure costs budget. */
  #charge({ tool, spec, tracked }: SessionPermit, { category = 'unknown', tokens = 0 }: Judged, at: Moment): void {
    const { mode } = tracked ?? spec ?? this.#box.undeclared;
    const mayWait = tracked?.tool.policy.failureThreshold ?? 0;
    this.#accounts.failed(mode === 'observe_only', { tool, category, tokens, at, mayWait });
  }

  declare(tool: string): void {
    this.#box.declare(tool);
    if (!this.#circuits.store.kept.has(tool) || this.#ended) return;
    this.#arrive(); // It counts in the gauges again, before its circuits do.
    this.#circuits.track(tool);
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

  control(name: string, mode: CircuitMode): void {
    checkControl(name, mode, this.#box.tool(name), this.#box.keepsCircuits);
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
    const plan = planScope(tasks, { outlook: (tool) => (this.#ended ? { out: false } : this.#outlook.of(tool, at)) });
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
    const { clock } = this.#box;
    return buildReport({
      id: this.id,
      agent: this.agent,
      unixMs: clock.unixNow(),
      at: this.#moment(clock.now()),
      circuits: this.view().circuits,
      tallies: this.#witness.tallies,
      ledger: this.#accounts.real,
      scope: this.#plan,
      done,
    });
  }

  peek(tool: string): CircuitView | undefined {
    const { store } = this.#circuits;
    const tracked = store.circuits.get(tool);
    return tracked && viewCircuit(tracked, circuitMoment(store, this.#moment(this.#box.clock.now())));
  }

  view(): SessionView {
    const { store } = this.#circuits;
    const at = circuitMoment(store, this.#moment(this.#box.clock.now()));
    const circuits = [...store.circuits.values()].map((tracked) => viewCircuit(tracked, at));
    return viewSession(this, this.#step, this.#accounts.real, circuits);
  }

  snapshot(): SessionSnapshot {
    const { circuits, kept, board } = this.#circuits.store;
    // Circuits that sessions share stay with their box (C12).
    const own = new Map(board === undefined ? [...circuits, ...kept] : []);
    const books = board === undefined ? this.#accounts.books : withoutCircuits(this.#accounts.books);
    const memory = { books, step: this.#step, stepMs: this.#stepMs, circuits: own };
    return takeSnapshot(this, memory, this.#box.clock.now());
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#witness.ended();
    this.#circuits.giveBack(this);
  }

  /** What every call from outside begins with: what time and other sessions have brought is settled first. */
  #arrive(): Moment {
    const ms = this.#box.clock.now();
    const at = this.#moment(ms);
    if (this.#ended) return at;
    this.#witness.inUse(ms);
    this.#circuits.settleLapsed(ms, this);
    this.#circuits.catchUp(at);
    this.#accounts.mature(at);
    const event = this.#accounts.event ?? this.#accounts.eventOf(true);
    const by = event && this.#recovery?.isOver(latestOf(event), ms);
    if (by !== undefined) this.#circuits.recovered(by, at);
    return at;
  }

  #permit(
    asked: Asked,
    reason: Reason,
    at: Moment,
    ticket: Ticket | undefined,
    options: AcquireOptions | undefined,
  ): SessionPermit {
    const { tool, spec, tracked, digest } = asked;
    const { budget } = this.#accounts.real;
    const route = this.#outlook.route(reason, asked, at);
    const permit = new SessionPermit(this, {
      tool,
      spec,
      digest,
      reason,
      route,
      mode: (tracked ?? spec ?? this.#box.undeclared).mode,
      tracked,
      ticket,
      startMs: at.ms,
      span: this.#witness.decided(tool, spec, reason, route),
      budgetRemaining: remaining(budget),
      caution: isCautious(budget),
      // Put into words only if somebody asks, as it stands now.
      explain: route && explainer(this.#outlook.grounds(asked, reason, route, at)),
    });
    this.#witness.permitted(permit, options);
    return permit;
  }

  /** Declared tools that would be held up now. */
  #outs(): readonly Grounds[] {
    if (this.#ended) return []; // Nothing is held up any more.
    const outs = this.#outlook.outs(this.#arrive());
    this.#witness.tell();
    return outs;
  }

  #moment(ms: number): Moment {
    return { ms, step: this.#step, stepMs: this.#stepMs };
  }
}

/** When the latest circuit joined an event, in monotonic ms: from there on its end is waited for (S5). */
const latestOf = ({ openings }: SystemicEvent): number =>
  openings.reduce((latest, { at }) => Math.max(latest, at.ms), Number.NEGATIVE_INFINITY);

const explainer = (grounds: Grounds) => (): string => explain(grounds);
