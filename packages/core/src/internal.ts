/** For the other packages of this workspace. Not part of the public API; may change with any release. */

export { NO_LIMIT } from './budget/budget.ts';
export { readJson } from './checks/checks.ts';
export { isModelCircuit, nearestFirst, safeJson, visible } from './checks/names.ts';
export { type Evidence, type Refine, readEvidence, stopKind, TRUST } from './classify/classify.ts';
export { byPattern, grpcStatus, type Meaning, namedCode, readStatus, statusMeaning } from './classify/codes.ts';
export { type ErrorResult, isError, readErrorResult } from './classify/error-result.ts';
export { saysSessionLost } from './classify/lost-session.ts';
export type { ModelTokens, ModelUsage } from './config/model-price.ts';
export { validateConfig } from './config/validation.ts';
export { annotated, type ContentPart, isContent, isPlain } from './freshness/freshness.ts';
export type { LimitView } from './limits/limit-view.ts';
export {
  askForAnswer,
  beginModelCall,
  beginTurn,
  isTimeOver,
  type LastAnswer,
  type ModelCall,
  warnOfCurrency,
} from './limits/spending.ts';
export { hashOfText } from './loop-guard/digest.ts';
export { noticeExecutor, noticeWrapped } from './mistakes.ts';
export { type BoxModels, boxModels, type ModelHandle } from './models/model-session.ts';
export { MOST_MODES } from './overrides.ts';
export { callDeadline, dropAlternative, extendLease, relayedMessage } from './permit.ts';
export { amountOf, extendedText, spentOf, unansweredText, usedOf } from './routing/limit-text.ts';
export { SKIP_KEY, SKIP_MARK, type TriedEnd } from './routing/message.ts';
export { asClause, LOSS, quoteTool } from './routing/wording.ts';
export {
  atOnce,
  isObject,
  read,
  readItems,
  readKeys,
  readNames,
  readText,
  reportThrown,
  safely,
  TEXT_LIMIT,
  warn,
  watchEnd,
} from './safely.ts';
export { endPause, groupReturned } from './session-internals.ts';
export { isMostlyIgnored } from './session-tools.ts';
export {
  type ExportedMetric,
  type HistogramSeries,
  type NumberSeries,
  openSeries,
  readMetrics,
  type SeriesReader,
  scrapedNumbers,
} from './telemetry/readers.ts';
export type { Exemplar } from './telemetry/series.ts';
export { countOf } from './telemetry/series.ts';
export { isUnusableWith, shareHistory, uncountedTools } from './tool-history.ts';
export { noticeCopy, type WarningCode, warnOnce } from './warnings/warnings.ts';
export { quotesRejection, written } from './written-rejections.ts';
