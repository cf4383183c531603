/** What an operator can see and do: forced modes, live sessions, resume and confirm. */

export type { ExtendedLimit, LimitView } from '../limits/limit-view.ts';
export { LIMIT_KINDS, type LimitKind } from '../limits/limits.ts';
export type { ChildView, TreeView, UsedView } from '../limits/tree-view.ts';
export type { ForcedMode } from './forced-modes.ts';
export { onNewBox, operate } from './operator.ts';
export type {
  ActionResult,
  CountedAction,
  ExpectedLimit,
  ExtendResult,
  ForcedModeView,
  ForceOptions,
  Operator,
  ReleaseOptions,
} from './operator-api.ts';
export { type ReconfigureOptions, reconfigure } from './reconfigure.ts';
export type { ChargedFailures, OperatedSession } from './roster.ts';
