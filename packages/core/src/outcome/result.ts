import { readStatus } from './http.ts';
import { isObject, read, readItems, readKeys, readText, TEXT_LIMIT } from './untrusted.ts';

/** An error that a tool returned instead of throwing it. */
export interface ErrorResult {
  /** What carries code, status, headers and message. */
  readonly error: unknown;
  /** Text beside it. */
  readonly text: string;
  /** The framework says that a schema refused the arguments. */
  readonly invalid?: boolean;
}

/** Keys that tell of an error, and are not data that a tool was asked for. */
const ENVELOPE: ReadonlySet<string> = new Set(
  `error message code status statusCode statusText success ok isError details detail reason type name stack cause hint
    error_description error_uri validationErrors retryAfter retryAfterMs headers requestId timestamp`.split(/\s+/),
);

/**
 * The error that a result is, or undefined where the result is a success:
 *
 * - an `Error` that was returned;
 * - a `Response` of fetch whose status is 400 to 599, or that is `Response.error()`; its body is not touched;
 * - `isError: true`: MCP of both majors; the text is that of its `content`;
 * - `error` that is a non-empty string, an object or `true`, if nothing else is said: every other key tells of the
 *   error (`message`, `code`, `status`, …) or is empty (null, undefined, `[]`); or if `success` or `ok` is false.
 *
 * A success therefore: `{error: null}`, `{error: ''}`, `{error: false}`, and `{hits: […], error: 'page 3 is missing'}`,
 * where `error` stands beside real data. So is any string, whatever it says: a tool may well return a log.
 */
export function readErrorResult(result: unknown): ErrorResult | undefined {
  if (!isObject(result) || isPlainAnswer(result)) return undefined;
  if (isError(result)) return { error: result, text: '' };
  const refusal = readResponse(result);
  if (refusal) return refusal;
  if (read(result, 'isError') === true) return { error: result, text: contentText(result) };
  const error = read(result, 'error');
  const said = error === true || isObject(error) || (typeof error === 'string' && error.trim() !== '');
  if (!said || !isErrorAlone(result)) return undefined;
  return {
    // Code, status and headers may be on either: the result first, then by its `error`, which is read like a cause.
    error: result,
    text: typeof error === 'string' ? error.slice(0, TEXT_LIMIT) : '',
    // Mastra: {error: true, message, validationErrors}
    invalid: isObject(read(result, 'validationErrors')),
  };
}

/** Data that say nothing of an error: nearly every result, known at one look. */
function isPlainAnswer(result: object): boolean {
  try {
    const prototype: unknown = Object.getPrototypeOf(result);
    if (prototype !== Object.prototype && prototype !== Array.prototype) return false;
    return !('error' in result || 'isError' in result || 'ok' in result);
  } catch {
    return false; // A proxy, which the guarded reads below will see through.
  }
}

/** Whether a value is an error of this realm. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** fetch's `Response`, undici's and node-fetch's. A redirect and an opaque answer are not `ok` either, and no errors. */
function readResponse(result: object): ErrorResult | undefined {
  if (read(result, 'ok') !== false || typeof read(result, 'bodyUsed') !== 'boolean') return undefined;
  if (read(result, 'type') === 'error') return { error: undefined, text: 'network error' };
  return readStatus(result) === undefined ? undefined : { error: result, text: '' };
}

function isErrorAlone(result: object): boolean {
  if (read(result, 'success') === false || read(result, 'ok') === false) return true;
  return readKeys(result).every((key) => ENVELOPE.has(key) || isEmpty(read(result, key)));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (isObject(value) && read(value, 'length') === 0);
}

/** The text parts of an MCP result's `content`, or of SDK 1's old `toolResult`. */
function contentText(result: object): string {
  const content = read(result, 'content');
  if (typeof content === 'string') return content.slice(0, TEXT_LIMIT);
  const parts = readItems(content, 16).map((part) => readText(part, 'text'));
  return parts
    .filter((part) => part !== undefined)
    .join('\n')
    .slice(0, TEXT_LIMIT);
}
