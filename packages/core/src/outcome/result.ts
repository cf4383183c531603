import { readStatus } from './codes.ts';
import { isObject, read, readKeys } from './untrusted.ts';

/** Keys that tell of an error, and are not data that a tool was asked for. */
const ENVELOPE: ReadonlySet<string> = new Set(
  `error message code status statusCode statusText success ok isError details detail reason type name stack cause hint
    error_description error_uri validationErrors retryAfter retryAfterMs headers requestId timestamp`.split(/\s+/),
);

/**
 * The error that a result is, or undefined where the result is a success:
 *
 * - an `Error` that was returned; a `Response` of fetch whose status is 400 to 599, or that is `Response.error()`;
 * - `isError: true`: MCP of both majors;
 * - `error` that is a non-empty string, an object or `true`, if nothing else is said: every other key tells of the
 *   error (`message`, `code`, `status`, …) or is empty (null, undefined, '', `[]`); or if `success` or `ok` is false.
 *
 * A success therefore: `{error: null}`, any string, and `{hits: […], error: 'page 3 is missing'}`. `invalid` says that a schema refused
 * the arguments.
 */
export function readErrorResult(result: unknown): { readonly error: unknown; readonly invalid?: boolean } | undefined {
  if (!isObject(result) || isPlainAnswer(result)) return undefined;
  if (isError(result) || read(result, 'isError') === true) return { error: result };
  // fetch's `Response`, undici's and node-fetch's. A redirect and an opaque answer are not `ok` either, and no errors.
  if (read(result, 'ok') === false && typeof read(result, 'bodyUsed') === 'boolean') {
    if (read(result, 'type') === 'error') return { error: { code: 'ERR_NETWORK' } };
    if (readStatus(result) !== undefined) return { error: result };
  }
  const error = read(result, 'error');
  const said = error === true || isObject(error) || (typeof error === 'string' && error.trim() !== '');
  const refused = read(result, 'success') === false || read(result, 'ok') === false;
  const isNothing = (value: unknown) =>
    value === null || value === undefined || value === '' || read(value, 'length') === 0;
  const alone = () => readKeys(result).every((key) => ENVELOPE.has(key) || isNothing(read(result, key)));
  if (!said || !(refused || alone())) return undefined;
  return { error: result, invalid: isObject(read(result, 'validationErrors')) }; // Mastra: {error: true, validationErrors}
}

/** Data that say nothing of an error: nearly every result, known at one look. */
function isPlainAnswer(result: object): boolean {
  try {
    const prototype: unknown = Object.getPrototypeOf(result);
    if (prototype !== Object.prototype && prototype !== Array.prototype) return false;
    return !('error' in result || 'isError' in result || 'ok' in result);
  } catch {
    return false; // A proxy, which the guarded reads above see through.
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
