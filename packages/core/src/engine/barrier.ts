import type { BoxContext } from '../box-context.ts';
import type { CallHistory } from '../call-history.ts';
import type { CircuitMode, Ticket } from '../circuit/circuit.ts';
import type { CircuitRegistry } from '../circuit-registry.ts';
import type { Moment } from '../clock.ts';
import type { Run } from '../limits/run.ts';
import type { CallInput } from '../loop-guard/digest.ts';
import type { Judged } from '../outcome.ts';
import type { Pass } from '../passes.ts';
import type { EndingCall } from '../permit.ts';
import type { Reason } from '../reasons.ts';
import type { SessionTool } from '../session-tools.ts';

/** What a session decides with. A look ahead has one with copies. */
export interface Engine {
  readonly box: BoxContext;
  readonly circuits: CircuitRegistry;
  readonly history: CallHistory;
  /** K2: undefined if all tools may be called. */
  readonly allowed: ReadonlySet<string> | undefined;
  /** What the run uses, if it has limits or children (D2). */
  run: Run | undefined;
}

/** The tool that a decision is asked for. */
export type Asked = Omit<SessionTool, 'tally'>;

/** The call that a decision is asked for, as far as it is known. */
export interface AskedCall {
  readonly input: CallInput | undefined;
  /** The hash of its key (C14). */
  readonly key: string | undefined;
  /** The run of the child that makes the call (D1); undefined for a call of the session itself. */
  readonly run?: Run | undefined;
}

/** Shared by all calls of which nothing is known. */
export const NO_CALL: AskedCall = { input: undefined, key: undefined };

/**
 * What a decision knows of a call before it asks, as bits. Nearly every call has the first alone, and then there is nothing to ask. Single
 * constants, because a bundler puts their numbers in place.
 */
export const IS_CALL = 1;
/** Its tool has a mode of its own. */
export const HAS_MODE = 2;
/** The session has failures, or only observes the tool. */
export const HAS_FAILURES = 4;
/** It has failures, and an event would pause it. */
export const EVENT_PAUSES = 8;
/** It has failures, and an event would skip its tools, and pause nothing. */
export const EVENT_SKIPS = 16;
/** It counts for a run with limits. */
export const HAS_RUN = 32;
/** Only some tools are allowed. */
export const IS_RESTRICTED = 64;
export const HAS_PRECHECK = 128;
export const HAS_GROUP = 256;
/** The circuit of its group is not closed. */
export const GROUP_MOVED = 512;
/** The circuit of its tool is not closed. */
export const TOOL_MOVED = 1024;
export const HAS_KEY = 2048;
/** A key of its tool has failed. */
export const KEYS_MOVED = 4096;
/** The number of such calls under way is limited. */
export const IS_BOUNDED = 8192;

/** A question about a call before it is made. It changes nothing, but may start a pre-call check (K3). */
export interface Question {
  /** The facts without which it has no objection. With `IS_CALL`, it is asked of every call. */
  readonly when: number;
  /** It never objects to a call that goes as a probe (C17). */
  readonly sparesProbes?: boolean;
  /** Why the call is rejected, or the reason to probe if it may go as a probe. Undefined: there is no objection. */
  ask(engine: Engine, asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): Reason | undefined;
}

/**
 * A circuit that a call passes: of its tool, its group, its key, or around an event. It has no state of its own, which is in the
 * registry. Changes are made at once, because the next barrier of the same call reads them.
 */
export interface Barrier extends Question {
  readonly of: Pass['of'];
  /** The facts with which a call passes the circuit while it is closed; undefined if only a probe does, or the permit itself is the pass. */
  readonly passed?: number;
  /** What the call takes with it: a lease if the circuit is not closed (C6). Undefined if the circuit does not get its result. */
  enter(
    circuits: CircuitRegistry,
    asked: Asked,
    mode: CircuitMode,
    key: string | undefined,
    at: Moment,
  ): Pass | undefined;
  /** Whether a success of a call that passed the circuit while it was closed leaves it as it is. Left out: each success changes it. */
  isUntouched?(permit: EndingCall): boolean;
  /** The call has ended: its result is given to the circuit. */
  answer(circuits: CircuitRegistry, permit: EndingCall, ticket: Ticket, judged: Judged, at: Moment): void;
  /** C7: the call came back too late for its tool, so that it only returns its lease. */
  giveBack(circuits: CircuitRegistry, permit: EndingCall, ticket: Ticket): void;
}
