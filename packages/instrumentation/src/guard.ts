import { BreakerboxUsageError, type Permit } from '@breakerbox/core';
import { checkOptions, milliseconds } from './options.ts';
import { follow, startRun, throwIfAborted } from './run.ts';
import { declareNow, type SessionSource, sessionFinder } from './session-source.ts';
import { isRefused, ToolUnavailableError } from './unavailable.ts';

/** What a caller may give with a call. */
export interface ToolCall {
  /** Ends the call: it rejects with the signal's reason at once, and counts as `cancelled`, which costs nothing. */
  readonly signal?: AbortSignal | undefined;
  /** The framework's id of the tool call; goes on the span. */
  readonly callId?: string | undefined;
}

/** What the tool gets with its input. */
export interface GuardedCall {
  /** Fires on time-out and on the caller's abort. Hand it on to `fetch` and its like. */
  readonly signal: AbortSignal;
  /** The decision that let this call through. It is settled for you. */
  readonly permit: Permit;
}

/** How a guarded function behaves. */
export interface GuardOptions {
  /**
   * Milliseconds that a call may take. When they are over, the tool's signal fires, the call rejects with a `TimeoutError`
   * at once, and counts as a failure. Default: none.
   */
  readonly timeoutMs?: number;
}

/**
 * Wraps a function as a tool: each call asks the session first, runs in the decision's OpenTelemetry context, and is
 * settled by how it went. Results and errors reach the caller unchanged.
 *
 * The tool is declared on the session when it is wrapped; with a session function, at its calls. A signal that has fired
 * before the call rejects without a decision.
 *
 * @throws BreakerboxConfigError for options or a tool name that can't work.
 * @throws BreakerboxUsageError when `session` is no session or `run` no function.
 *
 * The returned function rejects with `ToolUnavailableError` when the tool must not be called now.
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
  options: GuardOptions = {},
): (input: Input, call?: ToolCall) => Promise<Output> {
  const where = `guard('${tool}')`;
  checkOptions(where, options, { timeoutMs: milliseconds });
  if (typeof run !== 'function') {
    throw new BreakerboxUsageError(
      `${where}: got a value of type ${typeof run} as the tool, so there is nothing to call. Give the function to run.`,
    );
  }
  const findSession = sessionFinder(session, where);
  declareNow(session, [tool]);
  const { timeoutMs } = options;

  return async (input, { signal, callId } = {}) => {
    throwIfAborted(signal);
    const current = findSession();
    if (typeof session === 'function') current.declare(tool);
    const permit = current.acquire(tool, { callId });
    if (isRefused(permit)) throw new ToolUnavailableError(permit);
    const running = startRun(permit, { signal, timeoutMs });
    const result = running.enter(async () => run(input, { signal: running.signal, permit }));
    return follow(running, result);
  };
}
