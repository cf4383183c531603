import type { Context } from '@opentelemetry/api';
import { Accounts } from './accounts.ts';
import type { Books } from './books.ts';
import { createBudget } from './budget/budget.ts';
import { byHost } from './by-host.ts';
import type { CallInput } from './call-input.ts';
import { checkTasks, planScope, type ScopePlan, type Task } from './capability/scope.ts';
import type { CircuitMode } from './circuit/mode.ts';
import { type ProbeWait, probeWait } from './circuit/schedule.ts';
import { Circuits, lapseOf } from './circuits.ts';
import { type Moment, UNTIMED } from './clock.ts';
import type { SessionContext } from './context.ts';
import { CountedErrors } from './counted-errors.ts';
import { type Explanation, explanationOf } from './explain.ts';
import { groupNameOf } from './groups.ts';
import { CallHistory } from './history.ts';
import { keyOf } from './keys.ts';
import { freshMemory, type SessionMemory } from './memory.ts';
import { type Grounds, noteText, rejectionText } from './message.ts';
import { FIRST_LOOK, lookForMistakes, nextLook, noticeSettled, warnOfUndeclared } from './mistakes.ts';
import { read } from './outcome/untrusted.ts';
import { type AskedCall, NO_CALL, Outlook } from './outlook.ts';
import { keyPassOf, NO_PASSES } from './passes.ts';
import { type Permit, type PermitOwner, SessionPermit } from './permit.ts';
import { decisionOf, isCounted, isExecuted, type Reason } from './reasons.ts';
import type { RecoveryWatch } from './recovery.ts';
import { buildReport, type SessionReport } from './report/report.ts';
import type { NamedSession } from './same-id.ts';
import { Seats, type SessionTool } from './seats.ts';
import type { AcquireOptions, DeclareOptions, ReportOptions, Session } from './session.ts';
import { type Judged, judge, type Settlement, SUCCESS } from './settlement.ts';
import { type SessionSnapshot, takeSnapshot } from './snapshot.ts';
import { type CircuitStore, circuitMoment, circuitStore, copyStore, ownMemory } from './store.ts';
import { followProviders, metricsActive } from './telemetry/hub.ts';
import { safely } from './telemetry/safely.ts';
import type { SessionSpan } from './telemetry/spans.ts';
import { SessionWitness, SILENT } from './telemetry/witness.ts';
import type { ToolSpec } from './tool.ts';
import { checkControl, checkReportOptions } from './usage.ts';
import { type CircuitView, type SessionView, viewCircuit, viewCircuits, viewSession } from './view.ts';

/**
 * The session is the one place that joins the pure parts. It decides, and runs no tool (E1). Its methods follow the agent's loop.
 */
export class Expeditor implements Session, PermitOwner {
  readonly id: string;
  readonly agent: string;
  readonly #box: SessionContext;
  readonly #witness: SessionWitness;
  readonly #recovery: RecoveryWatch | undefined;
  readonly #accounts: Accounts;
  readonly #circuits: Circuits;
  readonly #seats: Seats;
  readonly #history: CallHistory;
  readonly #outlook: Outlook;
  readonly #allowed: ReadonlySet<string> | undefined;
  #step: number;
  #stepMs: number;
  /** Number of calls that the session has decided. */
  #serial = 0;
  /** Number of decisions after which the session next looks for mistakes in the program. */
  #nextLook = FIRST_LOOK;
  readonly #continues: boolean;
  /** Number of decisions when the step began. */
  #decidedBefore = 0;
  readonly #beganMs: number;
  /** Created for the first error that counts. */
  #errors: CountedErrors | undefined;
  #plan: ScopePlan | undefined;

