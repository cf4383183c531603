/** For the other packages of this workspace: no part of the public surface, and may change with any release. */
export { annotated, type ContentPart, isContent, isPlain } from './annotated.ts';
export { asClause, LOSS, quoteTool } from './capability/wording.ts';
export { nearestFirst } from './nearest.ts';
export type { HistogramSeries, NumberSeries, SharedMetric } from './telemetry/copies.ts';
export { countOf, type Exemplar } from './telemetry/durations.ts';
export { type CellReader, openCells, readMetrics, scrapedNumbers } from './telemetry/reading.ts';
export { atOnce, reportThrown, safely, watchEnd } from './telemetry/safely.ts';
