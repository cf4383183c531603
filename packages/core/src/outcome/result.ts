import { readStatus } from './codes.ts';
import { guarded, isObject, read, readKeys } from './untrusted.ts';

/** Keys that tell of an error, and are not data that a tool was asked for. */
const ENVELOPE: ReadonlySet<string> = new Set(
  `error message code status statusCode statusText success ok isError details detail reason type name stack cause hint
    error_description error_uri validationErrors retryAfter retryAfterMs headers requestId timestamp`.split(/\s+/),
);

/**
 * The error that a result is; undefined for a success. It is an `Error`, a fetch `Response` that failed, `isError: true`, or an `error` (a
 * string, an object or `true`) beside nothing but keys that tell of it, or beside `success` or `ok` of false. `{ hits, error }` is a success.
 * `invalid`: a schema refused the arguments.
 */
export function readErrorResult(result: unknown): { readonly error: unknown; readonly invalid?: boolean } | undefined {
  if (isError(result)) return { error: result };
  // Nearly every result is data that say nothing of an error, known at one look. A proxy may throw.
  const isData = (value: object) => guarded(() => !('error' in value || 'isError' in value || 'ok' in value), false);
  if (!isObject(result) || isData(result)) return undefined;
  if (read(result, 'isError') === true) return { error: result };
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

/** Whether a value is an error of this realm. */
export const isError = (value: unknown): value is Error => guarded(() => value instanceof Error, false);
