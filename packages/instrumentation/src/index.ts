export type { ToolGroup } from './groups.ts';
export {
  type GuardedCall,
  type GuardedFunction,
  type GuardOptions,
  guard,
  type ToolCall,
} from './guard.ts';
export { type GuardAllOptions, type GuardedFunctions, guardAll, type ToolFunction } from './guard-all.ts';
export { type HookedCall, type HookedCalls, hookedCalls } from './hooked-calls.ts';
export type { CallEnd } from './run.ts';
export type { SessionSource } from './session-source.ts';
export { ToolUnavailableError, type UnavailableRoute } from './unavailable.ts';
export { currentSession, withSession } from './with-session.ts';
