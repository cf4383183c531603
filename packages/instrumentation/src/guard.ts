import type { SessionSource } from './acquire.ts';
import { groupName } from './groups.ts';
import {
  type GuardedCall,
  type GuardedFunction,
  type GuardOptions,
  guardFunction,
  guardsByTool,
} from './guarded-tool.ts';
import { JUDGING } from './judging.ts';
import { checkOptions, functionGiven, milliseconds } from './options.ts';

export type { ToolCall } from './acquire.ts';
export type { GuardedCall, GuardedFunction, GuardOptions } from './guarded-tool.ts';

/**
 * Wraps a function as a tool. Each call first asks the session, then runs in the decision's OpenTelemetry context, and its end
 * settles the decision. Results and errors reach the caller unchanged.
 *
 * | while the tool is unavailable | the call |
 * |---|---|
 * | it has `serveStaleMs`, and was called with these arguments before | gives the last good result with a label |
 * | an alternative with `adapt` is usable and among `alternatives` | gives the alternative's result, with a note |
 * | else | rejects with `ToolUnavailableError` |
 *
 * Core's `labelled` adds the label and the note: before a string, into an object, and else as `{ result, … }`, which is no longer an
 * `Output`. Labels of `labelFreshness` are added in the same way.
 *
 * An async generator is settled when its pieces have been read to the end, by the end or by the error. The same is true of a plain
 * object that is an async iterable and nothing more. A reader who stops earlier costs nothing (`cancelled`). The generator has no
 * label, and is not kept as a last good result. As an alternative's result it has the note in its first piece. Streams, cursors,
 * emitters and other objects that can be read in another way count when they are returned. They are the same object, without a label.
 *
 * A generator that no code reads is still under way: its `timeoutMs` runs from the call, keeps the process alive for that time, and
 * charges a failure at its end. The listener on the caller's signal stays until that moment. Call `return()` on a generator that you
 * do not need. A reader who stops early is not a success either: three times in a row with the same arguments is a repeat to the
 * loop guard (O5), as for any call without a result. It costs no budget, and opens no circuit.
 *
 * The tool is declared on the session when it is wrapped. With a session function it is declared at its calls. If a signal has fired
 * before the call, the call rejects without a decision.
 *
 * @throws BreakerboxConfigError for options or a tool name that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, `run` is not a function, or it is guarded for that session already. A
 * call rejects with one for an invalid signal.
 *
 * @example
 * ```ts
 * const search = guard(session, 'web_search', async ({ query }: { query: string }, { signal }) => {
 *   const response = await fetch(`https://search.example/?q=${encodeURIComponent(query)}`, { signal });
 *   if (!response.ok) throw Object.assign(new Error('search failed'), { status: response.status });
 *   return response.json();
 * }, { timeoutMs: 10_000 });
 *
 * const hits = await search({ query: 'circuit breakers' });
 * ```
 */
export function guard<Input, Output>(
  session: SessionSource,
  tool: string,
  run: (input: Input, call: GuardedCall) => Output | PromiseLike<Output>,
  options: GuardOptions<Output, Input> = NO_OPTIONS,
): GuardedFunction<Input, Output> {
  if (options !== NO_OPTIONS) checkOptions(`guard('${tool}')`, options, CHECKS);
  return guardFunction(session, tool, run, options);
}

const NO_OPTIONS = {};

const CHECKS = {
  timeoutMs: milliseconds,
  tokens: functionGiven,
  freshness: functionGiven,
  alternatives: guardsByTool,
  group: groupName,
  ...JUDGING,
};
