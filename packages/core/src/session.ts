import type { Context } from '@opentelemetry/api';
import type { BoxContext } from './box-context.ts';
import { CallHistory } from './call-history.ts';
import { groupHint } from './checks/names.ts';
import { beginChild, RUN, type RunOptions } from './child-session.ts';
import type { CircuitMode } from './circuit/circuit.ts';
import { keyOf } from './circuit/key-circuits.ts';
import { circuitNameOf, groupNameOf } from './circuit/policy.ts';
import { CircuitRegistry } from './circuit-registry.ts';
import { circuitStore } from './circuit-store.ts';
import type { Moment } from './clock.ts';
import { checkControl } from './config/validation.ts';
import { CountedErrors } from './counted-errors.ts';
import { type AskedCall, type Engine, NO_CALL } from './engine/barrier.ts';
import { answer, enter, lapseOf, leave } from './engine/barrier-lists.ts';
import { Decider } from './engine/decide.ts';
import { FailureLedgers } from './failure-ledgers.ts';
import { warnOfUsage } from './limits/amounts.ts';
import { checkUsage, extendRun } from './limits/extend.ts';
import { isPausedByLimit, limitChanges } from './limits/limit-changes.ts';
import type { ExtendedLimit, Spent, Usage } from './limits/limit-view.ts';
import type { LimitKind } from './limits/limits.ts';
import { Run, type RunPermit, soundUsage } from './limits/run.ts';
import type { Circle } from './loop-guard/circles.ts';
import { NO_LOOPS } from './loop-guard/loop-guard.ts';
import { FIRST_LOOK, lookForMistakes, type NamedSession, nextLook, noteSuccess, warnOfUndeclared } from './mistakes.ts';
import { type Judged, judge, type Settlement } from './outcome.ts';
import { keyPassOf } from './passes.ts';
import { PendingChanges } from './pending-changes.ts';
import { type Decided, NO_SLOTS, type Permit, SessionPermit, type SettleHandler } from './permit.ts';
import type { LapseHandler } from './probes-under-way.ts';
import { isCounted, SKIPS } from './reasons.ts';
import type { ScopePlan } from './routing/route.ts';
import { read, safely } from './safely.ts';
import type { AcquireOptions, ChildOptions, DeclareOptions, Session as SessionApi } from './session-api.ts';
import type { PlanMaker, TreeRoot } from './session-internals.ts';
import type { SessionMemory } from './session-memory.ts';
import { type SessionTool, SessionTools, tallyDecision } from './session-tools.ts';
import { type LookAhead, SessionViews } from './session-views.ts';
import { watchDropped } from './telemetry/dropped-session.ts';
import { SessionTelemetry } from './telemetry/session-telemetry.ts';
import type { SessionSpan } from './telemetry/spans.ts';
import { takeOver } from './tracked-circuit.ts';
import { noteUnexplained, type Unexplained } from './unusable.ts';
import type { CircuitView, Explanation, SessionView } from './view.ts';

export interface SessionStart {
  readonly id: string;
  readonly memory: SessionMemory;
  /** K2: undefined if all tools may be called. */
  readonly allowed: ReadonlySet<string> | undefined;
  /** What it uses; undefined without limits (D2). */
  readonly run?: Run | undefined;
  readonly span: SessionSpan | undefined;
  /** Undefined if the caller gave no id. */
  readonly named: NamedSession | undefined;
}

export const createSession = (box: BoxContext, start: SessionStart): SessionApi => new Session(box, start);

/**
 * One run of an agent. The session joins the pure parts: it decides, and runs no tool (E1). Each call of a tool passes through the
 * methods from top to bottom: acquire, arrive, {@link Decider.decide}, permit, settle, conclude.
 */
