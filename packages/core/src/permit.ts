import { type Context, context, ROOT_CONTEXT, type Span } from '@opentelemetry/api';
import type { Route } from './capability/route.ts';
import type { Ticket } from './circuit/circuit.ts';
import { type CircuitMode, type ReportedState, reportedState } from './circuit/mode.ts';
import type { FreshnessLabel } from './freshness.ts';
import { type Decision, isExecuted, REASONS, type Reason, wouldDecide } from './reasons.ts';
import type { Settlement } from './settlement.ts';
import { safely } from './telemetry/safely.ts';
import { contextOf } from './telemetry/spans.ts';
import type { ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked.ts';

/**
 * The answer to `session.acquire(tool)`. On `call` and `probe` run the tool and settle; on `skip` and `pause` give
 * `message` to the model instead.
 */
export interface Permit {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  /** True when one more failure pauses the session: by their number (B2), or as it looks by their tokens (B4). */
  readonly caution: boolean;
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
  /** OpenTelemetry's context to run the tool in, so that its spans are children of the decision's. */
  readonly context: Context;
  /** Says how the call went. The first time counts; on `skip` and `pause` there is nothing to settle (E3). Never throws. */
  settle(settlement: Settlement): void;
}

/** What the session hands to a permit and gets back from it. */
export interface PermitOwner {
  /** Told of each settle of a permit that is still open; closes it. */
  settled(permit: SessionPermit, settlement: Settlement): void;
  /** Told when a probe's lease has run out, by whichever session that shares the circuit notices first (C9, C12). */
  lapsed(permit: SessionPermit, atMs: number): void;
  /** Told after that by the other session: now listeners may hear of it. */
  tell(): void;
}

/** A permit as the session keeps it. A class, because one is made for every tool call: closures would cost more. */
export class SessionPermit implements Permit {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  readonly state: ReportedState | undefined;
  readonly observed: Decision | undefined;
  readonly budgetRemaining: number;
  readonly caution: boolean;
  readonly route: Route | undefined;
  freshness: FreshnessLabel | undefined;
  /** The declared tool; undefined for others. */
  readonly spec: ToolSpec | undefined;
  /** Of the call's arguments, where they were given (O5). */
  readonly digest: string | undefined;
  readonly owner: PermitOwner;
  /** The circuit that let the call through, and how; undefined where there is none to answer to. */
  readonly tracked: TrackedCircuit | undefined;
  readonly ticket: Ticket | undefined;
  readonly span: Span | undefined;
  /** Monotonic ms. */
  readonly startMs: number;
  readonly #context: Context | undefined;
  readonly #explain: (() => string) | undefined;
  /** Whether the tool is to be run. */
  readonly executes: boolean;
  #open: boolean;

  constructor(owner: PermitOwner, facts: PermitFacts) {
    this.owner = owner;
    this.tool = facts.tool;
    this.reason = facts.reason;
    this.decision = REASONS[facts.reason];
    this.state = facts.tracked && reportedState(facts.mode, facts.tracked.circuit);
    this.observed = facts.mode === 'observe_only' ? wouldDecide(facts.reason) : undefined;
    this.budgetRemaining = facts.budgetRemaining;
    this.caution = facts.caution;
    this.route = facts.route;
    this.freshness = undefined;
    this.spec = facts.spec;
    this.digest = facts.digest;
    this.tracked = facts.tracked;
    this.ticket = facts.ticket;
    this.span = facts.span;
    this.startMs = facts.startMs;
    this.#context = facts.span && contextOf(facts.span);
    this.#explain = facts.explain;
    this.executes = isExecuted(facts.reason);
    this.#open = this.executes;
  }

  get message(): string {
    return this.#explain?.() ?? '';
  }

  get context(): Context {
    return this.#context ?? safely('the context manager', () => context.active()) ?? ROOT_CONTEXT;
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
}

interface PermitFacts {
  readonly tool: string;
  readonly spec: ToolSpec | undefined;
  readonly digest: string | undefined;
  readonly reason: Reason;
  readonly route: Route | undefined;
  readonly mode: CircuitMode;
  readonly tracked: TrackedCircuit | undefined;
  readonly ticket: Ticket | undefined;
  readonly budgetRemaining: number;
  readonly caution: boolean;
  readonly span: Span | undefined;
  readonly startMs: number;
  readonly explain: (() => string) | undefined;
}
