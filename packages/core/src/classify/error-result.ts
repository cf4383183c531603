import { readStatus } from './codes.ts';
import { isObject, read, readKeys } from './untrusted.ts';

/** Keys that describe an error and are not requested data. */
const ENVELOPE: ReadonlySet<string> = new Set(
  `error message code status statusCode statusText success ok isError details detail reason type name stack cause hint
    error_description error_uri validationErrors retryAfter retryAfterMs headers requestId timestamp`.split(/\s+/),
);

/**
 * The error in a result; undefined for a success. An error is an `Error`, a fetch `Response` that failed, `isError: true`, or an
 * `error` (a string, an object or `true`). An `error` counts only if all other keys describe it, or beside `success` or `ok` of
 * false. `{ hits, error }` is a success. `invalid`: a schema rejected the arguments.
 */
export function readErrorResult(result: unknown): { readonly error: unknown; readonly invalid?: boolean } | undefined {
  if (isError(result)) return { error: result };
  if (!isObject(result)) return undefined;
  try {
    if (!('error' in result || 'isError' in result || 'ok' in result)) return undefined; // Nearly every result.
  } catch {
    // A proxy may throw. Its properties are read one by one.
  }
  if (read(result, 'isError') === true) return { error: result };
  // `Response` of fetch, undici and node-fetch. A redirect and an opaque response are not `ok` either, but are not errors.
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

/** Whether a value is an error of this realm. */
export const isError = (value: unknown): value is Error => {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
};
