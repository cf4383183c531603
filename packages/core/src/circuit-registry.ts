import type { BoxContext } from './box-context.ts';
import type { RecoveryWatch } from './budget/recovery.ts';
import { latestOf } from './budget/systemic.ts';
import {
  admit,
  type Circuit,
  type CircuitMode,
  categoryOf,
  closedCircuit,
  dueNow,
  type Lease,
  reportedState,
  restage,
} from './circuit/circuit.ts';
import { type Asking, dueStep, freeSteps } from './circuit/schedule.ts';
import { type CircuitStore, circuitMoment, putCircuit } from './circuit-store.ts';
import type { Moment } from './clock.ts';
import type { RecoveredBy } from './events.ts';
import type { FailureLedgers } from './failure-ledgers.ts';
import { applyOverrides, type CircuitChanges } from './overrides.ts';
import type { MovedBy, PendingChanges } from './pending-changes.ts';
import type { EndingCall, SessionPermit } from './permit.ts';
import type { LapseHandler } from './probes-under-way.ts';
import type { Session } from './session-api.ts';
import type { SessionTool } from './session-tools.ts';
import type { CircuitSpec, ToolSpec } from './tool.ts';
import { newCircuit, type TrackedCircuit } from './tracked-circuit.ts';

/** What a registry works with. A look ahead has copies. */
interface RegistryParts {
  readonly box: BoxContext;
  readonly store: CircuitStore;
  readonly ledgers: FailureLedgers;
  readonly changes: PendingChanges;
  readonly recovery: RecoveryWatch | undefined;
  readonly session: Session;
}

/**
 * The circuits that a session uses, its own or those of its box (C12). Moves them, enters in the ledgers which circuits opened and
 * closed, and reports it. Every `at` is a moment of the session.
 */
export class CircuitRegistry implements CircuitChanges {
  readonly store: CircuitStore;
  readonly box: BoxContext;
  readonly ledgers: FailureLedgers;
  readonly #parts: RegistryParts;
  /** The version of the overrides that its circuits have (C16). */
  #overridden = 0;

  constructor(parts: RegistryParts) {
    this.store = parts.store;
    this.box = parts.box;
    this.ledgers = parts.ledgers;
    this.#parts = parts;
  }

