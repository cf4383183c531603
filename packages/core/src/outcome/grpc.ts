import type { CodeMeaning } from './node-errors.ts';
import type { ErrorCategory } from './taxonomy.ts';

/** gRPC's statuses that tell of an outage. The others, such as NOT_FOUND, speak of what was asked for. */
const STATUSES: ReadonlyMap<string, ErrorCategory> = new Map<string, ErrorCategory>([
  ['4 DEADLINE_EXCEEDED', 'timeout'],
  ['7 PERMISSION_DENIED', 'permission'],
  ['8 RESOURCE_EXHAUSTED', 'resource'],
  ['13 INTERNAL', 'server'],
  ['14 UNAVAILABLE', 'network'],
  ['16 UNAUTHENTICATED', 'permission'],
]);

/** By the bare name, with neither number nor underscore: 'DEADLINE_EXCEEDED' and 'DeadlineExceeded' are one. */
const BY_NAME: ReadonlyMap<string, ErrorCategory> = new Map(
  [...STATUSES].map(([status, category]) => [flat(status.replace(/^\d+ /, '')), category]),
);

/**
 * What a gRPC status in a text means. Only in the forms of its libraries, for a row 14 of seats is unavailable too:
 * '14 UNAVAILABLE: No connection established' (Node), 'code = Unavailable' (Go), 'StatusCode.UNAVAILABLE' (Python).
 */
export function grpcStatusIn(text: string): CodeMeaning | undefined {
  const numbered = /(?:^|: )(\d{1,2} [A-Z_]{8,20}):/.exec(text)?.[1];
  const named = /\b(?:rpc error: code = |StatusCode\.)([A-Za-z_]{8,20})\b/.exec(text)?.[1];
  const category = STATUSES.get(numbered ?? '') ?? BY_NAME.get(flat(named ?? ''));
  return category && { category };
}

function flat(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}
