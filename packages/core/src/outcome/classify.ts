import { type Evidence, gatherEvidence } from './evidence.ts';
import { readMessage } from './message.ts';
import { readErrorResult } from './result.ts';
import { retryAfterInText } from './retry-after.ts';
import type { ErrorCategory } from './taxonomy.ts';
import { read } from './untrusted.ts';

/** Why a call did not succeed. */
export interface Classification {
  readonly category: ErrorCategory;
  /** The wait, in milliseconds, that the failure asks for by `Retry-After` (O3): at most 7 days. */
  readonly retryAfterMs?: number;
}

/** What the classifier knows beside the error. */
export interface ClassifyContext {
  /** The signal that was handed to the tool. */
  readonly signal?: AbortSignal;
  /** Now, in Unix milliseconds, for a Retry-After that is a date. Default: what the system's clock says. */
  readonly unixMs?: number;
}

/**
 * Why a tool threw (O2). Never throws itself, whatever it is given.
 *
 * Believed in this order: the signal, if it has fired (what a tool throws afterwards is a consequence; a reason that is
 * a time-out is `timeout`, any other `cancelled`); `TimeoutError` and `AbortError`; error codes and telling class
 * names; HTTP status; schema validation; fetch's `TypeError`; the text. Each is looked for in the error, its causes,
 * and the inner errors of an `AggregateError`. Errors of libraries that are known to say the wrong thing, such as a
 * 404 of an MCP endpoint, are read as what they mean. What says nothing is `unknown`.
 *
 * An `AbortError` while the signal has not fired is `cancelled` too, and counts for nothing. A tool with a time-out of
 * its own should therefore abort by `AbortSignal.timeout(ms)`, whose reason fetch, `node:http`, axios, got, ky and gaxios
 * keep, so that a service that hangs counts as a failure. The SDKs of OpenAI and Anthropic keep no reason: there the
 * same signal gives an `APIUserAbortError`, which is `cancelled` whatever the reason. Use the SDK's own `timeout` option
 * or `timeoutMs` of `guard`, or hand the signal over: `permit.settle({ error, signal })`.
 *
 * @example
 * const error = Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': '30' } });
 * classifyError(error, { unixMs: Date.now() });
 * // { category: 'rate_limit', retryAfterMs: 30000 }
 */
export function classifyError(error: unknown, context?: ClassifyContext): Classification {
  try {
    const { unixMs, signal } = known(context);
    const stopped = stoppedBy(signal, unixMs);
    if (stopped) return { category: stopped };
    return classification(gatherEvidence(error, unixMs));
  } catch {
    // Every read is guarded already; this is for what nobody thought of (E5).
    return { category: 'unknown' };
  }
}

/**
 * Why a result is an error, or undefined where it is a success. `readErrorResult` says which results are errors.
 * They are read like thrown errors, their text more strictly, and what isn't recognisably an outage is `tool_error`:
 * 'unknown order id', 'your seat hold timed out', and a file that isn't there, are answers. Never throws.
 *
 * @example
 * classifyResult({ isError: true, content: [{ type: 'text', text: 'connect ECONNREFUSED' }] }, { unixMs: 0 });
 * // { category: 'network' }
 */
export function classifyResult(result: unknown, context?: ClassifyContext): Classification | undefined {
  try {
    const found = readErrorResult(result);
    if (!found) return undefined;
    const { unixMs, signal } = known(context);
    const stopped = stoppedBy(signal, unixMs);
    if (stopped) return { category: stopped };
    if (found.invalid) return { category: 'invalid_input' };
    const evidence = gatherEvidence(found.error, unixMs, 'returned');
    const text = evidence.category === 'unknown' ? readMessage(found.text, 'returned') : undefined;
    return classification({
      ...evidence,
      category: asAnswer(text?.category ?? evidence.category, text?.aboutInput ?? evidence.aboutInput),
      retryAfterMs: evidence.retryAfterMs ?? retryAfterInText(found.text),
    });
  } catch {
    return undefined;
  }
}

/** In a result: nobody of ours aborted, or the signal would say so; and a wrong path or an odd text is an answer. */
function asAnswer(category: ErrorCategory, aboutInput: boolean): ErrorCategory {
  return aboutInput || category === 'unknown' || category === 'cancelled' ? 'tool_error' : category;
}

/** Without a context, or with one that says nothing, it is now. */
function known(context: ClassifyContext | undefined): { readonly unixMs: number; readonly signal: unknown } {
  const unixMs = read(context, 'unixMs');
  return { unixMs: typeof unixMs === 'number' ? unixMs : Date.now(), signal: read(context, 'signal') };
}

function stoppedBy(signal: unknown, unixMs: number): 'timeout' | 'cancelled' | undefined {
  if (read(signal, 'aborted') !== true) return undefined;
  return gatherEvidence(read(signal, 'reason'), unixMs).category === 'timeout' ? 'timeout' : 'cancelled';
}

function classification({ category, retryAfterMs }: Evidence): Classification {
  return retryAfterMs === undefined ? { category } : { category, retryAfterMs };
}
