import { errorCode, type Meaning, readStatus, statusMeaning } from './codes.ts';
import { readRetryAfter } from './retry-after.ts';
import { isObject, read, readItems, readNames, readText } from './untrusted.ts';

/** How far a reading is trusted: a smaller number means more trust. `text` and `hint` are for executors that read prose. */
export const TRUST = { timeout: 0, cancelled: 1, code: 2, status: 3, schema: 4, text: 5, hint: 6, none: 7 } as const;

/** The result of reading an error. */
export interface Evidence extends Meaning {
  readonly trust: number;
  readonly retryAfterMs?: number | undefined;
}

/** May refine the reading of one error, without its causes. */
export type Refine = (error: unknown, own: Evidence) => Evidence;

/** Limits of one reading: errors in total, depth and width. Causes may be cyclic, and proxies endless. */
const MOST = { errors: 32, depth: 8, siblings: 8 } as const;

/**
 * Keys that hold the cause of an error: the standard one, AI SDK's `RetryError`, `SuppressedError` and API bodies, older wrappers.
 */
const LINKS = ['cause', 'lastError', 'error', 'originalError'] as const;

/**
 * The most trusted reading among an error, its causes, and the most telling error inside an `AggregateError`; among equals, the
 * outermost.
 */
export function gatherEvidence(error: unknown, unixMs: number, refine: Refine = (_, own) => own): Evidence {
  const seen = new Set<unknown>([undefined, null]);
  const visit = (value: unknown, depth: number): Evidence => {
    const own = { ...refine(value, readOne(value)), retryAfterMs: readRetryAfter(value, unixMs) };
    if (!isObject(value)) return own;
    seen.add(value);
    const below = (values: readonly unknown[]) =>
      values.flatMap((one) => {
        const over = seen.has(one) || seen.size >= MOST.errors + 2 || depth >= MOST.depth;
        return over ? [] : [visit(one, depth + 1)];
      });
    const linked = below(LINKS.map((key) => read(value, key)));
    // `errors` of ajv and similar libraries holds violations, not errors.
    const inner = isValidationError(value) ? [] : readItems(read(value, 'errors'), MOST.siblings);
    return merge([own, ...linked, ...mostTelling(below(inner))]);
  };
  return visit(error, 0);
}

function merge(found: readonly Evidence[]): Evidence {
  // A code with several meanings counts less than a text beneath it.
  const weight = ({ trust, vague }: Evidence): number => (vague ? TRUST.hint - 0.5 : trust);
  const best = found.reduce((a, b) => (weight(b) < weight(a) ? b : a));
  return { ...best, retryAfterMs: found.find((one) => one.retryAfterMs !== undefined)?.retryAfterMs };
}

/**
 * Order for several attempts that all failed: an outage, then a bad argument, then 'unknown', then an abort, because racing calls
 * abort the others.
 */
const mostTelling = (siblings: readonly Evidence[]): Evidence[] =>
  siblings.toSorted((a, b) => score(a) - score(b)).slice(0, 1);
const ORDER = ['invalid_input', 'denied', 'tool_error', 'unknown', 'cancelled'];
const score = ({ category, trust }: Evidence) => ORDER.indexOf(category) * 10 + trust;

const TIMEOUT = /(?:Time[oO]ut|TimedOut)(?:Error|Exception)?$/;
const CANCELLED = /^(?:Abort|APIUserAbort|Cancell?ed|Cancel|RequestAborted)(?:Error|Exception)$/;
/** Arguments that a schema rejected: zod, valibot, yup, joi, ajv, AWS, AI SDK, LangChain. */
const VALIDATION =
  /^(?:\$?Zod|Vali|Validation|Schema|AI_(?:InvalidToolInput|NoSuchTool|TypeValidation|InvalidArgument))Error$|^(?:Validation|ToolInputParsing)Exception$/;
const isNamed = (error: unknown, pattern: RegExp): boolean => readNames(error).some((name) => pattern.test(name));

/** Whether an error is a time-out (`ConnectTimeoutError`, `ReadTimeout`, …) or an abort, by its class or the DOMException code. */
export function stopKind(error: unknown): 'timeout' | 'cancelled' | undefined {
  const code = isNamed(error, /^DOMException$/) && read(error, 'code');
  if (isNamed(error, TIMEOUT) || code === 23) return 'timeout';
  return isNamed(error, CANCELLED) || code === 20 ? 'cancelled' : undefined;
}

/** Whether a schema rejected a value: by class, by Standard Schema's `issues`, or by ajv's `errors`. */
function isValidationError(error: unknown): boolean {
  const has = (list: string, key: string) => readText(readItems(read(error, list), 1)[0], key) !== undefined;
  const told = has('issues', 'message') || (has('errors', 'keyword') && has('errors', 'schemaPath'));
  return told || isNamed(error, VALIDATION);
}

/** Reads one error, without its causes. */
function readOne(error: unknown): Evidence {
  const code = errorCode(error);
  const stop = stopKind(error);
  // AWS clients also name a reset connection `TimeoutError`; there the code decides.
  const reset = stop === 'timeout' && code?.category === 'network' && !code.vague;
  if (stop && !reset) return { category: stop, trust: TRUST[stop], sign: 'its class' };
  if (code) return { ...code, trust: TRUST.code };
  const status = statusMeaning(readStatus(error) ?? 0);
  if (status) return { ...status, trust: TRUST.status };
  if (isValidationError(error)) return { category: 'invalid_input', trust: TRUST.schema, sign: 'a schema refused it' };
  return { category: 'unknown', trust: TRUST.none, sign: 'nothing says why' };
}
