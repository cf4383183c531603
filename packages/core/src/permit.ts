import { type Context, context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { isCautious, remaining } from './budget/budget.ts';
import type { Ledger } from './budget/ledger.ts';
import {
  type Circuit,
  type CircuitMode,
  type Lease,
  type ReportedState,
  reportedState,
  type Ticket,
} from './circuit/circuit.ts';
import { groupNameOf } from './circuit/policy.ts';
import type { FreshnessLabel } from './freshness/freshness.ts';
import type { Deadline, RunPermit } from './limits/run.ts';
import type { Circle } from './loop-guard/circles.ts';
import type { CallInput } from './loop-guard/digest.ts';
import type { Settlement } from './outcome.ts';
import { NO_PASSES, type Pass } from './passes.ts';
import { type Decision, isAnswered, type Reason, wouldDecide } from './reasons.ts';
import { circleText } from './routing/circle-text.ts';
import { adviceOf } from './routing/limit-text.ts';
import { adviceText, type RejectionFacts, type Relayed, rejectionText, type TriedEnd } from './routing/message.ts';
import type { Route } from './routing/route.ts';
import { reportThrown, safely } from './safely.ts';
import type { SessionTool } from './session-tools.ts';
import type { InFlight } from './tracked-circuit.ts';
import { written } from './written-rejections.ts';

/**
 * The answer to `session.acquire(tool)`. On `call` and `probe`, run the tool and settle. On `skip` and `pause`, give `message` to
 * the model instead. Read the permit, don't copy it: most of its fields are computed when you read them, so a spread,
 * `Object.assign` or a clone lacks them. Use `toJSON()` for a copy.
 */
export interface Permit {
  readonly tool: string;
  readonly decision: Decision;
  readonly reason: Reason;
  /**
   * True if one more failure may pause the session: by the number of failures (B2), or probably by their tokens. Also true once 80 % of
   * a limit are used.
   */
  readonly caution: boolean;
  /** The tool's group, without `group:`; undefined for a tool without one (C13). */
  readonly group: string | undefined;
  /** The tool's circuit after the decision, or its mode if that isn't `automatic`; undefined if the tool has no circuit. */
  readonly state: ReportedState | undefined;
  /** The decision that would have been made, if the tool is only observed (C1); otherwise undefined. */
  readonly wouldDecide: Decision | undefined;
  /** Failures left in the session's budget. */
  readonly budgetRemaining: number;
  /**
   * The text for the model in place of a result. Empty on `call` and `probe`, until the call has settled: if it failed and left its tool
   * unavailable, this is the advice that the model reads after the error (R5).
   */
  readonly message: string;
  /**
   * What the model should read beside the result: that a limit of the run is near, what is left, and to finish; or, once the call has
   * settled, that it goes in circles (D5). Each limit and each circle gives one such note. Empty nearly always.
   */
  readonly note: string;
  /** The fallback, on `skip` and `pause` (R2), and with the advice after a failed call; otherwise undefined. */
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

export interface Decided {
  readonly decision: Decision;
  readonly reason: Reason;
  /** Whether the call passes more than the closed circuit of its tool. */
  readonly enters: boolean;
  /** What rejected the call; undefined if the call is made. */
  readonly rejection: RejectionFacts | undefined;
}

export interface Slots {
  /** The lease of a probe of the tool's own circuit. */
  readonly lease: Lease | undefined;
  /** The other circuits that the call passed (C15). */
  readonly passes: readonly Pass[];
  /** Where it counts while it is under way, if the number of such calls is limited (C17). */
  readonly inFlight: readonly InFlight[] | undefined;
}

/** Shared by nearly all calls. */
export const NO_SLOTS: Slots = { lease: undefined, passes: NO_PASSES, inFlight: undefined };

export interface PermitCall {
  readonly mode: CircuitMode;
  readonly ledger: Ledger;
  /** When the permit was given, in monotonic ms. */
  readonly atMs: number;
  /** The number of this call in its session. Nested calls have higher numbers than the call around them. */
  readonly serial: number;
  readonly input: CallInput | undefined;
}

export type SettleHandler = (permit: SessionPermit, settlement: Settlement) => void;

interface Contexts {
  /** The context that was active when the span began. */
  readonly parent: Context;
  /** The context that holds the span, once it was read. */
  within: Context | undefined;
}

/**
 * A permit as the session keeps it. It keeps the state at the time of the decision, which never changes, and computes most fields
 * from it when they are read. A class, because closures would cost more for each call.
 */
export class SessionPermit implements Permit, Ticket {
  readonly entry: SessionTool;
  /** An own property, so that a copy has it. Code that looks for `skip` in a copy without it would call an unavailable tool. */
  readonly decision: Decision;
  readonly reason: Reason;
  readonly mode: CircuitMode;
  /** The circuit after the decision; undefined if there is no circuit. */
  readonly circuit: Circuit | undefined;
  readonly lease: Lease | undefined;
  readonly passes: readonly Pass[];
  readonly rejection: RejectionFacts | undefined;
  readonly serial: number;
  /**
   * R5: what the next call would be rejected with, once this one has failed; undefined if it would be made. Of a call that was rejected: why
   * it was, once its alternative has not answered in place.
   */
  advice: RejectionFacts | undefined;
  readonly ledger: Ledger;
  readonly atMs: number;
  /** What the call uses of the limits of its run; undefined without limits (D2). */
  limits: RunPermit | undefined;
  freshness: FreshnessLabel | undefined;
  /** The circle that the call has completed (D5). */
  circle: Circle | undefined;
  span: Span | undefined;
  /** The call's arguments, if they were given (O5). Their content is private. */
  readonly input: CallInput | undefined;
  readonly executes: boolean;
  /** Whether the circuit let the call through and gets its result. */
  readonly answers: boolean;
  /** The generation of the circuit that let the call through. */
  readonly generation: number;
  readonly #settle: SettleHandler;
  readonly #inFlight: readonly InFlight[] | undefined;
  #contexts: Contexts | undefined;
  #isOpen: boolean;

  constructor(entry: SessionTool, decided: Decided, slots: Slots, call: PermitCall, settle: SettleHandler) {
    this.entry = entry;
    this.decision = decided.decision;
    this.reason = decided.reason;
    this.mode = call.mode;
    this.circuit = entry.tracked?.circuit;
    this.lease = slots.lease;
    this.passes = slots.passes;
    this.rejection = decided.rejection;
    this.advice = undefined;
    this.ledger = call.ledger;
    this.atMs = call.atMs;
    this.serial = call.serial;
    this.input = call.input;
    this.executes = decided.rejection === undefined;
    this.answers = this.circuit !== undefined && (decided.reason === 'closed' || isAnswered(decided.reason));
    this.generation = this.circuit?.generation ?? -1;
    this.#settle = settle;
    this.#inFlight = slots.inFlight;
    this.limits = undefined;
    this.freshness = undefined;
    this.circle = undefined;
    this.span = undefined;
    this.#isOpen = this.executes;
    if (slots.inFlight !== undefined) this.#begin(slots.inFlight);
  }

  get tool(): string {
    return this.entry.tool;
  }

  get caution(): boolean {
    return isCautious(this.ledger.budget) || (this.limits !== undefined && this.limits.near.length > 0);
  }

  get group(): string | undefined {
    return groupNameOf(this.entry.spec?.group?.name);
  }

  get state(): ReportedState | undefined {
    return this.circuit && reportedState(this.mode, this.circuit);
  }

  get wouldDecide(): Decision | undefined {
    return this.mode === 'observe_only' ? wouldDecide(this.reason) : undefined;
  }

  get budgetRemaining(): number {
    return remaining(this.ledger.budget);
  }

  get message(): string {
    return messageOf(this);
  }

  get note(): string {
    const advice = this.limits === undefined ? '' : adviceOf(this.limits.advised);
    if (this.circle === undefined || this.mode === 'observe_only') return advice; // C1
    return [advice, circleText(this.circle)].filter(Boolean).join('\n\n');
  }

  get route(): Route | undefined {
    return (this.advice ?? this.rejection)?.route;
  }

  get context(): Context {
    const { span } = this;
    const found = this.#contexts;
    if (span === undefined || found === undefined) return activeContext();
    found.within ??= safely('the context', () => trace.setSpan(found.parent, span)) ?? found.parent;
    return found.within;
  }

  /** The span of the decision has begun in that context. */
  traced(span: Span, parent: Context): void {
    this.span = span;
    this.#contexts = { parent, within: undefined };
  }

  /** C9: when its slots count as failed, in monotonic ms. The leases of all of them end at the same time. */
  get leaseUntilMs(): number {
    const lease = this.lease ?? this.passes.find((one) => one.lease !== undefined)?.lease;
    return lease?.untilMs ?? Number.POSITIVE_INFINITY;
  }

  #begin(inFlight: readonly InFlight[]): void {
    const untilMs = this.atMs + (this.entry.tracked?.tool.policy.probeLeaseMs ?? 0);
    for (const calls of inFlight) calls.set(this, untilMs);
  }

  /** Takes the right to settle, once. */
  close(): boolean {
    const isOpen = this.#isOpen;
    this.#isOpen = false;
    if (isOpen && this.#inFlight !== undefined) for (const calls of this.#inFlight) calls.delete(this);
    return isOpen;
  }

  settle(settlement: Settlement): void {
    if (this.#isOpen) this.#settle(this, settlement);
  }

  toJSON(): PermitRecord {
    const { tool, decision, reason, caution, group, state, budgetRemaining, message, note } = this;
    const { route, freshness } = this;
    return {
      tool,
      decision,
      reason,
      caution,
      group,
      state,
      wouldDecide: this.wouldDecide,
      budgetRemaining,
      message,
      note,
      route,
      freshness,
    };
  }

  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON();
  }
}

/** What the end of a call reads of its permit, and sets. That of a look ahead has copies of what it changes (C11). */
export type EndingCall = Pick<
  SessionPermit,
  | 'entry'
  | 'tool'
  | 'decision'
  | 'reason'
  | 'generation'
  | 'lease'
  | 'passes'
  | 'answers'
  | 'atMs'
  | 'leaseUntilMs'
  | 'span'
  | 'input'
  | 'limits'
  | 'freshness'
  | 'circle'
>;

const messageOf = ({ rejection, advice }: SessionPermit, relayed?: Relayed): string => {
  if (advice !== undefined) return adviceText(relayed === undefined ? advice : { ...advice, relayed });
  if (rejection === undefined) return '';
  return written(rejectionText(relayed === undefined ? rejection : { ...rejection, relayed }));
};

/** M7: the message of a permit, as the relay of an MCP server tells it. */
export const relayedMessage = (permit: Permit, relayed: Relayed): string =>
  permit instanceof SessionPermit ? messageOf(permit, relayed) : permit.message;

const activeContext = (): Context => {
  try {
    return context.active();
  } catch (error) {
    reportThrown('the context manager', error);
    return ROOT_CONTEXT;
  }
};

/**
 * Lets a probe take longer (C9), such as a call that goes on as a task. A lease never becomes shorter. A permit without a lease stays as it is.
 *
 * @param untilMs When the probe counts as failed, on the box's clock.
 */
export const extendLease = (permit: Permit, untilMs: number): void => {
  if (!(permit instanceof SessionPermit)) return;
  for (const { lease } of [permit, ...permit.passes]) {
    if (lease !== undefined && untilMs > lease.untilMs) lease.untilMs = untilMs;
  }
};

/**
 * D4: the time that a call may take at most, from its decision on. Undefined without a limit of time, and for a call that is only observed.
 */
export const callDeadline = (permit: Permit): Deadline | undefined =>
  permit instanceof SessionPermit && permit.limits !== undefined && permit.mode !== 'observe_only'
    ? permit.limits.run.deadline(permit.atMs)
    : undefined;

/** R5: the alternative of a failed or skipped call did not answer in place. From then on the advice says that instead of its route. */
export const dropAlternative = (permit: Permit, end: TriedEnd): void => {
  const facts = permit instanceof SessionPermit ? (permit.advice ?? permit.rejection) : undefined;
  if (facts?.route?.kind !== 'alternative') return;
  (permit as SessionPermit).advice = { ...facts, route: { kind: 'defer' }, tried: { tool: facts.route.tool, end } };
};
