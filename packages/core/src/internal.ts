/** For the other packages of this workspace: no part of the public surface, and may change with any release. */
export { annotated, type ContentPart, isContent, isPlain } from './annotated.ts';
export { reportThrown, safely } from './telemetry/safely.ts';