  constructor(
    box: SessionContext,
    id: string,
    memory: SessionMemory,
    allowed: ReadonlySet<string> | undefined,
    span: SessionSpan | undefined,
    named: NamedSession | undefined,
  ) {
    const { books, step, stepMs } = memory;
    const store = box.shared ?? circuitStore(memory);
    this.id = id;
    this.agent = box.agent;
    this.#box = box;
    this.#step = step;
    this.#stepMs = stepMs;
    this.#allowed = allowed;
    this.#recovery = box.recoveryWatch();
    this.#witness = new SessionWitness(box, id, store, books.real, span, named);
    this.#accounts = new Accounts(books, store, box.systemic, this.#witness);
    this.#circuits = new Circuits(box, store, this.#accounts, this.#witness, this.#recovery);
    this.#seats = new Seats(box);
    this.#history = new CallHistory(box.clock, box.repeats);
    this.#outlook = new Outlook(box, this.#circuits, this.#accounts, this.#history, allowed);
    followProviders();
    this.#witness.wrote(books.real, this.#accounts.state(false));
    this.#witness.inUse();
    this.#beganMs = box.clock.now();
    this.#witness.usedAt(this.#beganMs);
    this.#continues = store.kept.size > 0 || box.shared !== undefined;
    for (const name of [...store.kept.keys()]) this.#circuits.track(name);
  }

  get context(): Context {
    return this.#witness.context;
  }

  acquire(tool: string, options?: AcquireOptions): Permit {
    const known = this.#seats.find(tool);
    const at = this.#arrive(known, true);
    const seat = known ?? this.#take(tool);
    const call = options === undefined ? NO_CALL : this.#askedCall(seat, options);
    const mode = seat.tracked === undefined ? this.#modeOf(seat) : seat.tracked.mode;
    if (mode === 'observe_only') this.#accounts.observe();
    const reason = this.#outlook.reason(seat, mode, call, at);
    this.#serial += 1;
    if (this.#serial === this.#nextLook) this.#look(false);
    if (reason !== 'closed') return this.#decideOtherwise(seat, reason, mode, call, this.#timed(at), options);
    // Almost every call: a closed circuit needs no admission.
    const passes =
      seat.group === undefined && call.key === undefined ? NO_PASSES : this.#circuits.passes(seat, mode, call.key, at);
    const decided = { decision: 'call', reason, lease: undefined, passes, route: undefined, held: undefined } as const;
    const permit = new SessionPermit(this, seat, mode, decided, this.#callAt(at, call.input));
    this.#history.tried(seat.tool, call.input);
    this.#witness.decided(permit, options);
    return permit;
  }

  #callAt(at: Moment, input: CallInput | undefined) {
    return { ledger: this.#accounts.real, at, serial: this.#serial, input };
  }

  /** A probe takes its slots, a rejected call gets a route, and some calls pass although no closed circuit let them through. */
  #decideOtherwise(
    seat: SessionTool,
    reason: Reason,
    mode: CircuitMode,
    call: AskedCall,
    at: Moment,
    options: AcquireOptions | undefined,
  ): SessionPermit {
    const { input, key } = call;
    const decision = decisionOf(reason, this.#box.systemic?.decision ?? 'pause');
    const route = isExecuted(reason) ? undefined : this.#outlook.route(reason, seat, input, at);
    const held = route && this.#outlook.heldBy(seat, mode, call, at);
    const slots = decision === 'probe' ? this.#circuits.lend(seat, mode, key, at) : NO_SLOTS;
    const now = circuitMoment(this.#circuits.store, at);
    const permit = new SessionPermit(
      this,
      seat,
      mode,
      { decision, reason, ...slots, route, held },
      this.#callAt(now, input),
    );
    if (permit.executes) this.#history.tried(seat.tool, input);
    else input?.release();
    if (permit.isProbe) this.#circuits.begin(permit);
    this.#witness.decided(permit, options);
    return permit;
  }

  #take(tool: string): SessionTool {
    const name = this.#seats.nameOf(tool);
    this.#box.unused.delete(name);
    // A model may make up any name, even the name of a group's circuit.
    const tracked = groupNameOf(name) === undefined ? this.#circuits.track(name) : undefined;
    return this.#seats.make(name, tracked, this.#circuits.groupOf(this.#box.tool(name)?.group));
  }

  #modeOf({ tracked, spec }: SessionTool): CircuitMode {
    return (tracked ?? spec ?? this.#box.undeclared).mode;
  }

  #askedCall({ spec, tracked }: SessionTool, options: AcquireOptions): AskedCall {
    const input = this.#history.inputOf(options, spec ?? this.#box.undeclared);
    const key = spec === undefined || tracked === undefined ? undefined : this.#keyOf(spec, options);
    return input === undefined && key === undefined ? NO_CALL : { input, key };
  }

  /** C14. */
  #keyOf(spec: ToolSpec, options: AcquireOptions): string | undefined {
    const hint = hintOf(options);
    if (hint === undefined && spec.key === undefined) return undefined; // Nearly every call.
    return keyOf(spec, this.agent, read(options, 'input'), hint);
  }

