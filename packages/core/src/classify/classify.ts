import { readErrorResult } from './error-result.ts';
import { type Evidence, gatherEvidence, type Refine } from './evidence.ts';
import type { ErrorCategory } from './taxonomy.ts';
import { guarded, read } from './untrusted.ts';

/** Why a call did not succeed. */
export interface Classification {
  readonly category: ErrorCategory;
  /** The wait, in milliseconds, that the failure asks for by `Retry-After` (O3): at most 7 days. */
  readonly retryAfterMs?: number;
  /**
   * What the failure blames (C14). `tool` (default): the tool or a service that it depends on. `key`: the one host, file or account
   * that the call chose.
   */
  readonly blames?: 'tool' | 'key';
}

/** What the classifier knows beside the error. */
export interface ClassifyContext {
  /** The signal that was handed to the tool. */
  readonly signal?: AbortSignal;
  /** The time now, in Unix milliseconds, for a Retry-After that is a date. Default: the system's clock. */
  readonly unixMs?: number;
}

/**
 * Classifies a thrown error (E1, O2), by codes alone. Evidence is used in this order: the signal, if it has fired; `TimeoutError`
 * and `AbortError`; error codes; HTTP status; schema validation. `classifyError` of `@breakerbox/instrumentation` reads the text
 * too. Never throws. An error with `{ status: 429, retryAfter: 30 }` is `{ category: 'rate_limit', retryAfterMs: 30000 }`.
 */
export const classifyError = (error: unknown, context?: ClassifyContext): Classification =>
  guarded(() => {
    const { category, retryAfterMs } = readEvidence(error, context);
    return { category, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }, UNREADABLE);
const UNREADABLE: Classification = { category: 'unknown' }; // If the classifier has a bug (E5).

/**
 * Classifies an error result, in the same way as a thrown error; undefined for a success. An error without a code is `tool_error`.
 * Never throws.
 */
export function classifyResult(result: unknown, context?: ClassifyContext): Classification | undefined {
  const found = readErrorResult(result);
  if (!found) return undefined;
  const read = classifyError(found.error, context);
  const category = found.invalid ? 'invalid_input' : read.category;
  return { ...read, category: category === 'unknown' ? 'tool_error' : category };
}

/** The evidence in an error, or in the signal that has fired. */
export function readEvidence(error: unknown, context: ClassifyContext | undefined, refine?: Refine): Evidence {
  const unixMs = read(context, 'unixMs');
  const now = typeof unixMs === 'number' ? unixMs : Date.now();
  const signal = read(context, 'signal');
  if (read(signal, 'aborted') !== true) return gatherEvidence(error, now, refine);
  const late = gatherEvidence(read(signal, 'reason'), now, refine).category === 'timeout';
  return { category: late ? 'timeout' : 'cancelled', trust: 0, sign: "the signal's reason" };
}
