import type { CodeMeaning } from './node-errors.ts';
import { isObject, read } from './untrusted.ts';

/**
 * gRPC's statuses; 0 is none, and 2 (UNKNOWN) says nothing. NOT_FOUND, ALREADY_EXISTS and FAILED_PRECONDITION speak of
 * what was asked for: thrown they are the model's mistake, in the text of an error result they are an answer. INTERNAL
 * is also what Node's client says of a connection that broke: where its text has an error code, that is believed.
 */
const STATUSES: ReadonlyMap<string, CodeMeaning> = new Map<string, CodeMeaning>([
  ['1 CANCELLED', { category: 'cancelled' }],
  ['3 INVALID_ARGUMENT', { category: 'invalid_input' }],
  ['4 DEADLINE_EXCEEDED', { category: 'timeout' }],
  ['5 NOT_FOUND', { category: 'invalid_input', aboutInput: true }],
  ['6 ALREADY_EXISTS', { category: 'invalid_input', aboutInput: true }],
  ['7 PERMISSION_DENIED', { category: 'permission' }],
  ['8 RESOURCE_EXHAUSTED', { category: 'resource' }],
  ['9 FAILED_PRECONDITION', { category: 'invalid_input', aboutInput: true }],
  ['10 ABORTED', { category: 'server' }],
  ['11 OUT_OF_RANGE', { category: 'invalid_input' }],
  ['12 UNIMPLEMENTED', { category: 'server' }],
  ['13 INTERNAL', { category: 'server', vague: true }],
  ['14 UNAVAILABLE', { category: 'network' }],
  ['15 DATA_LOSS', { category: 'server' }],
  ['16 UNAUTHENTICATED', { category: 'permission' }],
]);

/** By the bare name, with neither number nor underscore: 'DEADLINE_EXCEEDED' and 'DeadlineExceeded' are one. */
const BY_NAME: ReadonlyMap<string, CodeMeaning> = new Map(
  [...STATUSES].map(([status, meaning]) => [flat(status.replace(/^\d+ /, '')), meaning]),
);

const BY_NUMBER: ReadonlyMap<number, CodeMeaning> = new Map(
  [...STATUSES].map(([status, meaning]) => [Number.parseInt(status, 10), meaning]),
);

/**
 * What a gRPC status in a text means. Only in the forms of its libraries, for a row 14 of seats is unavailable too:
 * '14 UNAVAILABLE: No connection established' (Node), 'code = Unavailable' (Go), 'StatusCode.UNAVAILABLE' (Python).
 */
export function grpcStatusIn(text: string): CodeMeaning | undefined {
  const numbered = /(?:^|: )(\d{1,2} [A-Z_]{7,20}):/.exec(text)?.[1];
  const named = /\b(?:rpc error: code = |StatusCode\.)([A-Za-z_]{7,20})\b/.exec(text)?.[1];
  return STATUSES.get(numbered ?? '') ?? BY_NAME.get(flat(named ?? ''));
}

/** What the numeric `code` of a gRPC error means. So small a number counts beside `details` and `metadata` alone. */
export function grpcCode(error: unknown, code: number): CodeMeaning | undefined {
  const vouched = read(error, 'details') !== undefined && isObject(read(error, 'metadata'));
  return vouched ? BY_NUMBER.get(code) : undefined;
}

function flat(name: string): string {
  return name.replaceAll('_', '').toLowerCase().replace('canceled', 'cancelled'); // Go: 'Canceled'
}
