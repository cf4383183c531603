import { type Context, context, type Span } from '@opentelemetry/api';
import type { Ticket } from './circuit/circuit.ts';
import { type CircuitMode, type ReportedState, reportedState } from './circuit/mode.ts';
import { type Decision, isExecuted, REASONS, type Reason, wouldDecide } from './reasons.ts';
import type { Settlement } from './settlement.ts';
import { contextOf } from './telemetry/spans.ts';
import type { TrackedCircuit } from './tracked.ts';

/**
 * The answer to `session.acquire(tool)`. On `call` and `probe` run the tool and settle; on `skip` and `pause` give
 * `message` to the model instead.
 */
export interface Permit {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  /** True when one more failure pauses the session (B2). */
  readonly caution: boolean;
  /** The tool's circuit after the decision, or its mode if that isn't `automatic`; undefined for a tool that has none. */
  readonly state: ReportedState | undefined;
  /** What would have been decided, where the tool is only observed (C1); undefined elsewhere. */
  readonly observed: Decision | undefined;
  /** Failures left in the session's budget. */
  readonly budgetRemaining: number;
  /** What to tell the model in place of a result; empty on `call` and `probe`. */
  readonly message: string;
  /** OpenTelemetry's context to run the tool in, so that its spans are children of the decision's. */
  readonly context: Context;
  /** Says how the call went. The first time counts; on `skip` and `pause` there is nothing to settle (E3). Never throws. */
  settle(settlement: Settlement): void;
}

/** What the session hands to a permit and gets back from it. */
export interface PermitOwner {
  /** Told of each settle of a permit that is still open; closes it. */
  settled(permit: SessionPermit, settlement: Settlement): void;
}

/** A permit as the session keeps it. A class, because one is made for every tool call: closures would cost more. */
export class SessionPermit implements Permit {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  readonly state: ReportedState | undefined;
  readonly observed: Decision | undefined;
  readonly budgetRemaining: number;
  /** The circuit that let the call through, and how; undefined where there is none to answer to. */
  readonly tracked: TrackedCircuit | undefined;
  readonly ticket: Ticket | undefined;
  readonly span: Span | undefined;
  /** Monotonic ms. */
  readonly startMs: number;
  readonly #owner: PermitOwner;
  readonly #context: Context | undefined;
  readonly #explain: (() => string) | undefined;
  /** Whether the tool is to be run. */
  readonly executes: boolean;
  #open: boolean;

  constructor(owner: PermitOwner, facts: PermitFacts) {
    this.#owner = owner;
    this.tool = facts.tool;
    this.reason = facts.reason;
    this.decision = REASONS[facts.reason];
    this.state = facts.tracked && reportedState(facts.mode, facts.tracked.circuit);
    this.observed = facts.mode === 'observe_only' ? wouldDecide(facts.reason) : undefined;
    this.budgetRemaining = facts.budgetRemaining;
    this.tracked = facts.tracked;
    this.ticket = facts.ticket;
    this.span = facts.span;
    this.startMs = facts.startMs;
    this.#context = facts.span && contextOf(facts.span);
    this.#explain = facts.explain;
    this.executes = isExecuted(facts.reason);
    this.#open = this.executes;
  }

  get caution(): boolean {
    return this.budgetRemaining === 1;
  }

  get message(): string {
    return this.#explain?.() ?? '';
  }

  get context(): Context {
    return this.#context ?? context.active();
  }

  /** Takes the right to settle, once. */
  close(): boolean {
    const open = this.#open;
    this.#open = false;
    return open;
  }

  settle(settlement: Settlement): void {
    if (this.#open) this.#owner.settled(this, settlement);
  }
}

interface PermitFacts {
  readonly tool: string;
  readonly reason: Reason;
  readonly mode: CircuitMode;
  readonly tracked: TrackedCircuit | undefined;
  readonly ticket: Ticket | undefined;
  readonly budgetRemaining: number;
  readonly span: Span | undefined;
  readonly startMs: number;
  readonly explain: (() => string) | undefined;
}