  settled(permit: SessionPermit, settlement: Settlement): void {
    const at = this.#comeBack(permit); // May find that the probe failed because its lease ended (C9).
    if (permit.close()) this.#settle(permit, settlement, at);
    this.#witness.flush();
  }

  #settle(permit: SessionPermit, settlement: Settlement, at: Moment): void {
    const { tool, spec } = permit.seat;
    const found = judge(settlement, tool, spec ?? this.#box.undeclared, this.#box.clock);
    const isOfKey = found.blames === 'key' && keyPassOf(permit.passes) !== undefined;
    const isFailure = (found.outcome === 'failure' || isOfKey) && 'error' in settlement;
    // E3: one error that passes through nested guarded calls counts once.
    const isKnown = isFailure && this.#errors?.has(permit, settlement.error) === true;
    const judged: Judged = isKnown ? { ...found, outcome: 'ignored', blames: undefined } : found;
    const counted = this.#conclude(permit, judged, settlement, judged === SUCCESS ? at : this.#timed(at));
    if (!isFailure || !counted) return;
    this.#errors ??= new CountedErrors();
    this.#errors.add(permit, settlement.error);
  }

  lapsed(permit: SessionPermit, atMs: number): void {
    if (permit.close()) this.#conclude(permit, lapseOf(permit), undefined, this.#moment(atMs));
  }

  flush(): void {
    this.#witness.flush();
  }

