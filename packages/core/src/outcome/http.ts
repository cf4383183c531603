import type { ErrorCategory } from './taxonomy.ts';
import { read, readNames } from './untrusted.ts';

/** What an HTTP status means (O2); undefined for one that is no error. */
export function statusCategory(status: number): ErrorCategory | undefined {
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined;
  if (status === 401 || status === 403 || status === 407) return 'permission';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 429) return 'rate_limit';
  return status < 500 ? 'invalid_input' : 'server';
}

/** Where libraries keep the status: fetch wrappers, OpenAI, Anthropic; got, AI SDK; axios, ky; AWS. */
const STATUS_PATHS: readonly (readonly string[])[] = [
  ['status'],
  ['statusCode'],
  ['response', 'status'],
  ['response', 'statusCode'],
  ['$metadata', 'httpStatusCode'],
];

/** Classes whose numeric `code` is a status: MCP's `StreamableHTTPError` and `SseError`, Google's `GaxiosError`. */
const STATUS_IN_CODE = /^(?:StreamableHTTP|Sse|Gaxios|Http|HTTP|Api|API)\w*Error$/;

/** The HTTP error status (400 to 599) that an error carries, if any. A `code` counts where the class vouches for it. */
export function readStatus(error: unknown): number | undefined {
  for (const path of STATUS_PATHS) {
    const status = asStatus(path.reduce(read, error));
    if (status !== undefined) return status;
  }
  return readNames(error).some((name) => STATUS_IN_CODE.test(name)) ? asStatus(read(error, 'code')) : undefined;
}

function asStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && statusCategory(status) ? status : undefined;
}
