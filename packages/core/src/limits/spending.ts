import { read } from '../safely.ts';
import type { LimitObjection } from './limit-view.ts';
import type { Run } from './run.ts';
import type { RunCall } from './run-call.ts';

/** For executors: what they ask of the run of a session. Not part of the public API. */

const runOf = (session: object): Run | undefined => read(session, 'run') as Run | undefined;

/**
 * D3: a model is called for this session. Call `end(usage, succeeded)` on the result once, when the call is over; then do not call
 * `session.spend()` for it. Undefined if the session has no limits.
 */
export const beginModelCall = (
  session: object,
  name: string,
  maxOutputTokens?: number | undefined,
): RunCall | undefined => runOf(session)?.beginModel(name, maxOutputTokens);

/** D2: which limit pauses the session; undefined if none does. */
export const limitOver = (session: object, ms: number): LimitObjection | undefined => runOf(session)?.objection(ms);
