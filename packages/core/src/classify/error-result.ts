import { guarded, isObject, read, readItems, readKeys, readText } from '../safely.ts';
import { readStatus } from './codes.ts';

/** Keys that describe an error and are not requested data. */
const ENVELOPE: ReadonlySet<string> = new Set(
  `advice error errors message msg errmsg errcode code status statusCode statusText success successful ok isError details detail description title instance reason
    type __type name stack cause hint error_code error_description error_uri error_message errorCode errorType errorMessage validationErrors
    retryAfter retryAfterMs headers requestId request_id RequestId trace_id traceId documentation_url timestamp jsonrpc`.split(
    /\s+/,
  ),
);

/** Keys of which one is in every error result. Nearly every other result has none of them. */
const MARKS =
  'error isError ok success successful errors status statusCode type __type errorMessage error_message'.split(' ');

/** The error in a result. */
export interface ErrorResult {
  readonly error: unknown;
  /** A schema rejected the arguments. */
  readonly invalid?: boolean;
  /** It may be data, such as a build that failed. It is an error only if its own text is evidence of an outage. */
  readonly weak?: boolean;
}

/**
 * The error that a result says it is (O9); undefined for a success. Strong forms: an `Error`, a fetch `Response` that failed, MCP's
 * `isError`, a JSON-RPC error, and an object of which all non-empty keys describe an error, where one says so: a flag that is false,
 * an error, or an HTTP status. Weak: the same beside other keys, and `status` or `type` of `error` or `failed`.
 */
export function readErrorResult(result: unknown): ErrorResult | undefined {
  if (isError(result)) return { error: result };
  if (!isObject(result)) return undefined;
  // A proxy may throw. Its properties are read one by one.
  if (!guarded(() => MARKS.some((key) => key in result), true)) return undefined;
  const isRpcError = read(result, 'jsonrpc') === '2.0' && isSaid(read(result, 'error'));
  if (isRpcError || read(result, 'isError') === true) return { error: result };
  const flags = ['ok', 'success', 'successful'].map((key) => read(result, key));
  // `Response` of fetch, undici and node-fetch. A redirect and an opaque response are not `ok` either, but are not errors.
  if (flags[0] === false && typeof read(result, 'bodyUsed') === 'boolean') {
    if (read(result, 'type') === 'error') return { error: { code: 'ERR_NETWORK' } };
    return readStatus(result) === undefined ? undefined : { error: result };
  }
  // A linter or a validator has found something.
  const errors = read(result, 'errors');
  const isFine = flags.includes(true) || read(result, 'valid') === false || isFindings(errors, result);
  if (isFine || read(result, 'isError') === false) return undefined;
  const said = ['error', 'errorMessage', 'error_message', '__type'].some((key) => isSaid(read(result, key)));
  const listed = !isNothing(errors);
  if ((said || listed) && !isEmpty(read(result, 'data'))) return undefined; // Partial data of GraphQL.
  const status = [read(result, 'status'), read(result, 'statusCode')].some(isErrorStatus);
  const strong = said || listed || flags.includes(false) || status;
  const named = ['status', 'type'].some((key) => LABEL.test(readText(result, key, 40) ?? ''));
  if (!strong && !named) return undefined;
  const alone = readKeys(result).every((key) => ENVELOPE.has(key) || isEmpty(read(result, key)));
  if (!alone && !strong) return undefined;
  if (!alone || !strong) return { error: result, weak: true };
  return { error: result, invalid: isObject(read(result, 'validationErrors')) }; // Mastra: {error: true, validationErrors}
}

/** Google's APIs say `OVER_QUERY_LIMIT`, for example. */
const LABEL =
  /^(?:error|ERROR|Error|fail(?:ed|ure)?|FAIL(?:ED|URE)?|Fail(?:ed|ure)?|[A-Z_]+_(?:DENIED|LIMIT|ERROR|EXHAUSTED))$/;

const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || value === false || read(value, 'length') === 0;
/** No data: nothing, or an object of nothing, such as GraphQL's `{ user: null }`. */
const isEmpty = (value: unknown): boolean =>
  isNothing(value) ||
  (isObject(value) && readKeys(value).every((key) => isNothing(read(value, key))) && !isError(value));
const isSaid = (error: unknown): boolean =>
  error === true || isObject(error) || (typeof error === 'string' && error.trim() !== '');
const isErrorStatus = (status: unknown): boolean =>
  ['number', 'string'].includes(typeof status) && /^[45]\d\d$/.test(String(status));

/** Whether `errors` lists places in a file, as linters do. GraphQL names a path too, beside data that is null or has only nulls. */
const isFindings = (errors: unknown, result: unknown): boolean => {
  const data = read(result, 'data');
  const keys = data !== undefined && isEmpty(data) ? ['line', 'file', 'ruleId'] : ['line', 'file', 'ruleId', 'path'];
  return readItems(errors, 8).some((one) => keys.some((key) => read(one, key) !== undefined));
};

/** Whether a value is an error of this realm. Without a closure, because every call is asked. */
export const isError = (value: unknown): value is Error => {
  try {
    return value instanceof Error;
  } catch {
    return false; // A proxy may throw.
  }
};
