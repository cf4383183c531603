import type { OperatorAction, OperatorResult } from '../events.ts';
import type { Session } from '../session-api.ts';
import type { ForcedMode } from './forced-modes.ts';
import type { OperatedSession } from './roster.ts';

/** What an operator forces on a tool. */
export interface ForceOptions {
  readonly mode: ForcedMode;
  /** Who forces it. Each owner has at most one mode for each tool and session. */
  readonly owner: string;
  /** Why, for other operators. Required. */
  readonly reason: string;
  /** Milliseconds until the mode ends by itself. Default one hour, at most 7 days. */
  readonly expiresInMs?: number | undefined;
  /** Only the session with this id. Default: all sessions of the box, later ones too. */
  readonly session?: string | undefined;
}

/** Which mode an operator takes back. */
export interface ReleaseOptions {
  readonly owner: string;
  /** The session that `force` named. Default: the mode of the whole box. */
  readonly session?: string | undefined;
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

/** An action that was asked for and did not happen. */
export interface NotDone {
  readonly action: OperatorAction;
  readonly result: Exclude<OperatorResult, 'done'>;
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

/** What an operator can see and do (A2, A3). Each action is counted and is an `operator.action` event (A6). */
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
  /** Whether a tool or a group (`group:NAME`) of that name is declared. */
  knows(tool: string): boolean;
  /**
   * Reports an action that was asked for and did not happen, such as one that could not be recorded. Actions that this object carries
   * out are reported by themselves, stale ones too.
   */
  notDone(action: NotDone): void;
  /** The modes that are forced now, the oldest first. */
  modes(): readonly ForcedModeView[];
  /** The live sessions. A session that began before the first `operate(box)` is listed from its next use. */
  sessions(): readonly OperatedSession[];
  /** The latest live session with this id, such as for `report(session)`; undefined if it has ended. */
  session(id: string): Session | undefined;
  /** `session.resume()`, if the budget is still in the expected cycle. Without `cycle`, in any case. */
  resume(session: string, expected?: { readonly cycle?: number | undefined }): ActionResult;
  /** `session.confirmRecovered()`, if the expected event still lasts. Without `event`, in any case. */
  confirmRecovered(session: string, expected?: { readonly event?: string | undefined }): ActionResult;
}
