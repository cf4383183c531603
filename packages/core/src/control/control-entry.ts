/** What an operator can see and do: forced modes, live sessions, resume and confirm. */

export type { ForcedMode } from './forced-modes.ts';
export {
  type ActionResult,
  type ForcedModeView,
  type ForceOptions,
  type Operator,
  operate,
  type ReleaseOptions,
} from './operator.ts';
export type { OperatedSession } from './roster.ts';
