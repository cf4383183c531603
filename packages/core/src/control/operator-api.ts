import type { OperatorAction, OperatorResult } from '../events.ts';
import type { ExtendedLimit } from '../limits/limit-view.ts';
import type { LimitKind } from '../limits/limits.ts';
import type { ForcedMode } from './forced-modes.ts';
import type { OperatedSession } from './roster.ts';

/** Of an action: whether it is counted. */
export interface Counted {
  /** False: the caller counts it, with `count`. Default true. */
  readonly isCounted?: boolean | undefined;
}

/** What an operator forces on a tool. */
export interface ForceOptions extends Counted {
  readonly mode: ForcedMode;
  /** Who forces it. Each owner has at most one mode for each tool and session. */
  readonly owner: string;
  /** Why, for other operators. Required. */
  readonly reason: string;
  /** Milliseconds until the mode ends by itself. Default one hour, at most 7 days. */
  readonly expiresInMs?: number | undefined;
  /** Only the session with this id. Default: all sessions of the box, later ones too. */
  readonly session?: string | undefined;
  /** False: the tool may be declared later. Default true: a name that is not declared is an error. */
  readonly isDeclared?: boolean | undefined;
  /**
   * True: it was forced in another process, and is carried out in this one too. A tool has at most 100 such modes, so that there is
   * always room for one that is forced here. Default false.
   */
  readonly isRemote?: boolean | undefined;
}

/** Which mode an operator takes back. */
export interface ReleaseOptions extends Counted {
  readonly owner: string;
  /** The session that `force` named. Default: the mode of the whole box. */
  readonly session?: string | undefined;
  /** False: the tool need not be declared. Default true: a name that is not declared is an error. */
  readonly isDeclared?: boolean | undefined;
}

/** A mode that is forced now. */
export interface ForcedModeView {
  readonly tool: string;
  readonly mode: ForcedMode;
  readonly owner: string;
  readonly reason: string;
  /** Undefined: all sessions of the box. */
  readonly session: string | undefined;
  /** Unix milliseconds. */
  readonly sinceUnixMs: number;
  /** Unix milliseconds. */
  readonly untilUnixMs: number;
}

/** An action that was asked for, and what became of it. */
export interface CountedAction {
  readonly action: OperatorAction;
  readonly result: OperatorResult;
  /** The tool or group that it was about. */
  readonly tool?: string | undefined;
  /** The session that it was about. */
  readonly session?: string | undefined;
}

/** The result of an action on a session. */
export interface ActionResult {
  /** `stale`: the session is no longer as expected, and nothing was done. `unknown_session`: no live session has this id. */
  readonly result: 'done' | 'stale' | 'unknown_session';
  /** The session after the action; undefined if there is no such session. */
  readonly session: OperatedSession | undefined;
}

/** The result of `extend`. */
export interface ExtendResult extends Omit<ActionResult, 'result'> {
  /**
   * `unknown_limit`: neither the session nor one above it has this limit. `ambiguous`: several sub-agents have this id, and the limit pauses several
   * of them or none; nothing was done.
   */
  readonly result: ActionResult['result'] | 'unknown_limit' | 'ambiguous';
  /** Each limit that was extended: that of the session, then those above it (D1). Empty if nothing was done. */
  readonly extended: readonly ExtendedLimit[];
  /** The exact name of the session or sub-agent that was meant, such as `run-7/planner/researcher`. If it is ambiguous, that of each. */
  readonly names: readonly string[];
}

/** Of `extend`: the limit that the operator has seen. */
export interface ExpectedLimit extends Counted {
  /** The `size` in the view of the limit. Without it, the limit is extended in any case. */
  readonly size?: number | undefined;
}

/** What an operator can see and do. Each action is counted and is an `operator.action` event (A6). */
export interface Operator {
  /**
   * Forces a mode on a tool, or on a group (`group:NAME`), from the next use of each session. Of several owners' modes `forced_open`
   * beats `disabled`, which beats `observe_only`. Modes set in code stay beneath (A4).
   *
   * @throws BreakerboxUsageError if an option is missing or wrong, or if the tool was never declared.
   */
  force(tool: string, options: ForceOptions): ForcedModeView;
  /**
   * Takes an owner's mode back. Without another owner's mode, circuits return to what they were before: an open one is still open,
   * with its wait (A4). Returns whether there was such a mode.
   */
  release(tool: string, options: ReleaseOptions): boolean;
  /** Increases with each change of a mode, so that an operator can say which one they have seen. */
  readonly version: number;
  /** Where the circuits of tools are. Without any (`none`), only models have modes to force; shared ones (`process`) have no mode of one session. */
  readonly scope: 'session' | 'process' | 'none';
  /** Whether the box has the circuit of a tool, a model or a group (`group:NAME`) of that name. */
  knows(tool: string): boolean;
  /**
   * Counts an action, such as one that could not be recorded, or one on several boxes. Without `isCounted: false`, actions that this
   * object carries out are counted by themselves, stale ones too.
   */
  count(action: CountedAction): void;
  /** The modes that are forced now, the oldest first. */
  modes(): readonly ForcedModeView[];
  /** Milliseconds until a mode ends; 0 if it is not forced any more. The clock of the box may differ from that of the caller. */
  leftMs(mode: Pick<ForcedModeView, 'tool' | 'owner' | 'session'>): number;
  /** The live sessions. A session that began before the first `operate(box)` is listed from its next use. */
  sessions(): readonly OperatedSession[];
  /**
   * The latest live session with this id, or the one that has a sub-agent with it (D1); undefined if it has ended. If several have it, a paused
   * one comes first, and of several sub-agents one that a limit pauses. The ids of all sessions above a sub-agent name it exactly:
   * `run-7/planner/researcher`. That of its root or of the session above it may be enough: `run-7/researcher`.
   */
  session(id: string): OperatedSession | undefined;
  /** `session.resume()`, if the budget is still in the expected cycle. Without `cycle`, in any case. */
  resume(session: string, expected?: Counted & { readonly cycle?: number | undefined }): ActionResult;
  /**
   * `session.extend()`, if the limit is still of the expected size. The id may be that of a sub-agent: then each limit above it grows too
   * (D1). If several sub-agents have it, the one that this limit pauses is meant. Only this brings back a session that a limit pauses: `resume` does not.
   *
   * @throws BreakerboxUsageError if `by` is not a number above 0, not a whole number where the limit is one, or too large.
   */
  extend(session: string, limit: LimitKind, by: number, expected?: ExpectedLimit): ExtendResult;
  /** `session.confirmRecovered()`, if the expected event still lasts. Without `event`, in any case. */
  confirmRecovered(session: string, expected?: Counted & { readonly event?: string | undefined }): ActionResult;
}