class Session implements TreeRoot {
  readonly id: string;
  readonly agent: string;
  readonly #box: BoxContext;
  readonly #telemetry: SessionTelemetry;
  /** Changes that telemetry was not told yet. Between two calls of the session it is empty. */
  readonly #changes = new PendingChanges();
  readonly #ledgers: FailureLedgers;
  readonly #circuits: CircuitRegistry;
  readonly #entries: SessionTools;
  readonly #history: CallHistory;
  readonly #decider: Decider;
  readonly #engine: Engine;
  #step: number;
  #stepMs: number;
  /** Number of calls that the session has decided. */
  #serial = 0;
  /** Number of calls that were settled (B1). */
  #settled = 0;
  /** Number of decisions when the step began. */
  #decidedBefore = 0;
  /** Number of decisions after which the session next looks for mistakes in the program. */
  #nextLook = FIRST_LOOK;
  /** Its circuits are shared, or were restored. */
  readonly #continues: boolean;
  readonly #beganMs: number;
  /** Created for the first error that counts. */
  #errors: CountedErrors | undefined;
  #plan: ScopePlan | undefined;
  #views: SessionViews | undefined;

  constructor(box: BoxContext, { id, memory, allowed, run, span, named }: SessionStart) {
    const { ledgerPair, step, stepMs } = memory;
    const store = box.shared ?? circuitStore(memory);
    this.id = id;
    this.agent = box.agent;
    this.#box = box;
    this.#step = step;
    this.#stepMs = stepMs;
    this.#telemetry = new SessionTelemetry(box, id, store, ledgerPair.real, span, named);
    if (box.shared !== undefined) watchDropped(this, this.#telemetry);
    this.#ledgers = new FailureLedgers(ledgerPair, store, box.systemic, this.#changes);
    this.#circuits = new CircuitRegistry({
      box,
      store,
      ledgers: this.#ledgers,
      changes: this.#changes,
      recovery: box.recoveryWatch(),
      session: this,
    });
    this.#entries = new SessionTools(box);
    this.#history = new CallHistory(box.clock, id, box.repeats, box.results, box.findsCircles);
    this.#engine = { box, circuits: this.#circuits, history: this.#history, allowed, run };
    this.#decider = new Decider(this.#engine);
    this.#beganMs = box.clock.now();
    this.#telemetry.changed({ is: 'wrote', ledger: ledgerPair.real, state: this.#ledgers.state });
    this.#telemetry.used(this.#beganMs, false);
    box.overrides.common.roster?.add(this);
    this.#continues = store.kept.size > 0 || box.shared !== undefined;
    for (const name of [...store.kept.keys()]) this.#circuits.track(name);
    if (run !== undefined) {
      this.#observes(run);
      limitChanges(run, this.#beganMs); // C11: another process has told what a restored run had reached.
      this.#telemetry.limited(isPausedByLimit(run));
    }
    this.#announce();
  }

  get context(): Context {
    return this.#telemetry.context;
  }

