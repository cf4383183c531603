export { readChanges } from './change-reader.ts';
export type { Change } from './changes.ts';
export {
  ControlError,
  checkedAction,
  perform,
  type Read,
  readReport,
  readState,
  readStates,
} from './control-client.ts';
export { childrenNamed, exactFirst, isInTree, pathsNamed } from './in-tree.ts';
export type {
  ActionRequest,
  ActionResponse,
  BoxState,
  ChildState,
  LimitState,
  ProcessState,
  Report,
  SessionState,
} from './schema.ts';
export type { Target } from './target.ts';
