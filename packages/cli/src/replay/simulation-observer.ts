import type {
  BreakerboxConfig,
  Decision,
  ErrorCategory,
  LimitKind,
  LimitMode,
  Reason,
  ReportedState,
} from '@breakerbox/core';
import type { JudgedEnding } from './judged-ending.ts';
import type { StartEvent } from './recording.ts';

/** Everything but the agent's name and the clock, which come from the recording. */
export type ReplayConfig = Omit<BreakerboxConfig, 'agent' | 'clock'>;

/** A call as the engine decided it. */
export interface SimulatedCall {
  readonly session: string;
  /** Its place in the session, from 1 on. */
  readonly number: number;
  readonly tool: string;
  readonly group: string | undefined;
  /** Its key, such as the host of its URL (C14). It is never printed. */
  readonly key: string | undefined;
  readonly atMs: number;
  readonly decision: Decision;
  readonly reason: Reason;
  /** Whether the tool was run. A rejected call of the recording has its recorded outcome all the same. */
  readonly executes: boolean;
  /** No earlier decision of the session differs from the recording: here the recording says what would have happened. */
  readonly isMeasured: boolean;
  readonly live: StartEvent['decided'];
  /** A person resumed the live run at a time that the recording does not say. Probes after that may be due at another time. */
  readonly isAfterOperator: boolean;
}

/** Gets what happens in a simulation. */
export interface SimulationObserver {
  decided(call: SimulatedCall): void;
  /** The recorded end of a call. Undefined: the recording has none. */
  ended(call: SimulatedCall, judged: JudgedEnding | undefined): void;
  moved(
    session: string,
    tool: string,
    from: ReportedState,
    to: ReportedState,
    atMs: number,
    category: ErrorCategory | undefined,
  ): void;
  paused(session: string, atMs: number, by: 'budget' | 'systemic'): void;
  /** A limit is used up, after this call of the session. */
  reached(session: string, atMs: number, limit: LimitKind, mode: LimitMode, afterCall: number): void;
}
