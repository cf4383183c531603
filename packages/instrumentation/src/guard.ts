import type { FreshnessHint, Permit } from '@breakerbox/core';
import type { ToolCall } from './caller.ts';
import { groupName } from './groups.ts';
import { guardTool } from './guarded-tool.ts';
import { guardsByTool } from './guards.ts';
import { JUDGING, type JudgingOptions } from './judging.ts';
import { checkOptions, milliseconds, reader } from './options.ts';
import type { CallEnd } from './run.ts';
import type { SessionSource } from './session-source.ts';

export type { ToolCall } from './caller.ts';

/** What the tool gets with its input. */
export interface GuardedCall {
  /** Fires on time-out and on the caller's abort. Hand it on to `fetch` and its like. */
  readonly signal: AbortSignal;
  /** The decision that let this call through. It is settled for you. */
  readonly permit: Permit;
}

/** A function as `guard` gives it. One whose tool needs no input may be called without. */
export type GuardedFunction<Input, Output> = (
  ...given: undefined extends Input ? [input?: Input, call?: ToolCall] : [input: Input, call?: ToolCall]
) => Promise<Output>;

/** How a guarded function behaves. */
export interface GuardOptions<Output = unknown, Input = unknown> extends JudgingOptions<Output, Input> {
  /**
   * Milliseconds that a call may take, to the last piece of an async generator if it gives one. When they are over, the tool's signal fires,
   * the call rejects with a `TimeoutError` at once, and counts as a failure. An alternative that is called in place of the
   * tool has what is left of them. Default: none.
   */
  readonly timeoutMs?: number;
  /**
   * Reads in the end of a call what it cost, in tokens: in the result, or in the error that the tool threw or that stopped it.
   * Those of a failed call are wasted: counted, charged to the token budget, and may open the circuit. Default: not known.
   * It has to answer at once. What it throws, or a promise, goes to OpenTelemetry's `diag`, and the call goes on as if it had said nothing.
   */
  readonly tokens?: (end: CallEnd<Output>) => number | undefined;
  /**
   * Reads in a result how current it is, for tools with `labelFreshness`: when it was retrieved, and whether it was
   * checked. Default: retrieved by this call. It has to answer at once, too.
   */
  readonly freshness?: (result: Output) => FreshnessHint | undefined;
  /**
   * Functions made by `guard` for the tool's alternatives, by the alternatives' names. One whose alternative has `adapt` is
   * called in place of this one while it is out, under a decision of its own; any other is left to the caller.
   */
  readonly alternatives?: Readonly<Record<string, GuardedFunction<never, unknown>>>;
  /**
   * The group of the tool (C13), such as the MCP server or the service behind it. When tools of a group fail in a row, all of the group
   * are skipped, and one probe serves them all. The configuration of the tool comes first. Default: none.
   */
  readonly group?: string;
}

/**
 * Wraps a function as a tool: each call asks the session first, runs in the decision's OpenTelemetry context, and is
 * settled by how it went. Results and errors reach the caller unchanged.
 *
 * | while the tool is out | the call |
 * |---|---|
 * | it has `serveStaleMs`, and was called with these arguments before | gives the last good result with a label |
 * | an alternative with `adapt` is usable and among `alternatives` | gives what that one gives, with a note |
 * | else | rejects with `ToolUnavailableError` |
 *
 * Label and note are put as core's `labelled` does it: before a text, into an object, and else `{ result, … }` beside the
 * result, which then is no longer an `Output`. So are those of `labelFreshness`.
 *
 * An async generator, or a plain object that is an async iterable and nothing more, is settled when its pieces have been
 * read to the end, by the end or by the error; whoever leaves it earlier costs nothing (`cancelled`). It has no label, and is
 * no last good result; as an alternative's it has its note in its first piece. Whatever can be read in another way too, such
 * as streams, cursors and emitters, counts when it is returned, and is the very same object; it has no label either.
 *
 * A generator that nobody reads is on its way still: its `timeoutMs` runs from the call, keeps the process for as long, and
 * charges a failure at its end; the listener on the caller's signal stays until that fires. Call `return()` on one that isn't
 * wanted. And to leave early is no success: with the same arguments three times running it is a repeat to the loop guard (O5),
 * as any call that came to nothing; it costs no budget, and opens no circuit.
 *
 * The tool is declared on the session when it is wrapped; with a session function, at its calls. A signal that has fired
 * before the call rejects without a decision.
 *
 * @throws BreakerboxConfigError for options or a tool name that can't work.
 * @throws BreakerboxUsageError when `session` is no session, `run` no function, or one guarded for that session already. A call rejects
 * with one for a signal that is none.
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
  return guardTool(session, tool, run, options);
}

const NO_OPTIONS = {};

const CHECKS = {
  timeoutMs: milliseconds,
  tokens: reader,
  freshness: reader,
  alternatives: guardsByTool,
  group: groupName,
  ...JUDGING,
};