  acquire(tool: string, options?: AcquireOptions): Permit {
    const at = this.#arrive(true);
    const entry = this.#entries.find(tool) ?? this.#enter(tool, at);
    const call = options === undefined ? NO_CALL : this.#describe(entry, options);
    const mode = (entry.tracked ?? entry.spec ?? this.#box.undeclared).mode;
    if (mode === 'observe_only') this.#ledgers.observe();
    const decided = this.#decider.decide(entry, mode, call, at);
    this.#serial += 1;
    if (this.#serial === this.#nextLook) this.#look(false);
    const permit = this.#permit(entry, mode, decided, call, at);
    tallyDecision(entry.tally, permit.reason, decided.rejection?.route);
    if (decided.rejection !== undefined && entry.tracked !== undefined && SKIPS[permit.reason]?.asksForProbe) {
      entry.tracked.rejectedMs = at.ms;
    }
    if (this.#changes.list !== undefined) this.#announce();
    this.#telemetry.decided(permit, options, at.step);
    return permit;
  }

  /** The start of every public call that changes something: it first catches up with the time and other sessions. */
  #arrive(decides = false): Moment {
    const at = this.#now();
    if (this.#telemetry.used(at.ms, decides)) this.#box.overrides.common.roster?.add(this);
    const { run } = this.#engine;
    // D4: time has passed, perhaps for calls too. Nothing else uses limits meanwhile.
    if (run !== undefined && (run.lapse(at.ms) || run.limits.durationMs !== undefined)) this.#lookAtLimits(run, at.ms);
    if (this.#changes.list !== undefined) this.#announce();
    this.#circuits.catchUp(at, (permit, onLapse) => onLapse(permit, permit.leaseUntilMs, this));
    if (this.#changes.list !== undefined) this.#announce();
    return at;
  }

  /** Tells what has changed, in the order in which it did. Before a call's own report, and before listeners get their events. */
  #announce(): void {
    for (const change of this.#changes.take()) {
      this.#telemetry.changed(change);
      this.#box.overrides.changed?.(change);
    }
  }

  /** The end of every public call that changes something, except `acquire` and `settle`, which are one decision. */
  #flush(run = this.#engine.run): void {
    if (run !== undefined) this.#lookAtLimits(run, this.#box.clock.now()); // C1: modes may have changed.
    this.#announce();
    this.#telemetry.flush();
  }

  #now(ms = this.#box.clock.now()): Moment {
    if (this.#engine.run?.hasOthers)
      return { ms, step: this.#step, stepMs: this.#stepMs, calls: this.#settled, byCalls: true }; // D1
    return { ms, step: this.#step, stepMs: this.#stepMs, calls: this.#settled };
  }

  /** The first call of a tool, or the first since it was declared. */
  #enter(tool: string, at: Moment): SessionTool {
    const name = this.#entries.nameOf(tool);
    this.#box.unused.delete(name);
    // A model may make up any name, even the name of a group's circuit.
    const tracked = groupNameOf(name) === undefined ? this.#circuits.track(name, at) : undefined;
    return this.#entries.make(name, tracked, this.#circuits.trackGroup(this.#box.tool(name)?.group, at));
  }

  /** D1: the call of a child. */
  acquireFor(run: Run, tool: string, options: AcquireOptions | undefined): Permit {
    const known = safely('the options of acquire', () => ({ ...options })); // Untyped callers may pass anything.
    const inner: RunOptions = { ...known, [RUN]: run };
    return this.acquire(tool, inner);
  }

  #describe({ spec, tracked }: SessionTool, options: RunOptions): AskedCall {
    const isUntried =
      this.#box.repeats === undefined && spec !== undefined && !this.#box.evidence.succeeded.has(spec.name); // O8
    const input = this.#history.inputOf(options, spec ?? this.#box.undeclared, isUntried);
    const hint = read(options, 'key');
    const hasKey = spec !== undefined && tracked !== undefined && (hint !== undefined || spec.key !== undefined);
    const key = hasKey ? keyOf(spec, this.agent, read(options, 'input'), hint) : undefined;
    const run = read(options, RUN) as Run | undefined;
    return run === undefined ? { input, key } : { input, key, run };
  }

  /** The answer to the caller. A probe takes its slots. */
  #permit(entry: SessionTool, mode: CircuitMode, facts: Decided, call: AskedCall, at: Moment): SessionPermit {
    const { input, key } = call;
    const slots = facts.enters ? enter(this.#circuits, entry, mode, key, at) : NO_SLOTS;
    const asked = { mode, ledger: this.#ledgers.real.ledger, atMs: at.ms, serial: this.#serial, input };
    const permit = new SessionPermit(entry, facts, slots, asked, this.#settle);
    const run = call.run ?? this.#engine.run;
    if (run !== undefined) {
      permit.limits = run.enter(entry.tool, permit.executes, mode === 'observe_only', at.ms);
      this.#lookAtLimits(run, at.ms);
    }
    if (!permit.executes) input?.forget();
    else if (this.#history.guard !== NO_LOOPS) this.#history.tried(entry.tool, input);
    if (facts.decision === 'probe') this.#circuits.store.probing.begin(permit, this.#lapse);
    return permit;
  }

  /** The executor reports how a call went. */
  readonly #settle: SettleHandler = (permit, settlement) => {
    const at = this.#arrive(); // May find that the lease of this probe has ended (C9).
    if (permit.close()) {
      // C1: not a call that would not have been made.
      if (permit.reason !== 'would_skip' && permit.reason !== 'would_pause') this.#settled += 1;
      const { tool, spec } = permit.entry;
      const found = judge(settlement, tool, spec ?? this.#box.undeclared, this.#box.clock, at.ms - permit.atMs);
      const isOfKey = found.blames === 'key' && keyPassOf(permit.passes) !== undefined;
      const mayCount = found.outcome === 'failure' || isOfKey || found.unexplained !== undefined;
      // E3: one error that passes through nested guarded calls counts once.
      const isKnown = mayCount && 'error' in settlement && this.#errors?.has(permit, settlement.error) === true;
      let judged: Judged = found;
      if (isKnown) judged = { ...found, outcome: 'ignored', blames: undefined, ignoredFor: 'nested' };
      else if (found.unexplained !== undefined) judged = this.#byHistory(permit, found, found.unexplained);
      const late = this.#conclude(permit, judged, settlement, at);
      const counts = (isKnown || judged.outcome === 'failure' || isOfKey) && !late && isCounted(permit.reason);
      if (counts && 'error' in settlement) {
        this.#errors ??= new CountedErrors();
        this.#errors.add(permit, settlement.error);
      }
    }
    if (this.#telemetry.pending !== undefined) this.#telemetry.flush(permit.span);
  };

  /** O8: an error that nothing explains is one of an unusable tool if the tool has failed with every input so far. */
  #byHistory({ entry: { tool, spec }, input }: SessionPermit, judged: Judged, unexplained: Unexplained): Judged {
    if (spec === undefined || this.#box.evidence.succeeded.has(tool)) return judged;
    // Digests of another session have another seed, so the same input is another input there.
    const asked = input?.digest() ?? `none in ${this.id}`;
    const isUnusable = noteUnexplained(this.#box.evidence.unexplained, tool, unexplained, asked);
    return isUnusable ? { ...judged, category: 'unusable', outcome: spec.outcomes.unusable } : judged;
  }

  /** A call is over. Circuits and budget count its result unless they have moved on (C7). Returns whether they have. */
  #conclude(permit: SessionPermit, judged: Judged, settlement: Settlement | undefined, at: Moment): boolean {
    const { entry } = permit;
    const back = leave(this.#engine, permit, judged, settlement, at.ms);
    const late = back === 'late';
    permit.input?.forget();
    if (permit.circle !== undefined) this.#changes.add({ is: 'circled' });
    if (permit.limits !== undefined) this.#endInRun(permit.limits);
    // A call that was decided before the run had limits or children may contain a child, which counts itself (D3).
    else if (judged.tokens !== undefined || judged.cost !== undefined)
      if (this.#engine.run === undefined) this.#changes.add({ is: 'spent', spent: judged });
    this.#telemetry.concluded(permit, judged, late, judged.durationMs ?? at.ms - permit.atMs);
    if (entry.spec === undefined) warnOfUndeclared(this.#box, entry, judged.outcome);
    else {
      const { evidence } = this.#box;
      evidence.settled.add(entry.tool);
      if (judged.outcome === 'success' && !evidence.succeeded.has(entry.tool)) noteSuccess(evidence, entry.tool);
    }
    if (back !== 'untouched') answer(this.#circuits, permit, judged, at, back);
    if (this.#changes.list !== undefined) this.#announce();
    if (judged.outcome !== 'success') permit.advice = this.#decider.after(permit, this.#now());
    return late;
  }

  /** D3: what a call of a run with limits has used. */
  #endInRun({ run, spent }: RunPermit): void {
    if (spent !== undefined) this.#changes.add({ is: 'spent', spent: { ...spent, currency: run.currency } });
    this.#lookAtLimits(run, this.#box.clock.now()); // A lease that has ended comes late.
  }

  /** C9: a probe whose lease has ended failed at that time. Another session of the box may be the first to notice. */
  readonly #lapse: LapseHandler = (permit, atMs, noticedBy) => {
    if (permit.close()) this.#conclude(permit, lapseOf(permit), undefined, this.#now(atMs));
    if (noticedBy !== this) this.#telemetry.flush(permit.span);
  };

  declare(tool: string, options?: DeclareOptions): void {
    this.#box.declare(tool, options?.group);
    const name = this.#entries.nameOf(tool);
    const { kept } = this.#circuits.store;
    // The session counts in the gauges again, before its circuits do.
    for (const one of [this.#box.tool(name)?.group?.name ?? name, name]) {
      if (!kept.has(one)) continue;
      this.#circuits.track(one, this.#arrive());
      this.#flush();
    }
  }

  step(): void {
    this.stepOf(this.#engine.run);
  }

  stepOf(run: Run | undefined): void {
    const { ms } = this.#arrive();
    if (run !== undefined) {
      run.endStep();
      this.#lookAtLimits(run, ms);
    }
    if (this.#engine.run?.hasOthers)
      this.#flush(); // D1: steps that several agents take at a time say nothing of the time that passes.
    else this.#endStep(ms);
  }

  #endStep(ms: number): void {
    this.#step += 1;
    this.#stepMs = ms;
    this.#decidedBefore = this.#serial;
    const { steps } = this.#circuits.store;
    if (steps !== undefined) {
      steps.step += 1;
      steps.stepMs = ms;
    }
    this.#ledgers.advance(this.#now(ms));
    this.#flush();
  }

  beginTask(): void {
    this.#arrive();
    this.#history.beginTask();
    this.#flush();
  }

  resume(): void {
    this.#arrive();
    this.#ledgers.renew();
    this.#flush();
  }

  confirmRecovered(): void {
    const at = this.#arrive();
    this.#circuits.recovered('operator', at);
    this.#flush();
  }

  control(tool: string, mode: CircuitMode): void {
    const name = this.#entries.nameOf(tool);
    checkControl(tool, mode, this.#box.tool(name) ?? this.#box.group(name), this.#box.keepsCircuits);
    const tracked = this.#circuits.track(name, this.#arrive());
    // A4: while an operator's mode covers the circuit, the change is made beneath it.
    const own = tracked?.covered ?? tracked;
    // C16: where the settings say `automatic` too, the control by hand ends.
    if (own !== undefined) own.isControlled = mode !== 'automatic' || own.tool.mode !== mode || undefined;
    if (tracked !== undefined && own !== undefined && own.mode !== mode) {
      if (own === tracked) this.#circuits.changeMode(tracked, () => takeOver(tracked, mode));
      else {
        takeOver(own, mode);
        this.#box.overrides.common.version += 1; // A fleet's orders are taken up again.
      }
    }
    this.#flush();
  }

  spend(usage: Usage): void {
    this.spendFor(this.#engine.run, usage);
  }

  spendFor(run: Run | undefined, usage: Usage): void {
    checkUsage(usage);
    warnOfUsage(this.agent, usage);
    this.countSpent({ ...soundUsage(usage), currency: run?.currency });
    if (run === undefined) return;
    run.spend(usage);
    this.runChanged(run);
  }

  extend(limit: LimitKind, by: number): readonly ExtendedLimit[] {
    return this.extendFor(this.#engine.run, limit, by);
  }

  extendFor(run: Run | undefined, limit: LimitKind, by: number): readonly ExtendedLimit[] {
    const all = extendRun(run, limit, by);
    for (const extended of all) this.#changes.add({ is: 'extended', limit, extended });
    if (run !== undefined) this.runChanged(run);
    return all;
  }

  countSpent(spent: Spent): void {
    this.#changes.add({ is: 'spent', spent });
    this.#announce();
  }

  runChanged(run: Run): void {
    this.#arrive();
    this.#flush(run);
  }

  /** D7: tells which limits are near or reached, and which no longer are. */
  #lookAtLimits(run: Run, ms: number): void {
    for (const change of limitChanges(run, ms)) {
      const { run: root = run } = this.#engine;
      this.#changes.add({ is: 'limit', limitChange: change, isOver: isPausedByLimit(root) });
    }
  }

  end(): void {
    this.#look(true);
    this.#engine.run?.end();
    this.#leave();
  }

  contextFor(run: Run): Context {
    return this.#telemetry.contextFor(run);
  }

  childBegan(run: Run): void {
    limitChanges(run, this.#box.clock.now()); // C11: of a restored child, another process has told it.
    this.#telemetry.childBegan(run);
  }

  childEnded(run: Run): void {
    this.#telemetry.childEnded(run);
    if (this.#engine.run?.ended) this.#leave();
  }

  /** D1: the metrics and the span of a tree last until its last session has ended. */
  #leave(): void {
    if (this.#engine.run !== undefined && this.#engine.run.children.length > 0) return;
    this.#telemetry.ended();
    this.#box.overrides.common.roster?.remove(this);
  }

  child(options: ChildOptions = {}): SessionApi {
    this.#engine.run ??= this.#observes(new Run({ id: this.id, limits: {}, beganMs: this.#beganMs }));
    return this.childFor(this.#engine.run, options);
  }

  /** C1: limits ask whether any tool is more than observed. */
  #observes(root: Run): Run {
    return root.observedBy(() => this.views.isObserved());
  }

  childFor(run: Run, options: ChildOptions): SessionApi {
    return beginChild(this, run, options, this.#box, this.#box.clock.now());
  }

  /** Created when first asked: most sessions end without. */
  get views(): SessionViews {
    this.#views ??= new SessionViews({
      agent: this.agent,
      engine: this.#engine,
      entries: this.#entries,
      now: (ms) => this.#now(ms),
      lapse: this.#lapse,
    });
    return this.#views;
  }

  note(): string {
    return this.views.note(this.run);
  }

  unavailable(): readonly string[] {
    return this.views.unavailable(this.run);
  }

  explain(tool: string, input?: unknown): Explanation {
    return this.views.explain(this.run, tool, input);
  }

  peek(tool: string, input?: unknown): CircuitView | undefined {
    return this.views.peek(tool, input);
  }

  view(): SessionView {
    return this.views.view(this.id, this.run);
  }

  lookAhead(): LookAhead {
    return this.views.lookAhead();
  }

  get box(): BoxContext {
    return this.#box;
  }

  get beganMs(): number {
    return this.#beganMs;
  }

  get root(): TreeRoot {
    return this;
  }

  get run(): Run | undefined {
    return this.#engine.run;
  }

  get plan(): ScopePlan | undefined {
    return this.#plan;
  }

  get circles(): readonly Circle[] {
    return this.#history.circles?.all ?? [];
  }

  wasKept(): void {
    this.#telemetry.wasKept();
  }

  endPause(): number | undefined {
    const endMs = this.#ledgers.endPause(this.#arrive());
    this.#flush();
    return endMs;
  }

  groupReturned(group: string): void {
    this.#circuits.groupReturned(circuitNameOf(groupHint(group)), this.#arrive());
  }

  makePlan(make: PlanMaker, run = this.#engine.run): ScopePlan {
    const plan = make(this.#decider, this.#arrive(), run);
    this.#plan = plan;
    this.#changes.add({ is: 'planned', plan });
    this.#flush();
    return plan;
  }

  /** Warns about mistakes in the program. It costs something at a few decisions, and nothing at the rest. */
  #look(isOver: boolean): void {
    if (!isOver) this.#nextLook = nextLook(this.#nextLook);
    safely('looking for mistakes in the program', () =>
      lookForMistakes(this.#box, {
        session: this,
        tools: this.#entries.all(),
        step: this.#circuits.store.steps?.step ?? this.#step,
        decidedBefore: this.#decidedBefore,
        decided: this.#serial,
        continues: this.#continues,
        isOver,
        ageMs: () => this.#box.clock.now() - this.#beganMs,
      }),
    );
  }
}