  /** The same for copies, to look ahead with (C11). */
  copy(copies: Omit<RegistryParts, 'recovery' | 'session'>): CircuitRegistry {
    const { recovery } = this.#parts;
    const foreseeing = recovery && { ...recovery, isOver: recovery.foresees }; // It starts no health check.
    const copy = new CircuitRegistry({ ...this.#parts, ...copies, recovery: foreseeing });
    copy.#overridden = this.#overridden;
    return copy;
  }

  /** The circuit of a declared tool or of a group; closed on its first use (C2), unless one was kept for it. */
  track(name: string, at?: Moment): TrackedCircuit | undefined {
    const found = this.store.circuits.get(name);
    if (found !== undefined || !this.box.keepsCircuits) return found;
    const tool = this.box.tool(name);
    if (tool?.group !== undefined) this.#put(tool.group, at);
    const spec = tool ?? this.box.group(name);
    return spec && this.#put(spec, at);
  }

  /** The circuit of a tool's group (C13). */
  trackGroup(spec: CircuitSpec | undefined, at: Moment): TrackedCircuit | undefined {
    return spec === undefined || !this.box.keepsCircuits ? undefined : this.#put(spec, at);
  }

  /** G1: the first call of a tool may open its circuits, because a fleet holds them, and so begin an event. For a look ahead. */
  foresee(tool: ToolSpec, at: Moment): void {
    for (const spec of tool.group === undefined ? [tool] : [tool.group, tool]) {
      const isUsed = !this.box.keepsCircuits || this.store.circuits.has(spec.name);
      if (!isUsed && this.unused(spec).circuit.state !== 'closed') this.#put(spec, at);
    }
  }

  /** A circuit as its first use would find it. It is not kept. */
  unused(spec: CircuitSpec): TrackedCircuit {
    const made = newCircuit(spec);
    applyOverrides(this.box.overrides, this.#parts.session, [made]);
    return made;
  }

  #put(spec: CircuitSpec, at?: Moment): TrackedCircuit {
    const found = this.store.circuits.get(spec.name);
    if (found !== undefined) return found;
    const tracked = putCircuit(this.store, spec, this.box.clock);
    const { overrides } = this.box;
    applyOverrides(overrides, this.#parts.session, [tracked], undefined, at);
    const { mode, circuit } = tracked;
    this.#parts.changes.add({ is: 'tracked', tool: spec, state: reportedState(mode, circuit), circuit });
    if (tracked.mode === 'observe_only') this.ledgers.observe(); // From its first use, whatever that use is.
    // A fleet may open it (G1).
    if (at !== undefined && applyOverrides(overrides, this.#parts.session, [tracked], this, at) > 0)
      this.ledgers.conclude();
    return tracked;
  }

  /** C6: takes a slot of a circuit; undefined if it is closed. The decision has checked that one is free. */
  lease(tracked: TrackedCircuit, asking: Asking, at: Moment): Lease | undefined {
    const admission = admit(tracked.circuit, tracked.tool.policy, circuitMoment(this.store, at), asking);
    if (admission.verdict !== 'probe') return undefined;
    this.move(tracked, admission.circuit, at);
    return admission.lease;
  }

  /**
   * Catches up with the time and other sessions. `lapse` is told of each probe whose lease has ended (C9), with the handler of
   * the session that asked for it.
   */
  catchUp(at: Moment, lapse: (permit: SessionPermit, onLapse: LapseHandler) => void): void {
    const { probing, circuits } = this.store;
    const { overrides } = this.box;
    const { version, untilMs } = overrides.common;
    let isOverridden = version !== this.#overridden || at.ms >= untilMs;
    if (at.ms < probing.soonestMs && !isOverridden && this.ledgers.isSteady(at)) return; // Nearly every call.
    for (let due = probing.takeLapsed(at.ms); due; due = probing.takeLapsed(at.ms)) {
      lapse(...due);
      isOverridden = true; // It may have used up the grant that other circuits follow (C15).
    }
    if (isOverridden) this.#overridden = applyOverrides(overrides, this.#parts.session, circuits.values(), this, at);
    this.ledgers.advance(at);
    const event = this.ledgers.event ?? this.ledgers.sideOf('observe_only').failures.correlation.event;
    if (event === undefined) return;
    const by = this.#parts.recovery?.isOver(latestOf(event), at.ms);
    if (by === undefined) return;
    this.recovered(by, at);
    this.ledgers.advance(at); // Charges have aged during the pause.
  }

  /** The circuit in this store: a look ahead has copies of its own (C11). */
  own(tracked: TrackedCircuit | undefined): TrackedCircuit | undefined {
    return tracked && this.store.circuits.get(tracked.tool.name);
  }

  /** Who decides for a tool: its circuit, or its settings if it has no circuit. */
  modeOf({ tracked, spec }: SessionTool): CircuitMode {
    return (this.own(tracked) ?? spec ?? this.box.undeclared).mode;
  }

  /** K1: whether the last check scored the tool as degraded. */
  isDegraded({ entry: { tool, spec } }: EndingCall, { ms }: Moment): boolean {
    return spec?.precheck !== undefined && this.box.prechecks.peek(tool, ms) === 'degraded';
  }

  /** The same by its name: as its next call would find it. */
  modeOfTool(name: string): CircuitMode {
    const spec = this.box.tool(name);
    if (spec === undefined) return this.box.undeclared.mode;
    return (this.store.circuits.get(name) ?? (this.box.keepsCircuits ? this.unused(spec) : spec)).mode;
  }

  surroundings(tracked: TrackedCircuit) {
    const freeFrom = (step: number) => this.#freeSteps((one) => one !== tracked, tracked.mode).from(step);
    return { capMs: this.box.capMs(tracked.tool.name), freeFrom };
  }

  /** C1: `change` sets the mode by hand. The circuit starts again, and results of calls under way are late. */
  changeMode(tracked: TrackedCircuit, change: () => void): void {
    const before = reportedState(tracked.mode, tracked.circuit);
    const category = categoryOf(tracked.circuit);
    change();
    const { mode, circuit } = tracked;
    const after = reportedState(mode, circuit);
    this.ledgers.closed('automatic', tracked.tool.name);
    if (mode === 'observe_only') this.ledgers.observe();
    if (after === before) return;
    const moved = { tool: tracked.tool, from: before, to: after, circuit, category: category ?? categoryOf(circuit) };
    this.#parts.changes.add({ is: 'moved', ...moved, isObserved: false, by: 'mode' });
  }

  /** C13: the server of a group has come back. */
  groupReturned(group: string, at: Moment): void {
    const tracked = this.store.circuits.get(group);
    if (tracked === undefined) return;
    tracked.circuit = dueNow(tracked.circuit, tracked.tool.policy, circuitMoment(this.store, at));
  }

  /** S5: a systemic event is over, and probing begins again. `mode`: of the tool whose probe shows it. One that is only observed ends the
   * event of the dry run alone. */
  recovered(by: RecoveredBy, at: Moment, mode: CircuitMode = 'automatic'): void {
    const now = circuitMoment(this.store, at);
    const concerns = (one: CircuitMode) =>
      (one === 'observe_only' || mode !== 'observe_only') &&
      this.ledgers.sideOf(one).failures.correlation.event !== undefined;
    const waiting = [...this.store.circuits.values()].filter((one) => concerns(one.mode));
    const left = new Set(waiting);
    const others = (one: TrackedCircuit) => !left.has(one);
    const free = this.#freeSteps(others, 'automatic');
    const freeOfAll = this.#freeSteps(others, 'observe_only');
    for (const tracked of waiting) {
      const { circuit, tool } = tracked;
      const isObserved = tracked.mode === 'observe_only';
      const steps = isObserved ? freeOfAll : free;
      tracked.circuit = restage(circuit, tool.policy, now, (step) => steps.from(step));
      const due = tracked.circuit.state === 'open' ? tracked.circuit.outage.ladder?.dueStep : undefined;
      if (due === undefined) continue;
      freeOfAll.take(due);
      if (!isObserved) free.take(due);
    }
    const { event } = this.ledgers;
    this.ledgers.resolve(mode);
    if (event === undefined || mode === 'observe_only') return;
    this.box.prechecks.forget();
    this.#parts.changes.add({ is: 'resolved', event, by });
  }

  /** P3: the steps on which none of these circuits probes. Observed tools take no step from tools that decide. */
  #freeSteps(counts: (one: TrackedCircuit) => boolean, of: CircuitMode) {
    const taken: number[] = [];
    for (const one of this.store.circuits.values()) {
      const { circuit, tool, mode } = one;
      if (!counts(one) || (mode === 'observe_only' && of !== mode)) continue;
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
  move(tracked: TrackedCircuit, next: Circuit, at: Moment, by: MovedBy = 'calls', opens = true): void {
    const before = tracked.circuit;
    tracked.circuit = next;
    if (before.state === next.state) return;
    const { mode, tool } = tracked;
    const { name } = tool;
    if (next.state === 'closed') this.ledgers.closed(mode, name);
    const isMember = this.box.group(name) && this.#absorbs(tracked);
    const fromClosed = before.state === 'closed';
    if (fromClosed && isMember !== undefined) this.#absorb(isMember);
    // G3: a fleet dates what it opens.
    const openedMs = fromClosed && next.state === 'open' ? next.outage.openedAt.ms : at.ms;
    const isEvent =
      opens &&
      next.state === 'open' &&
      this.ledgers.opened(
        mode,
        {
          tool: name,
          category: next.outage.category,
          at: { ...at, ms: openedMs },
          unixMs: this.box.clock.unixNow() - (at.ms - openedMs),
        },
        { fromClosed, isMember: fromClosed ? isMember : undefined },
      );
    this.#moved(tracked, before, next, by);
    if (isEvent && this.ledgers.event !== undefined)
      this.#parts.changes.add({ is: 'detected', event: this.ledgers.event });
  }

  #moved(tracked: TrackedCircuit, before: Circuit, next: Circuit, by: MovedBy): void {
    const category = categoryOf(next) ?? categoryOf(before);
    const isObserved = tracked.mode === 'observe_only';
    this.#parts.changes.add({
      is: 'moved',
      tool: tracked.tool,
      from: before.state,
      to: next.state,
      circuit: next,
      category,
      isObserved,
      by,
    });
  }

  /** C15: which tools a group absorbs when it opens: its members. An observed group absorbs the members that are observed too. */
  #absorbs({ tool, mode }: TrackedCircuit): (name: string) => boolean {
    return (name) => this.box.tool(name)?.group === tool && this.store.circuits.get(name)?.mode === mode;
  }

  /** C15: members return to closed with zero counts, and calls under way are late. */
  #absorb(isMember: (tool: string) => boolean): void {
    for (const [name, tracked] of this.store.circuits) {
      if (!isMember(name)) continue;
      const before = tracked.circuit;
      tracked.circuit = closedCircuit(before.generation + 1);
      tracked.openedBy = undefined;
      if (tracked.mode !== 'observe_only') this.#parts.changes.add({ is: 'absorbed', tool: tracked.tool });
      if (before.state !== 'closed') this.#moved(tracked, before, tracked.circuit, 'group');
    }
  }
}
