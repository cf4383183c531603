import type { BoxContext } from '../box-context.ts';
import type { CallHistory } from '../call-history.ts';
import type { CircuitMode, Ticket } from '../circuit/circuit.ts';
import type { CircuitRegistry } from '../circuit-registry.ts';
import type { Moment } from '../clock.ts';
import type { Run } from '../limits/run.ts';
import type { CallInput } from '../loop-guard/digest.ts';
import type { Judged } from '../outcome.ts';
import type { Pass } from '../passes.ts';
import type { SessionPermit } from '../permit.ts';
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

type About = Pass['of'] | 'budget' | 'limits' | 'skipping_event' | 'allowed' | 'mode' | 'precheck' | 'in_flight';

/** A question about a call before it is made. It changes nothing, but may start a pre-call check (K3). */
export interface Question {
  /** What it is about: `worthAsking` tells whether that may object. A question without it is asked of every call. */
  readonly of?: About | undefined;
  /** Why the call is rejected, or the reason to probe if it may go as a probe. Undefined: there is no objection. */
  ask(engine: Engine, asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): Reason | undefined;
}

/**
 * A circuit that a call passes: of its tool, its group, its key, or around an event. It has no state of its own, which is in the
 * registry. Changes are made at once, because the next barrier of the same call reads them.
 */
export interface Barrier extends Question {
  readonly of: Pass['of'];
  /** What the call takes with it: a lease if the circuit is not closed (C6). Undefined if the circuit does not get its result. */
  enter(
    circuits: CircuitRegistry,
    asked: Asked,
    mode: CircuitMode,
    key: string | undefined,
    at: Moment,
  ): Pass | undefined;
  /** The call has ended: its result is given to the circuit. */
  answer(circuits: CircuitRegistry, permit: SessionPermit, ticket: Ticket, judged: Judged, at: Moment): void;
  /** C7: the call came back too late for its tool, so that it only returns its lease. */
  giveBack(circuits: CircuitRegistry, permit: SessionPermit, ticket: Ticket): void;
}
