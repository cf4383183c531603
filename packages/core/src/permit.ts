import { type Context, context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { isCautious, remaining } from './budget/budget.ts';
import type { CallInput } from './call-input.ts';
import type { Route } from './capability/route.ts';
import type { Circuit, Lease, Ticket } from './circuit/circuit.ts';
import { type CircuitMode, type ReportedState, reportedState } from './circuit/mode.ts';
import type { Moment } from './clock.ts';
import type { FreshnessLabel } from './freshness.ts';
import { groupNameOf } from './groups.ts';
import type { Ledger } from './ledger.ts';
import type { Held } from './message.ts';
import type { Pass } from './passes.ts';
import { type Decision, isAnswered, type Reason, wouldDecide } from './reasons.ts';
import type { SessionTool } from './seats.ts';
import type { Settlement } from './settlement.ts';
import { reportThrown, safely } from './telemetry/safely.ts';

/**
 * The answer to `session.acquire(tool)`. On `call` and `probe`, run the tool and settle. On `skip` and `pause`, give `message` to
 * the model instead. Read the permit, don't copy it: most of its fields are computed when you read them, so a spread,
 * `Object.assign` or a clone lacks them. Use `toJSON()` for a copy.
 */
export interface Permit {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  /** True if one more failure may pause the session: by the number of failures (B2), or probably by their tokens (B4). */
  readonly caution: boolean;
  /** The tool's group, without `group:`; undefined for a tool without one (C13). */
  readonly group: string | undefined;
  /** The tool's circuit after the decision, or its mode if that isn't `automatic`; undefined if the tool has no circuit. */
  readonly state: ReportedState | undefined;
  /** The decision that would have been made, if the tool is only observed (C1); otherwise undefined. */
  readonly observed: Decision | undefined;
  /** Failures left in the session's budget. */
  readonly budgetRemaining: number;
  /** The text for the model in place of a result; empty on `call` and `probe`. */
  readonly message: string;
  /** The fallback, on `skip` and `pause` (R2); otherwise undefined. */
  readonly route: Route | undefined;
  /**
   * Why the result may not be current, once a call of a tool with `labelFreshness` has settled as a success (F1); undefined if it
   * is fresh.
   */
  readonly freshness: FreshnessLabel | undefined;
  /**
   * The OpenTelemetry context to run the tool in, so that its spans are children of the decision's span. Without a tracer there is
   * no span, and this is the context that is active when you read it. Read it once, before you lose the caller's context.
   */
  readonly context: Context;
  /**
   * Reports how the call went. Only the first report counts; on `skip` and `pause` there is nothing to settle (E3). Never throws: a
   * settlement that is unclear counts as ignored, and OpenTelemetry's `diag` gets a warning.
   */
  settle(settlement: Settlement): void;
  /** The permit as plain data, for logs and storage. */
  toJSON(): PermitRecord;
}

/** A permit as plain data. */
export type PermitRecord = Omit<Permit, 'context' | 'settle' | 'toJSON'>;

/** What was decided. */
export interface Decided {
  readonly decision: Decision;
  readonly reason: Reason;
  readonly lease: Lease | undefined;
  readonly passes: readonly Pass[];
  readonly route: Route | undefined;
  readonly held: Held | undefined;
}

/** The call that was decided. */
export interface PermitCall {
  readonly ledger: Ledger;
  readonly at: Moment;
  readonly serial: number;
  readonly input: CallInput | undefined;
}

/** What the session hands to a permit and gets back from it. */
export interface PermitOwner {
  /** Called for each settle of a permit that is still open; closes the permit. */
  settled(permit: SessionPermit, settlement: Settlement): void;
  /** Called when a probe's lease has ended, by the first session that notices it among those that share the circuit (C9, C12). */
  lapsed(permit: SessionPermit, atMs: number): void;
  /** Called after that by the other session: listeners may now be told. */
  flush(): void;
  /** The text for a call that is skipped or paused. */
  textFor(permit: SessionPermit): string;
}

interface Contexts {
  /** The context that was active when the span began. */
  readonly parent: Context;
  /** The context that holds the span, once it was read. */
  within: Context | undefined;
}

/**
 * A permit as the session keeps it. It is a class because one is created for every tool call, and closures would cost more. It
 * keeps the state at the time of the decision, which never changes, and computes most fields from it when they are read.
 */
export class SessionPermit implements Permit, Ticket {
  // `declare`: a field that is first set to undefined, and then to its value, costs twice.
  declare readonly owner: PermitOwner;
  declare readonly seat: SessionTool;
  /** An own property, so that a copy has it. Code that looks for `skip` in a copy without it would call an unavailable tool. */
  declare readonly decision: Decision;
  declare readonly reason: Reason;
  declare readonly mode: CircuitMode;
  /** The circuit after the decision; undefined if there is no circuit. */
  declare readonly circuit: Circuit | undefined;
  /** The lease of a probe of the tool's own circuit. */
  declare readonly lease: Lease | undefined;
  /** The other circuits that the call passed (C15). */
  declare readonly passes: readonly Pass[];
  /** What else rejected the call; undefined if the call is made. */
  declare readonly held: Held | undefined;
  /** The number of this call in its session. Nested calls have higher numbers than the call around them. */
  declare readonly serial: number;
  declare readonly route: Route | undefined;
  declare readonly ledger: Ledger;
  /**
   * When the permit was given, or `UNTIMED`. In the circuit's own steps (C12). For a call that a closed circuit let through, in the
   * session's steps, because no code reads those.
   */
  declare readonly at: Moment;
  /** The call's arguments, if they were given (O5). Never enumerated, because they may be secret. */
  readonly #input: CallInput | undefined;
  declare freshness: FreshnessLabel | undefined;
  declare span: Span | undefined;
  #context: Contexts | undefined;
  #open: boolean;

  constructor(owner: PermitOwner, seat: SessionTool, mode: CircuitMode, decided: Decided, call: PermitCall) {
    this.owner = owner;
    this.seat = seat;
    this.decision = decided.decision;
    this.reason = decided.reason;
    this.mode = mode;
    this.circuit = seat.tracked?.circuit;
    this.lease = decided.lease;
    this.passes = decided.passes;
    this.route = decided.route;
    this.held = decided.held;
    this.ledger = call.ledger;
    this.at = call.at;
    this.serial = call.serial;
    this.#input = call.input;
    this.freshness = undefined;
    this.span = undefined;
    this.#open = decided.route === undefined;
  }

  get input(): CallInput | undefined {
    return this.#input;
  }

  get tool(): string {
    return this.seat.tool;
  }

  get caution(): boolean {
    return isCautious(this.ledger.budget);
  }

  get group(): string | undefined {
    return groupNameOf(this.seat.spec?.group?.name);
  }

  get state(): ReportedState | undefined {
    return this.circuit && reportedState(this.mode, this.circuit);
  }

  get observed(): Decision | undefined {
    return this.mode === 'observe_only' ? wouldDecide(this.reason) : undefined;
  }

  get budgetRemaining(): number {
    return remaining(this.ledger.budget);
  }

  get message(): string {
    return this.route === undefined ? '' : this.owner.textFor(this);
  }

  get context(): Context {
    const { span } = this;
    const found = this.#context;
    if (span === undefined || found === undefined) return activeContext();
    found.within ??= safely('the context', () => trace.setSpan(found.parent, span)) ?? found.parent;
    return found.within;
  }

  /** The span of the decision has begun in that context. */
  traced(span: Span, parent: Context): void {
    this.span = span;
    this.#context = { parent, within: undefined };
  }

  /** Whether the tool is run. A call that is not run has a route. */
  get executes(): boolean {
    return this.route === undefined;
  }

  /** Whether the circuit let the call through and gets its result. */
  get answers(): boolean {
    return this.circuit !== undefined && isAnswered(this.reason);
  }

  /** Whether the call took a slot of any circuit. */
  get isProbe(): boolean {
    return this.decision === 'probe';
  }

  /** C9: when its slots count as failed, in monotonic ms. All of them share one lease (C15). */
  get leaseUntilMs(): number {
    const lease = this.lease ?? this.passes.find((one) => one.lease !== undefined)?.lease;
    return lease?.untilMs ?? Number.POSITIVE_INFINITY;
  }

  /** The generation of the circuit that let the call through. */
  get generation(): number {
    return this.circuit?.generation ?? -1;
  }

  /** Takes the right to settle, once. */
  close(): boolean {
    const open = this.#open;
    this.#open = false;
    return open;
  }

  settle(settlement: Settlement): void {
    if (this.#open) this.owner.settled(this, settlement);
  }

  toJSON(): PermitRecord {
    const { tool, decision, reason, caution, group, state, observed, budgetRemaining, message, route, freshness } =
      this;
    return { tool, decision, reason, caution, group, state, observed, budgetRemaining, message, route, freshness };
  }

  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON();
  }
}

const activeContext = (): Context => {
  try {
    return context.active();
  } catch (error) {
    reportThrown('the context manager', error);
    return ROOT_CONTEXT;
  }
};
