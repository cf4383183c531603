/** For the other packages of this workspace. Not part of the public API; may change with any release. */
export { annotated, type ContentPart, isContent, isPlain } from './annotated.ts';
export { asClause, LOSS, quoteTool } from './capability/wording.ts';
export { noticeExecutor, noticeWrapped } from './mistakes.ts';
export { nearestFirst } from './nearest.ts';
export { readEvidence } from './outcome/classify.ts';
export { byPattern, grpcStatus, type Meaning, namedCode, readStatus, statusMeaning } from './outcome/codes.ts';
export { type Evidence, type Refine, stopKind, TRUST } from './outcome/evidence.ts';
export { readErrorResult } from './outcome/result.ts';
export { isObject, read, readItems, readKeys, readNames, readText, TEXT_LIMIT } from './outcome/untrusted.ts';
export { type HistogramSeries, type NumberSeries, noticeCopy, type SharedMetric } from './telemetry/copies.ts';
export { countOf, type Exemplar } from './telemetry/durations.ts';
export { type CellReader, openCells, readMetrics, scrapedNumbers } from './telemetry/reading.ts';
export { atOnce, reportThrown, safely, watchEnd } from './telemetry/safely.ts';
export { type WarningCode, warnOnce } from './warnings.ts';
