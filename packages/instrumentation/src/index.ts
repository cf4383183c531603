export {
  type GuardedCall,
  type GuardedFunction,
  type GuardOptions,
  guard,
  type ToolCall,
} from './guard.ts';
export type { CallEnd } from './run.ts';
export type { SessionSource } from './session-source.ts';
export { ToolUnavailableError, type UnavailableRoute } from './unavailable.ts';
