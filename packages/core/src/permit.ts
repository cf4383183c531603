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
 * The answer to `session.acquire(tool)`. On `call` and `probe` run the tool and settle; on `skip` and `pause` give
 * `message` to the model instead. Read it, don't copy it: most of what it says is made when it is asked for, and isn't in what a
 * spread, `Object.assign` or a clone makes of it. `toJSON()` is the copy.
 */
export interface Permit {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  /** True when one more failure may pause the session: by their number (B2), or as it looks by their tokens (B4). */
  readonly caution: boolean;
  /** The tool's group, without `group:`; undefined for a tool without one (C13). */
  readonly group: string | undefined;
  /** The tool's circuit after the decision, or its mode if that isn't `automatic`; undefined for a tool that has none. */
  readonly state: ReportedState | undefined;
  /** What would have been decided, where the tool is only observed (C1); undefined elsewhere. */
  readonly observed: Decision | undefined;
  /** Failures left in the session's budget. */
  readonly budgetRemaining: number;
  /** What to tell the model in place of a result; empty on `call` and `probe`. */
  readonly message: string;
  /** Where to go instead, on `skip` and `pause` (R2); undefined elsewhere. */
  readonly route: Route | undefined;
  /** Why the result may not be current, after a call of a tool with `labelFreshness` was settled as a success (F1); undefined for a fresh one. */
  readonly freshness: FreshnessLabel | undefined;
  /**
   * OpenTelemetry's context to run the tool in, so that its spans are children of the decision's. Without a tracer there is no
   * span, and this is whichever context is active when it is read: read it once, before you lose the caller's.
   */
  readonly context: Context;
  /**
   * Says how the call went. The first time counts; on `skip` and `pause` there is nothing to settle (E3). Never throws: what doesn't
   * say how the call went counts as ignored, and OpenTelemetry's `diag` is told.
   */
  settle(settlement: Settlement): void;
  /** What it says, as plain data: for logs, and for whoever keeps it. */
  toJSON(): PermitRecord;
}

/** What a permit says, as plain data. */
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

/** The call that it was decided for. */
export interface PermitCall {
  readonly ledger: Ledger;
  readonly at: Moment;
  readonly serial: number;
  readonly input: CallInput | undefined;
}

/** What the session hands to a permit and gets back from it. */
export interface PermitOwner {
  /** Told of each settle of a permit that is still open; closes it. */
  settled(permit: SessionPermit, settlement: Settlement): void;
  /** Told when a probe's lease has run out, by whichever session that shares the circuit notices first (C9, C12). */
  lapsed(permit: SessionPermit, atMs: number): void;
  /** Told after that by the other session: now listeners may hear of it. */
  flush(): void;
  /** The text for a call that is skipped or paused. */
  textFor(permit: SessionPermit): string;
}

interface Contexts {
  /** The one that was active when the span began. */
  readonly parent: Context;
  /** The one that holds the span, once somebody has asked for it. */
  within: Context | undefined;
}

/**
 * A permit as the session keeps it. A class, because one is made for every tool call: closures would cost more. It holds on
 * to what stood when it was given, none of which ever changes, and most of what it says is read there when somebody asks.
 */
export class SessionPermit implements Permit, Ticket {
  // `declare`: a field that is set to undefined first, and to its value then, costs twice.
  declare readonly owner: PermitOwner;
  declare readonly seat: SessionTool;
  /** Its own, so that a copy has it: who looks for `skip` in one that lacks it calls a tool that is out. */
  declare readonly decision: Decision;
  declare readonly reason: Reason;
  declare readonly mode: CircuitMode;
  /** After the decision; undefined where there is none. */
  declare readonly circuit: Circuit | undefined;
  /** Of a probe of the tool's own circuit. */
  declare readonly lease: Lease | undefined;
  /** The other circuits that it passed (C15). */
  declare readonly passes: readonly Pass[];
  /** What else rejected the call; undefined where it is made. */
  declare readonly held: Held | undefined;
  /** Which call of its session this is: nested calls begin after the one around them. */
  declare readonly serial: number;
  declare readonly route: Route | undefined;
  declare readonly ledger: Ledger;
  /**
   * When it was given, or `UNTIMED`. By the circuit's own steps (C12), but for a call that a closed circuit let through: by the
   * session's, for nobody reads those.
   */
  declare readonly at: Moment;
  /** The call's arguments, where they were given (O5). Never enumerated: they may be secret. */
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

  /** The span of the decision has begun, in that context. */
  traced(span: Span, parent: Context): void {
    this.span = span;
    this.#context = { parent, within: undefined };
  }

  /** Whether the tool is to be run: whatever isn't, is sent elsewhere. */
  get executes(): boolean {
    return this.route === undefined;
  }

  /** Whether the circuit let the call through, and is told what it came to. */
  get answers(): boolean {
    return this.circuit !== undefined && isAnswered(this.reason);
  }

  /** Whether it took a slot of any circuit. */
  get isProbe(): boolean {
    return this.decision === 'probe';
  }

  /** C9: when its slots count as failed, in monotonic ms. One lease for all of them (C15). */
  get leaseUntilMs(): number {
    const lease = this.lease ?? this.passes.find((one) => one.lease !== undefined)?.lease;
    return lease?.untilMs ?? Number.POSITIVE_INFINITY;
  }

  /** Of the circuit that let the call through. */
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
