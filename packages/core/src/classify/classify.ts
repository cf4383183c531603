import { guarded, isObject, read, readItems, readNames, readText } from '../safely.ts';
import { errorCode, type Meaning, readStatus, statusMeaning } from './codes.ts';
import { readErrorResult } from './error-result.ts';
import type { ErrorCategory } from './taxonomy.ts';

/** What a failure blames: the tool, the key that the call chose (C14), or all tools of the group. */
export type Blamed = 'tool' | 'key' | 'group';

/** Why a call did not succeed. */
export interface Classification {
  readonly category: ErrorCategory;
  /** The wait, in milliseconds, that the failure asks for by `Retry-After` (O3): at most 7 days. */
  readonly retryAfterMs?: number;
  /**
   * What the failure blames. `tool`: the tool, or a service that it depends on. `key`: the one host, file or account that the call chose
   * (C14). `group`: all tools of the group are unreachable. Default `tool`.
   */
  readonly blames?: Blamed;
  /**
   * Of an error that nothing could explain (O8). If a tool that has never succeeded fails with the same digest for 6 different inputs,
   * or for 4 if the error cannot be about the request, it counts as `unusable`. Default: the error is explained.
   */
  readonly unexplained?:
    | {
        /** A digest of its text, without literals and digits. */
        readonly digest: string;
        /** Whether the text is about the tool itself, such as its key, or has no word that may be about the request. Default `false`. */
        readonly ofTool?: boolean;
      }
    | undefined;
  /** The peer has answered that it cannot do what the call asked for (404, 409, 410, 422): so it works (C14). Default `false`. */
  readonly answered?: boolean;
}

/** What the classifier knows beside the error. */
export interface ClassifyContext {
  /** The signal that was handed to the tool. If it is given and has not fired, an abort comes from a limit inside the tool (O10). */
  readonly signal?: AbortSignal;
  /**
   * How long the call had run, in milliseconds, if the signal is its caller's. A time-out of the signal is then the run's, and counts as
   * `cancelled`, before 30 s (O10). Default: a time-out of the signal is the tool's.
   */
  readonly ranMs?: number;
  /** The time now, in Unix milliseconds, for a Retry-After that is a date. Default: the system's clock. */
  readonly unixMs?: number;
}

/**
 * Classifies a thrown error (E1), by codes alone. Evidence is used in this order: the signal, if it has fired; `TimeoutError`
 * and `AbortError`; error codes; HTTP status; schema validation. `classifyError` of `@breakerbox/instrumentation` reads the text
 * too. Never throws. An error with `{ status: 429, retryAfter: 30 }` is `{ category: 'rate_limit', retryAfterMs: 30000 }`.
 */
export const classifyError = (error: unknown, context?: ClassifyContext): Classification =>
  guarded((): Classification => {
    const { category, retryAfterMs, answered } = readEvidence(error, context);
    return { category, ...(retryAfterMs !== undefined && { retryAfterMs }), ...(answered === true && { answered }) };
  }, UNREADABLE);
const UNREADABLE: Classification = { category: 'unknown' }; // If the classifier has a bug (E5).

/**
 * Classifies an error result, in the same way as a thrown error; undefined for a success. An error without a code is `tool_error`.
 * Never throws.
 */
export function classifyResult(result: unknown, context?: ClassifyContext): Classification | undefined {
  const found = readErrorResult(result);
  if (!found || found.weak) return undefined;
  const read = classifyError(found.error, context);
  const category = found.invalid ? 'invalid_input' : read.category;
  return { ...read, category: category === 'unknown' ? 'tool_error' : category };
}

/** O10: a tool that has not answered for that long is late, whatever the limit of its caller. */
const PATIENCE_MS = 30_000;

