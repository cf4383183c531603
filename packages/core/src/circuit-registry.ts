import type { BoxContext } from './box-context.ts';
import type { RecoveryWatch } from './budget/recovery.ts';
import { latestOf } from './budget/systemic.ts';
import {
  admit,
  admits,
  type Circuit,
  type CircuitMode,
  categoryOf,
  closedCircuit,
  fail,
  interrupt,
  isLate,
  isUntouched,
  type Lease,
  release,
  reportedState,
  restage,
  retreat,
  succeed,
  type Ticket,
} from './circuit/circuit.ts';
import { distinctKey, passKey, releaseKey, settleKey } from './circuit/key-circuits.ts';
import { countsForGroup } from './circuit/policy.ts';
import { type Asking, dueStep, type FreeSteps, freeSteps } from './circuit/schedule.ts';
import { type CircuitStore, type CorrelationState, circuitMoment, type Gate, putCircuit } from './circuit-store.ts';
import type { ErrorCategory } from './classify/taxonomy.ts';
import type { Moment } from './clock.ts';
import type { RecoveredBy } from './events.ts';
import type { FailureLedgers } from './failure-ledgers.ts';
import { isWithoutVerdict, type Judged } from './outcome.ts';
import { applyOverrides, type CircuitChanges } from './overrides.ts';
import { feeds, holdsShared, keyPassOf, NO_PASSES, type Pass, rejects } from './passes.ts';
import type { SessionPermit } from './permit.ts';
import type { LapseHandler } from './probes.ts';
import { isCounted } from './reasons.ts';
import type { Session } from './session-api.ts';
import type { SessionTool } from './session-tools.ts';
import type { SessionObserver } from './telemetry/observer.ts';
import { spanContextOf } from './telemetry/spans.ts';
import type { CircuitSpec, ToolSpec } from './tool.ts';
import { newCircuit, type TrackedCircuit } from './tracked-circuit.ts';
import { hasSucceeded } from './warnings/mistakes.ts';

/** C14: a probe of a key alone costs what any call does. */
const probesMoreThanKey = ({ lease, passes }: SessionPermit): boolean => lease !== undefined || holdsShared(passes);

/**
 * C9: the outcome of a probe that never settled. It is a failure of the tool, or of the key alone if the call probed nothing else
 * (C14).
 */
export const lapseOf = (permit: SessionPermit): Judged => (probesMoreThanKey(permit) ? LAPSED : LAPSED_KEY);
const LAPSED: Judged = { outcome: 'failure', category: 'timeout' };
const LAPSED_KEY: Judged = { outcome: 'ignored', category: 'timeout', blames: 'key' };

/**
 * The circuits that a session uses, its own or those of its box (C12). Moves them, enters in the ledgers which circuits opened and
 * closed, and tells the observer. Every `at` is a moment of the session.
 */
export class CircuitRegistry implements CircuitChanges {
  readonly store: CircuitStore;
  readonly #box: BoxContext;
  readonly #ledgers: FailureLedgers;
  readonly #observer: SessionObserver;
  readonly #recovery: RecoveryWatch | undefined;
  readonly #session: Session;
  /** The version of the overrides that its circuits have (C16). */
  #overridden = 0;

  constructor(
    box: BoxContext,
    store: CircuitStore,
    ledgers: FailureLedgers,
    observer: SessionObserver,
    recovery: RecoveryWatch | undefined,
    session: Session,
  ) {
    this.store = store;
    this.#box = box;
    this.#ledgers = ledgers;
    this.#observer = observer;
    this.#recovery = recovery;
    this.#session = session;
  }

