export { type GuardedCall, type GuardOptions, guard, type ToolCall } from './guard.ts';
export type { SessionSource } from './session-source.ts';
export { ToolUnavailableError } from './unavailable.ts';