/** The evidence in an error, or in the signal that has fired. */
export function readEvidence(error: unknown, context: ClassifyContext | undefined, refine?: Refine): Evidence {
  const unixMs = read(context, 'unixMs');
  const now = typeof unixMs === 'number' ? unixMs : Date.now();
  const signal = read(context, 'signal');
  if (read(signal, 'aborted') !== true) {
    const found = gatherEvidence(error, now, refine);
    const own =
      isObject(signal) && found.category === 'cancelled' && /^class$|ABORT|ERR_CANCELED/.test(found.code ?? '');
    return own ? { ...found, category: 'timeout', sign: 'a limit inside the tool' } : found;
  }
  const late = gatherEvidence(read(signal, 'reason'), now, refine).category === 'timeout';
  const ranMs = read(context, 'ranMs');
  const early = typeof ranMs === 'number' && ranMs < PATIENCE_MS;
  return { category: late && !early ? 'timeout' : 'cancelled', trust: 0, sign: "the signal's reason", code: 'signal' };
}

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
function gatherEvidence(error: unknown, unixMs: number, refine: Refine = (_, own) => own): Evidence {
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
    const errors = readItems(read(value, 'errors'), MOST.siblings);
    // `errors` of ajv and similar libraries holds violations, not errors.
    const inner = errors.length === 0 || isValidationError(value) ? [] : mostTelling(below(errors));
    return linked.length + inner.length === 0 ? own : merge([own, ...linked, ...inner]);
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
const isNamed = (names: readonly string[], pattern: RegExp): boolean => names.some((name) => pattern.test(name));

/** Whether an error is a time-out (`ConnectTimeoutError`, `ReadTimeout`, …) or an abort, by its class or the DOMException code. */
export function stopKind(error: unknown): 'timeout' | 'cancelled' | undefined {
  const names = readNames(error);
  const code = isNamed(names, /^DOMException$/) && read(error, 'code');
  if (isNamed(names, TIMEOUT) || code === 23) return 'timeout';
  return isNamed(names, CANCELLED) || code === 20 ? 'cancelled' : undefined;
}

/** Whether a schema rejected a value: by class, by Standard Schema's `issues`, or by ajv's `errors`. */
function isValidationError(error: unknown): boolean {
  const has = (list: string, key: string) => readText(readItems(read(error, list), 1)[0], key) !== undefined;
  const told = has('issues', 'message') || (has('errors', 'keyword') && has('errors', 'schemaPath'));
  return told || isNamed(readNames(error), VALIDATION);
}

/** Reads one error, without its causes. */
function readOne(error: unknown): Evidence {
  const code = errorCode(error);
  const stop = stopKind(error);
  // AWS clients also name a reset connection `TimeoutError`; there the code decides.
  const reset = stop === 'timeout' && code?.category === 'network' && !code.vague;
  if (stop && !reset) return { category: stop, trust: TRUST[stop], sign: 'its class', code: 'class' };
  if (code) return { ...code, trust: TRUST.code };
  const status = statusMeaning(readStatus(error) ?? 0);
  if (status) return { ...status, trust: TRUST.status };
  if (isValidationError(error)) return { category: 'invalid_input', trust: TRUST.schema, sign: 'a schema refused it' };
  return { category: 'unknown', trust: TRUST.none, sign: 'nothing says why' };
}

/** The longest accepted wait: 7 days, in milliseconds. A longer one is usually a Unix time in place of seconds. */
export const MAX_RETRY_AFTER_MS = 7 * 24 * 3600 * 1000;

/** Paths to the headers of the response: OpenAI and fetch's `Response`; axios, got, ky; the AI SDK. */
const HEADER_PATHS = [['headers'], ['response', 'headers'], ['responseHeaders'], ['$response', 'headers']];

/** The wait in milliseconds that a failure asks for (O3), by its headers or its own `retryAfterMs` or `retryAfter` (seconds). */
export function readRetryAfter(error: unknown, unixMs: number): number | undefined {
  for (const path of HEADER_PATHS) {
    const headers = path.reduce(read, error);
    if (!isObject(headers)) continue; // Nearly all errors.
    const wait =
      believable(decimal(header(headers, 'retry-after-ms'))) ?? parseRetryAfter(header(headers, 'retry-after'), unixMs);
    if (wait !== undefined) return wait;
  }
  return believable(read(error, 'retryAfterMs')) ?? parseRetryAfter(read(error, 'retryAfter'), unixMs);
}

/** The wait in milliseconds that a `Retry-After` header asks for: '120' gives 120_000. */
export function parseRetryAfter(value: unknown, unixMs: number): number | undefined {
  const seconds = typeof value === 'number' ? value : decimal(value);
  if (seconds !== undefined) return believable(seconds * 1000);
  // `Date.parse` accepts almost anything. Only a value that begins with a day of the week is an HTTP date. The oldest form has no
  // zone.
  const date = typeof value === 'string' ? value.slice(0, 64).trim() : '';
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /.test(date)) return undefined;
  return believable(Math.max(0, Date.parse(date.endsWith('GMT') ? date : `${date} GMT`) - unixMs));
}

const decimal = (value: unknown): number | undefined =>
  typeof value === 'string' && /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(value.slice(0, 32)) ? Number(value) : undefined;

const believable = (ms: unknown): number | undefined =>
  typeof ms === 'number' && ms >= 0 && ms <= MAX_RETRY_AFTER_MS ? ms : undefined;

/** One header of a `Headers`, a `Map` or a plain object, which may have millions of keys, so they are not listed. */
function header(headers: unknown, name: string): unknown {
  const get = read(headers, 'get');
  const got = typeof get === 'function' ? guarded<unknown>(() => get.call(headers, name), undefined) : undefined;
  const titled = name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  const value = got ?? read(headers, name) ?? read(headers, titled) ?? read(headers, name.toUpperCase());
  const first = isObject(value) ? read(value, '0') : value;
  return typeof first === 'number' ? String(first) : first;
}