  /** The circuit of a declared tool or of a group; closed on its first use (C2), unless one was kept for it (C11). */
  track(name: string, at?: Moment): TrackedCircuit | undefined {
    const found = this.store.circuits.get(name);
    if (found !== undefined || !this.#box.keepsCircuits) return found;
    const tool = this.#box.tool(name);
    if (tool?.group !== undefined) this.#put(tool.group, at);
    const spec = tool ?? this.#box.group(name);
    return spec && this.#put(spec, at);
  }

  /** The circuit of a tool's group (C13). */
  trackGroup(spec: CircuitSpec | undefined, at: Moment): TrackedCircuit | undefined {
    return spec === undefined || !this.#box.keepsCircuits ? undefined : this.#put(spec, at);
  }

  /** G1: the first call of a tool may open its circuits, because a fleet holds them, and so begin an event. For a look ahead. */
  foresee(tool: ToolSpec, at: Moment): void {
    for (const spec of tool.group === undefined ? [tool] : [tool.group, tool]) {
      const isUsed = !this.#box.keepsCircuits || this.store.circuits.has(spec.name);
      if (!isUsed && this.unused(spec).circuit.state !== 'closed') this.#put(spec, at);
    }
  }

  /** A circuit as its first use would find it. It is not kept. */
  unused(spec: CircuitSpec): TrackedCircuit {
    const made = newCircuit(spec);
    applyOverrides(this.#box.overrides, this.#session, [made]);
    return made;
  }

  #put(spec: CircuitSpec, at?: Moment): TrackedCircuit {
    const found = this.store.circuits.get(spec.name);
    if (found !== undefined) return found;
    const tracked = putCircuit(this.store, spec, this.#box.clock);
    const { overrides } = this.#box;
    applyOverrides(overrides, this.#session, [tracked], undefined, at);
    this.#observer.tracked(tracked);
    if (tracked.mode === 'observe_only') this.#ledgers.observe(); // From its first use, whatever that use is (C1).
    // A fleet may open it (G1).
    if (at !== undefined && applyOverrides(overrides, this.#session, [tracked], this, at) > 0) this.#ledgers.settle();
    return tracked;
  }

  /** C15: the other circuits that a call passes: a closed group, and its key, with a slot if the key's circuit is not closed. */
  takePasses({ group, tracked }: SessionTool, mode: CircuitMode, key: string | undefined, at: Moment): readonly Pass[] {
    const ofKey =
      key === undefined || tracked === undefined ? NO_PASSES : [passKey(tracked, key, circuitMoment(this.store, at))];
    // Only a probe settles a group that is not closed (C7).
    if (group === undefined || group.circuit.state !== 'closed' || !feeds(group, mode)) return ofKey;
    const ofGroup: Pass = { of: 'group', generation: group.circuit.generation, lease: undefined };
    return ofKey === NO_PASSES ? [ofGroup] : [ofGroup, ...ofKey];
  }

  /** C6, C15: takes a slot of each circuit that is not closed. The decision has checked that each has a free slot. */
  lend(
    tool: SessionTool,
    mode: CircuitMode,
    key: string | undefined,
    at: Moment,
  ): { readonly lease: Lease | undefined; readonly passes: readonly Pass[] } {
    const { tracked, group } = tool;
    if (tracked === undefined) return { lease: undefined, passes: NO_PASSES };
    const asking: Asking = { tool: tool.tool, policy: tracked.tool.policy };
    const passes: Pass[] = [...this.takePasses(tool, mode, key, at)];
    const gate = this.#gateFor(tool.tool, mode);
    if (gate !== undefined) passes.push(this.#enterGate(gate, mode, asking, at));
    if (group !== undefined && group.circuit.state !== 'closed' && feeds(group, mode) && rejects(group, mode)) {
      const lease = this.#lease(group, asking, at);
      passes.push({ of: 'group', generation: group.circuit.generation, lease });
    }
    return { lease: this.#lease(tracked, asking, at), passes };
  }

  #lease(tracked: TrackedCircuit, asking: Asking, at: Moment): Lease | undefined {
    const admission = admit(tracked.circuit, tracked.tool.policy, circuitMoment(this.store, at), asking);
    if (admission.verdict !== 'probe') return undefined;
    this.move(tracked, admission.circuit, at);
    return admission.lease;
  }

  /** S5: the gate of the event that concerns a tool. */
  #gateFor(tool: string, mode: CircuitMode): Gate | undefined {
    const state = this.#ledgers.correlationOf(mode === 'observe_only');
    return state.gate !== undefined && this.#ledgers.isAffected(state, tool) ? state.gate : undefined;
  }

  /** The correlation state of the event whose gate a call has passed. */
  #stateOf({ of }: Pass): CorrelationState {
    return this.#ledgers.correlationOf(of === 'observed_gate');
  }

  #enterGate(gate: Gate, mode: CircuitMode, asking: Asking, at: Moment): Pass {
    const policy = this.#box.systemic?.gate ?? asking.policy;
    const admission = admit(gate.circuit, policy, at, asking);
    gate.circuit = admission.circuit;
    const lease = admission.verdict === 'probe' ? admission.lease : undefined;
    const of = mode === 'observe_only' ? 'observed_gate' : 'gate';
    return { of, generation: gate.circuit.generation, lease };
  }

  /** S5: whether a call of the tool may go now as the probe of its event. */
  admitsAtGate({ tool, spec }: Pick<SessionTool, 'tool' | 'spec'>, mode: CircuitMode, at: Moment): boolean {
    const gate = this.#gateFor(tool, mode);
    const policy = this.#box.systemic?.gate;
    if (gate === undefined || policy === undefined || spec === undefined) return false;
    return admits(gate.circuit, policy, at, { tool, policy: spec.policy });
  }

  /**
   * Settles what time and other sessions have changed. `lapse` is told of each probe whose lease has ended (C9), with the handler of
   * the session that asked for it.
   */
  settleDue(at: Moment, lapse: (permit: SessionPermit, settle: LapseHandler) => void, looksAhead = false): void {
    const { probing, circuits } = this.store;
    const { overrides } = this.#box;
    const isOverridden = overrides.version !== this.#overridden || at.ms >= overrides.untilMs;
    if (at.ms < probing.soonestMs && !isOverridden && this.#ledgers.isSteady(at)) return; // Nearly every call.
    for (let due = probing.takeLapsed(at.ms); due; due = probing.takeLapsed(at.ms)) lapse(...due);
    if (isOverridden) this.#overridden = applyOverrides(overrides, this.#session, circuits.values(), this, at);
    this.#ledgers.pass(at);
    const event = this.#ledgers.event ?? this.#ledgers.correlationOf(true).correlation.event;
    if (event === undefined) return;
    const sinceMs = latestOf(event);
    const by = looksAhead ? this.#recovery?.foresees(sinceMs, at.ms) : this.#recovery?.isOver(sinceMs, at.ms);
    if (by !== undefined) this.recovered(by, at);
  }

  /** Whether a success of this call changes nothing: nearly every call. */
  isUntouched({ entry: { tracked, group }, passes, generation }: SessionPermit): boolean {
    if (tracked === undefined) return false;
    const { circuit } = tracked;
    if (circuit.generation !== generation || !isUntouched(circuit, tracked.tool.policy)) return false;
    if (!this.#ledgers.isUntouchedBySuccess(tracked.tool.name, group?.tool.name)) return false;
    if (passes === NO_PASSES) return true;
    return tracked.keys === undefined && (group === undefined || isUntouched(group.circuit, group.tool.policy));
  }

  /**
   * A call is no longer under way. Returns whether it comes back too late to change anything (C7); then it only returns its slots.
   */
  returned(permit: SessionPermit): boolean {
    if (permit.decision === 'probe') this.store.probing.end(permit);
    const tracked = this.#own(permit.entry.tracked);
    if (tracked === undefined || !permit.answers || !isLate(tracked.circuit, permit)) return false;
    for (const pass of permit.passes) {
      if (pass.of === 'key') {
        releaseKey(tracked, pass);
        continue;
      }
      const holder = pass.of === 'group' ? this.#own(permit.entry.group) : this.#stateOf(pass).gate;
      if (holder !== undefined) holder.circuit = release(holder.circuit, pass);
    }
    return true;
  }

  /** The circuit in this store: a look ahead has copies of its own (C11). */
  #own(tracked: TrackedCircuit | undefined): TrackedCircuit | undefined {
    return tracked && this.store.circuits.get(tracked.tool.name);
  }

  /** Charges the result of a call, and moves the circuits that let it through. */
  settle(permit: SessionPermit, judged: Judged, at: Moment): void {
    const { outcome, category = 'unknown', tokens = 0 } = judged;
    const { entry } = permit;
    const counts = isCounted(permit.reason);
    if (outcome === 'failure' && counts) this.#charge(permit, category, at, tokens, probesMoreThanKey(permit));
    if (outcome === 'success' && counts && permit.answers) {
      this.#ledgers.succeeded(this.modeOf(entry) === 'observe_only', entry.tool, entry.group?.tool.name);
    }
    if (permit.answers) this.#answer(permit, judged, at);
    // The one charge of an event may be the last one too, and a success may make earlier charges final (S3).
    this.#ledgers.settle();
  }

  /** Who decides for a tool: its circuit, or its settings if it has no circuit. */
  modeOf({ tracked, spec }: SessionTool): CircuitMode {
    return (this.#own(tracked) ?? spec ?? this.#box.undeclared).mode;
  }

  /** C15: gives the result to each circuit that the call passed. The group comes first, because it may absorb the tool. */
  #answer(permit: SessionPermit, judged: Judged, at: Moment): void {
    const { entry, passes } = permit;
    const tracked = this.#own(entry.tracked);
    if (tracked === undefined) return;
    const before = tracked.circuit;
    for (const pass of passes) if (pass.of === 'group') this.#answerGroup(permit, pass, judged, at);
    // A group that opened has absorbed the tool, so the result is late for the tool's circuit. A failed probe of a group, or of an
    // event, counts only there. Otherwise each tool of a dead server would open a circuit of its own, one failed probe after the
    // other.
    const isAbsorbed = tracked.circuit !== before;
    const isExplained = permit.lease === undefined && judged.outcome === 'failure' && holdsShared(passes);
    if (!isAbsorbed && !isExplained) this.#answerTool(permit, tracked, judged, at);
    for (const pass of passes) {
      if (pass.of === 'key') {
        settleKey(tracked, pass, judged, circuitMoment(this.store, at), this.#isDegraded(permit, at));
      } else if (pass.of !== 'group') this.#answerGate(permit, pass, judged, at);
    }
  }

  #answerTool(permit: SessionPermit, tracked: TrackedCircuit, judged: Judged, at: Moment): void {
    const { circuit } = tracked;
    const next = this.#next(tracked, permit, judged, at);
    const opens = circuit.state === 'closed' && next.state === 'open';
    if (opens) tracked.openedBy = spanContextOf(permit.span);
    if (opens && judged.outcome === 'ignored') this.#charge(permit, next.outage.category, at, 0, false, true);
    this.move(tracked, next, at, opens || judged.outcome !== 'ignored');
  }

  /** B1: a failure costs one. C14: those of keys cost nothing, but the opening of their tool does. */
  #charge(
    { entry }: SessionPermit,
    category: ErrorCategory,
    at: Moment,
    tokens = 0,
    isProbe = false,
    ofKeys = false,
  ): void {
    const { tool, tracked } = entry;
    const mayWait = tracked?.tool.policy.failureThreshold ?? 0;
    const group = entry.group?.tool.name;
    const failure = { tool, category, tokens, at, hasCircuit: tracked !== undefined, isProbe, mayWait, group };
    this.#ledgers.failed(this.modeOf(entry) === 'observe_only', failure, this.#box.clock.unixNow(), ofKeys);
  }

  #answerGroup(permit: SessionPermit, pass: Pass, judged: Judged, at: Moment): void {
    const group = this.#own(permit.entry.group);
    if (group === undefined) return;
    const { circuit, tool } = group;
    const { outcome, category = 'unknown', retryAfterMs, tokens = 0, blames } = judged;
    const now = circuitMoment(this.store, at);
    const call = { durationMs: 0, tokens };
    let next = circuit;
    if (outcome === 'ignored') next = this.#ignored(group, pass, permit.tool, isWithoutVerdict(judged), now);
    else if (outcome === 'success') next = succeed(circuit, pass, call, tool.policy, now);
    else if (circuit.state !== 'closed' || countsForGroup(category) || blames === 'group') {
      const atOnce = blames === 'group' ? 'transport' : undefined;
      const failure = { ...call, category, retryAfterMs, tool: permit.tool, atOnce } as const;
      next = fail(circuit, pass, failure, tool.policy, now, this.#surroundings(group));
    }
    if (circuit.state === 'closed' && next.state === 'open') group.openedBy = spanContextOf(permit.span);
    this.move(group, next, at, outcome !== 'ignored');
  }

  /** C8: the probe of a circuit was ignored. */
  #ignored(tracked: TrackedCircuit, ticket: Ticket, tool: string, retreats: boolean, at: Moment): Circuit {
    const { circuit } = tracked;
    if (!retreats) return release(circuit, ticket);
    return retreat(circuit, ticket, tool, tracked.tool.policy, at, this.#surroundings(tracked));
  }

  /** S5: the probe of an event has settled. */
  #answerGate(permit: SessionPermit, pass: Pass, judged: Judged, at: Moment): void {
    const { outcome, category = 'unknown', retryAfterMs, tokens = 0 } = judged;
    const state = this.#stateOf(pass);
    const { gate } = state;
    const policy = this.#box.systemic?.gate;
    if (gate === undefined || policy === undefined || isLate(gate.circuit, pass)) return;
    const call = { durationMs: 0, tokens };
    if (isWithoutVerdict(judged)) gate.circuit = retreat(gate.circuit, pass, permit.tool, policy, at);
    else if (outcome === 'ignored') gate.circuit = release(gate.circuit, pass);
    else if (outcome === 'failure') {
      gate.circuit = fail(gate.circuit, pass, { ...call, category, retryAfterMs, tool: permit.tool }, policy, at);
    } else this.recovered('probe', at, state !== this.#ledgers.correlationOf(false));
  }

  #next(tracked: TrackedCircuit, permit: SessionPermit, judged: Judged, ended: Moment): Circuit {
    const { circuit, tool } = tracked;
    const { outcome, category = 'unknown', retryAfterMs, tokens = 0 } = judged;
    if (outcome === 'ignored') return this.#ignoredByTool(tracked, permit, judged, circuitMoment(this.store, ended));
    const { policy } = tool;
    const { durationMs = ended.ms - permit.atMs } = judged;
    const at = circuitMoment(this.store, ended);
    const call = { durationMs, tokens };
    const surroundings = this.#surroundings(tracked);
    if (outcome === 'success') return succeed(circuit, permit, call, policy, at, surroundings);
    const key = distinctKey(keyPassOf(permit.passes), category);
    const degraded = this.#isDegraded(permit, at);
    const atOnce = category === 'unusable' ? category : undefined;
    const isFirst = !hasSucceeded(this.#box, permit.tool);
    const failure = { ...call, category, retryAfterMs, degraded, key, atOnce, isFirst };
    return fail(circuit, permit, failure, policy, at, surroundings);
  }

  /** C14, C8: what is ignored by the tool may count for its keys. */
  #ignoredByTool(tracked: TrackedCircuit, permit: SessionPermit, judged: Judged, at: Moment): Circuit {
    const { circuit, tool } = tracked;
    const { category = 'unknown', blames, answered } = judged;
    const key = blames === 'key' ? distinctKey(keyPassOf(permit.passes), category) : undefined;
    if (circuit.state !== 'closed') {
      // A tool that is open because its keys fail is probed by calls of any key.
      const isStillFailing = key !== undefined && circuit.outage.trip === 'keys';
      return this.#ignored(tracked, permit, permit.tool, isStillFailing || isWithoutVerdict(judged), at);
    }
    if (key === undefined) return answered === true ? interrupt(circuit, permit, tool.policy, at) : circuit;
    const failure = { category, key, ofKey: true, isFirst: !hasSucceeded(this.#box, permit.tool) };
    return fail(circuit, permit, failure, tool.policy, at, this.#surroundings(tracked));
  }

  /** K1: whether the last check scored the tool as degraded. */
  #isDegraded({ entry: { tool, spec } }: SessionPermit, { ms }: Moment): boolean {
    return spec?.precheck !== undefined && this.#box.prechecks.peek(tool, ms) === 'degraded';
  }

  #surroundings(tracked: TrackedCircuit) {
    const observed = tracked.mode === 'observe_only';
    const freeFrom = (step: number) => this.#freeSteps((one) => one !== tracked, observed).from(step);
    return { capMs: this.#box.capMs(tracked.tool.name), freeFrom };
  }

  /** C1, A4: `change` sets the mode by hand. The circuit starts again, and results of calls under way are late. */
  takeOver(tracked: TrackedCircuit, change: () => void): void {
    const before = reportedState(tracked.mode, tracked.circuit);
    const category = categoryOf(tracked.circuit);
    change();
    const { mode, circuit } = tracked;
    const after = reportedState(mode, circuit);
    this.#ledgers.closed(false, tracked.tool.name);
    if (mode === 'observe_only') this.#ledgers.observe();
    if (after !== before) this.#observer.moved(tracked, before, after, category ?? categoryOf(circuit));
  }

  /** S5: a systemic event is over, and probing begins again (P3). `observedOnly`: only the event of the dry run. */
  recovered(by: RecoveredBy, at: Moment, observedOnly = false): void {
    const now = circuitMoment(this.store, at);
    const concerned = (observed: boolean) =>
      (observed || !observedOnly) && this.#ledgers.correlationOf(observed).correlation.event !== undefined;
    const waiting = [...this.store.circuits.values()].filter(({ mode }) => concerned(mode === 'observe_only'));
    const left = new Set(waiting);
    const [free, freeOfAll] = [false, true].map((observed) => this.#freeSteps((one) => !left.has(one), observed));
    for (const tracked of waiting) {
      const { circuit, tool, mode } = tracked;
      const observed = mode === 'observe_only';
      const steps = observed ? freeOfAll : free;
      tracked.circuit = restage(circuit, tool.policy, now, steps && ((step) => steps.from(step)));
      const due = tracked.circuit.state === 'open' ? tracked.circuit.outage.ladder?.dueStep : undefined;
      if (due === undefined) continue;
      freeOfAll?.take(due);
      if (!observed) free?.take(due);
    }
    const { event } = this.#ledgers;
    this.#ledgers.resolve(observedOnly);
    if (event === undefined || observedOnly) return;
    this.#box.prechecks.forget();
    this.#observer.resolved(event, by);
  }

  /** P3: the steps on which none of these circuits probes. Observed tools take no step from tools that decide (C1). */
  #freeSteps(counts: (one: TrackedCircuit) => boolean, observed: boolean): FreeSteps {
    const taken: number[] = [];
    for (const one of this.store.circuits.values()) {
      const { circuit, tool, mode } = one;
      if (!counts(one) || (mode === 'observe_only' && !observed)) continue;
      if (circuit.state !== 'open' || circuit.outage.ladder === undefined) continue;
      const due = dueStep(circuit.outage, tool.policy);
      if (due !== undefined) taken.push(due);
    }
    return freeSteps(taken);
  }

  /**
   * Puts a circuit into its next state, and compares an opening with the others. `opens`: that it is open now is an opening, and not
   * the end of a probe without a verdict (C8).
   */
  move(tracked: TrackedCircuit, next: Circuit, at: Moment, opens = true): void {
    const before = tracked.circuit;
    tracked.circuit = next;
    if (before.state === next.state) return;
    const { name } = tracked.tool;
    const observed = tracked.mode === 'observe_only';
    if (next.state === 'closed') this.#ledgers.closed(observed, name);
    const isMember = this.#box.group(name) && this.#absorbs(tracked);
    const fromClosed = before.state === 'closed';
    if (fromClosed && isMember !== undefined) this.#absorb(isMember);
    const isEvent =
      opens &&
      next.state === 'open' &&
      this.#ledgers.opened(
        observed,
        { tool: name, category: next.outage.category, at, unixMs: this.#box.clock.unixNow() },
        { fromClosed, isMember: fromClosed ? isMember : undefined },
      );
    this.#tell(tracked, before, next);
    if (isEvent && this.#ledgers.event !== undefined) this.#observer.detected(this.#ledgers.event);
  }

  #tell(tracked: TrackedCircuit, before: Circuit, next: Circuit): void {
    const category = categoryOf(next) ?? categoryOf(before);
    const { name } = tracked.tool;
    if (tracked.mode === 'observe_only') this.#observer.dryRunMoved(name, before.state, next.state, category);
    else this.#observer.moved(tracked, before.state, next.state, category);
  }

  /** C15: which tools a group absorbs when it opens: its members. An observed group absorbs the members that are observed too. */
  #absorbs({ tool, mode }: TrackedCircuit): (name: string) => boolean {
    return (name) => this.#box.tool(name)?.group === tool && this.store.circuits.get(name)?.mode === mode;
  }

  /** C15: members return to closed with zero counts, and calls under way are late. */
  #absorb(isMember: (tool: string) => boolean): void {
    for (const [name, tracked] of this.store.circuits) {
      if (!isMember(name)) continue;
      const before = tracked.circuit;
      tracked.circuit = closedCircuit(before.generation + 1);
      tracked.openedBy = undefined;
      this.#observer.absorbed(tracked);
      if (before.state !== 'closed') this.#tell(tracked, before, tracked.circuit);
    }
  }
}
