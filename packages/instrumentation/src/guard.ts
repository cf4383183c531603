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

/** The second argument of a guarded tool. */
export interface GuardedCall {
  /** Fires on timeout and on the caller's abort. Pass it to `fetch` and similar functions. */
  readonly signal: AbortSignal;
  /** The decision that let this call through. It is settled for you. */
  readonly permit: Permit;
}

/** A guarded function. If its tool needs no input, you may call it without one. */
export type GuardedFunction<Input, Output> = (
  ...given: undefined extends Input ? [input?: Input, call?: ToolCall] : [input: Input, call?: ToolCall]
) => Promise<Output>;

/** Options of {@link guard}. */
export interface GuardOptions<Output = unknown, Input = unknown> extends JudgingOptions<Output, Input> {
  /**
   * Milliseconds that a call may take, up to the last piece if it gives an async generator. After that, the tool's signal fires, the call
   * rejects with a `TimeoutError` at once, and counts as a failure. An alternative that is called in place of the tool has the
   * remaining time. Default: none.
   */
  readonly timeoutMs?: number;
  /**
   * Reads the cost of a call in tokens when it ends: from the result, or from the error that the tool threw or that stopped it.
   * Tokens of a failed call are wasted: they are counted, are charged to the token budget, and may open the circuit. Default: not known.
   * It has to answer synchronously. Errors and promises go to OpenTelemetry's `diag`, and the call then has no known cost.
   */
  readonly tokens?: (end: CallEnd<Output>) => number | undefined;
  /**
   * Reads from a result how current it is, for tools with `labelFreshness`: when it was retrieved, and whether it was
   * checked. Default: retrieved by this call. It has to answer synchronously, too.
   */
  readonly freshness?: (result: Output) => FreshnessHint | undefined;
  /**
   * Functions made by `guard` for the tool's alternatives, by the alternatives' names. A function whose alternative has `adapt` is
   * called in place of this one while this one is unavailable, with a decision of its own. Other alternatives are left to the caller.
   */
  readonly alternatives?: Readonly<Record<string, GuardedFunction<never, unknown>>>;
  /**
   * The group of the tool (C13), such as the MCP server or the service behind it. When tools of a group fail in a row, all of the group
   * are skipped, and one probe serves them all. The configuration of the tool takes precedence. Default: none.
   */
  readonly group?: string;
}

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