  /** A call is over. Circuits and budget count its result unless they have moved on (C7). Returns whether it counted. */
  #conclude(permit: SessionPermit, judged: Judged, settlement: Settlement | undefined, at: Moment): boolean {
    const late = this.#circuits.back(permit);
    permit.freshness = this.#history.settled(permit, judged, settlement, at.ms);
    this.#witness.concluded(permit, judged, late, at.ms);
    noticeSettled(this.#box, permit.seat);
    if (permit.seat.spec === undefined) warnOfUndeclared(this.#box, permit.seat, judged.outcome);
    if (!late) this.#circuits.settle(permit, judged, at);
    return !late && isCounted(permit.reason);
  }

  declare(tool: string, options?: DeclareOptions): void {
    this.#box.declare(tool, options?.group);
    const name = this.#seats.nameOf(tool);
    if (!this.#circuits.store.kept.has(name)) return;
    this.#arrive(); // It counts in the gauges again, before its circuits do.
    this.#circuits.track(name);
    this.#witness.flush();
  }

  step(): void {
    const { ms } = this.#arrive();
    this.#step += 1;
    this.#stepMs = ms;
    this.#decidedBefore = this.#serial;
    const { steps } = this.#circuits.store;
    if (steps !== undefined) {
      steps.step += 1;
      steps.stepMs = ms;
    }
    this.#accounts.pass(this.#moment(ms));
    this.#witness.flush();
  }

  beginTask(): void {
    this.#arrive();
    this.#history.beginTask();
    this.#witness.flush();
  }

  resume(): void {
    this.#arrive();
    this.#accounts.renew();
    this.#witness.flush();
  }

  confirmRecovered(): void {
    const at = this.#arrive();
    this.#circuits.recovered('operator', at);
    this.#witness.flush();
  }

  control(tool: string, mode: CircuitMode): void {
    const name = this.#seats.nameOf(tool);
    checkControl(tool, mode, this.#box.tool(name) ?? this.#box.group(name), this.#box.keepsCircuits);
    this.#arrive();
    const tracked = this.#circuits.track(name);
    if (tracked !== undefined && tracked.mode !== mode) this.#circuits.takeOver(tracked, mode);
    this.#witness.flush();
  }

  note(): string {
    return noteText(this.#outs());
  }

  unavailable(): readonly string[] {
    return this.#outs().map(({ tool }) => tool);
  }

  /** Declared tools that would be skipped or paused now. */
  #outs(): readonly Grounds[] {
    const { outlook, at } = this.#lookAhead();
    return outlook.outs(at);
  }

  planScope(tasks: readonly Task[]): ScopePlan {
    checkTasks(tasks);
    const at = this.#arrive();
    const plan = planScope(tasks, { outlook: (tool) => this.#outlook.of(this.#seats.nameOf(tool), at) });
    this.#plan = plan;
    this.#witness.planned(plan);
    this.#witness.flush();
    return plan;
  }

  report(options: ReportOptions = {}): SessionReport {
    checkReportOptions(options);
    const { done = [] } = options;
    const { store, accounts, at } = this.#lookAhead();
    return buildReport({
      id: this.id,
      agent: this.agent,
      unixMs: this.#box.clock.unixNow(),
      at,
      circuits: viewCircuits(store, at, this.#box),
      tallies: this.#seats.tallies(),
      systemicDecision: this.#box.systemic?.decision ?? 'pause',
      ledger: accounts.real,
      event: accounts.event,
      eventProbe: this.#probeOf(store, at),
      scope: this.#plan,
      done,
    });
  }

  /** S5: the wait until the next probe for the event. */
  #probeOf({ correlations }: CircuitStore, at: Moment): ProbeWait | undefined {
    const circuit = correlations.real.gate?.circuit;
    const policy = this.#box.systemic?.gate;
    return circuit?.state === 'open' && policy !== undefined ? probeWait(circuit.outage, policy, at) : undefined;
  }

  explain(tool: string, input?: unknown): Explanation {
    const { store, accounts, outlook, at } = this.#lookAhead();
    const name = this.#seats.nameOf(tool);
    const spec = this.#box.tool(name);
    const key = this.#keyFor(name, input);
    const known = input === undefined ? undefined : this.#history.inputOf({ input }, spec ?? this.#box.undeclared);
    const circuits = [spec?.group?.name, name].flatMap((one) => {
      const tracked = one === undefined ? undefined : store.circuits.get(one);
      return tracked === undefined ? [] : [viewCircuit(tracked, circuitMoment(store, at), this.#box, key)];
    });
    return explanationOf(outlook.now(name, { input: known, key }, at), accounts.real, circuits, at);
  }

  peek(tool: string, input?: unknown): CircuitView | undefined {
    const { store, at } = this.#lookAhead();
    const name = this.#seats.nameOf(tool);
    const tracked = store.circuits.get(name);
    return tracked && viewCircuit(tracked, circuitMoment(store, at), this.#box, this.#keyFor(name, input));
  }

  /**
   * C14: the key of the circuit to look at. Keys that adapters name are not known here. Most of them name the host, so the host is
   * tried.
   */
  #keyFor(tool: string, input: unknown): string | undefined {
    const spec = input === undefined ? undefined : this.#box.tool(tool);
    return spec && keyOf(spec, this.agent, input, byHost()(input));
  }

  view(): SessionView {
    const { store, accounts, at } = this.#lookAhead();
    return viewSession(this, at.step, accounts, viewCircuits(store, at, this.#box));
  }

  snapshot(): SessionSnapshot {
    const { store, accounts, at } = this.#lookAhead();
    const { ms, ...steps } = at;
    const memory = { ...steps, books: accounts.books, ...ownMemory(store) };
    this.#witness.kept();
    return takeSnapshot(this, memory, ms, this.#box.clock.unixNow());
  }

  end(): void {
    followProviders();
    this.#look(true);
    this.#witness.ended();
  }

  /** Warns about mistakes in the program. It costs something at a few decisions, and nothing at all others. */
  #look(isOver: boolean): void {
    if (!isOver) this.#nextLook = nextLook(this.#nextLook);
    safely('looking for mistakes in the program', () =>
      lookForMistakes(this.#box, {
        session: this,
        tools: this.#seats.all(),
        step: this.#circuits.store.steps?.step ?? this.#step,
        decidedBefore: this.#decidedBefore,
        decided: this.#serial,
        continues: this.#continues,
        isOver,
        ageMs: () => this.#box.clock.now() - this.#beganMs,
      }),
    );
  }

  /**
   * C11: what the next decision would find, worked out on copies. The copies settle what time has changed. Nothing is reported,
   * counted or asked.
   */
  #lookAhead(): { store: CircuitStore; accounts: Accounts; outlook: Outlook; at: Moment } {
    const at = this.#moment();
    const store = copyStore(this.#circuits.store);
    const box = this.#ahead;
    const aheadOf = (books: Books): Ahead => {
      const accounts = new Accounts(books, store, box.systemic, SILENT);
      return { accounts, circuits: new Circuits(box, store, accounts, SILENT, this.#recovery) };
    };
    const own = aheadOf(this.#accounts.books);
    let others: Ahead | undefined;
    const lapse = (permit: SessionPermit, atMs: number): void => {
      // Another session pays for its own probes.
      if (permit.owner !== this) others ??= aheadOf(freshMemory(createBudget({}), at.ms).books);
      const { circuits } = permit.owner === this ? own : (others ?? own);
      if (!circuits.back(permit)) circuits.settle(permit, lapseOf(permit), this.#moment(atMs));
    };
    own.circuits.settleDue(at, lapse, true);
    const outlook = new Outlook(box, own.circuits, own.accounts, this.#history, this.#allowed);
    return { store, accounts: own.accounts, outlook, at };
  }

  /** The box, but the end of an event does not drop the scores of pre-call checks. */
  get #ahead(): SessionContext {
    const { prechecks } = this.#box;
    return { ...this.#box, prechecks: { ...prechecks, forget: () => {} } };
  }

  /**
   * The start of every public call: it first settles what time and other sessions have changed. A call of one tool is untimed if it
   * does not depend on time and its duration is not measured, because reading the clock costs as much as the decision.
   */
  #arrive(seat?: SessionTool, decides = false): Moment {
    followProviders();
    this.#witness.inUse(decides);
    const isDue = seat === undefined || this.#isDue(seat);
    if (!isDue && !metricsActive()) return UNTIMED;
    const at = this.#moment();
    this.#witness.usedAt(at.ms);
    if (isDue) this.#circuits.settleDue(at, (permit, atMs) => this.#lapse(permit, atMs));
    return at;
  }

  /** C9: a probe whose lease has ended failed at that time, in the session that asked for it. */
  #lapse(permit: SessionPermit, atMs: number): void {
    permit.owner.lapsed(permit, atMs);
    if (permit.owner !== this) permit.owner.flush();
  }

  /** The same for a call that is over. A call that began untimed also ends untimed and has no duration. */
  #comeBack({ seat, at }: SessionPermit): Moment {
    if (at !== UNTIMED || this.#isDue(seat)) return this.#arrive(seat);
    this.#witness.inUse();
    return UNTIMED;
  }

  /** Whether time matters for a call that a closed circuit lets through and that succeeds. */
  #isDue({ tracked, spec, group }: SessionTool): boolean {
    if (tracked === undefined || tracked.circuit.state !== 'closed' || spec?.goesByTime === true) return true;
    if (tracked.keys !== undefined) return true;
    if (group !== undefined && group.circuit.state !== 'closed') return true;
    return this.#circuits.hasPending || this.#accounts.hasPending;
  }

  #timed(at: Moment): Moment {
    return at === UNTIMED ? this.#moment() : at;
  }

  textFor(permit: SessionPermit): string {
    return rejectionText(this.#outlook.grounds(permit));
  }

  #moment(ms = this.#box.clock.now()): Moment {
    return { ms, step: this.#step, stepMs: this.#stepMs };
  }
}

/** Untyped callers may pass anything. `read` costs more, because it handles values of any shape. */
const hintOf = (options: AcquireOptions): unknown => {
  try {
    return options.key;
  } catch {
    return undefined;
  }
};

const NO_SLOTS = { lease: undefined, passes: NO_PASSES } as const;

/** Copies that a look ahead may change. */
interface Ahead {
  readonly accounts: Accounts;
  readonly circuits: Circuits;
}
