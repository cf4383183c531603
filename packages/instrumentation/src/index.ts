export type { SessionSource } from './acquire.ts';
export { unavailableNotice, withAdvice } from './advice.ts';
export {
  type ReadContext,
  readReturned as classifyResult,
  readThrown as classifyError,
  type Verdict,
} from './classify/classify.ts';
export type { ToolKind } from './classify/kind.ts';
export type { ToolGroup } from './groups.ts';
export {
  type GuardedCall,
  type GuardedFunction,
  type GuardOptions,
  guard,
  type ToolCall,
} from './guard.ts';
export { type GuardAllOptions, type GuardedFunctions, guardAll, type ToolFunction } from './guard-all.ts';
export { type HookedCall, type HookedCalls, type HookedCallsOptions, hookedCalls } from './hooked-calls.ts';
export { defaultKey, type JudgingOptions } from './judging.ts';
export type { GuardModelsOptions } from './models/candidates.ts';
export {
  type GuardedModels,
  type GuardFunctionsOptions,
  guardModels,
  type ModelFunction,
} from './models/guard-models.ts';
export { classifyModelCall, type ModelCall, type ModelCallVerdict } from './models/model-call.ts';
export type { ModelLimits } from './models/model-limits.ts';
export {
  ModelStreamError,
  ModelsUnavailableError,
  RunLimitError,
  type UnansweredModel,
} from './models/models-unavailable.ts';
export type { CallEnd } from './settlement.ts';
export { ToolUnavailableError, type UnavailableRoute } from './unavailable.ts';
