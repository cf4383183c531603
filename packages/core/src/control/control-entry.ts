/** What an operator can see and do: forced modes, live sessions, resume and confirm. */

export type { ForcedMode } from './forced-modes.ts';
export { onNewBox, operate } from './operator.ts';
export type {
  ActionResult,
  ForcedModeView,
  ForceOptions,
  Operator,
  ReleaseOptions,
  ReportedAction,
} from './operator-api.ts';
export { type ReconfigureOptions, reconfigure } from './reconfigure.ts';
export type { OperatedSession } from './roster.ts';
