import type { SessionSource } from './session-source.ts';

/** On a guarded tool's `execute`, by this name for other copies of the package too: tools are copied, and wrapped once more. */
const GUARDED = Symbol.for('@breakerbox/instrumentation/ai-sdk/guarded');

/** Remembers that a tool asks a session by itself. */
export const markGuarded = (execute: object, session: SessionSource): void => {
  Object.defineProperty(execute, GUARDED, { value: session });
};

/** Whom a tool asks by itself; undefined for one that `guardTools` never saw. */
export const guardedBy = (tool: unknown): SessionSource | undefined =>
  (tool as { execute?: { [GUARDED]?: SessionSource } } | null | undefined)?.execute?.[GUARDED];
