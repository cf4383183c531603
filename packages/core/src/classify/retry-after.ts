import { guarded, isObject, read, readKeys } from './untrusted.ts';

/** The longest accepted wait: 7 days, in milliseconds. A longer one is usually a Unix time in place of seconds. */
export const MAX_RETRY_AFTER_MS = 7 * 24 * 3600 * 1000;

/** Paths to the headers of the response: OpenAI and fetch's `Response`; axios, got, ky; the AI SDK. */
const HEADER_PATHS = ['headers', 'response.headers', 'responseHeaders', '$response.headers'];

/** The wait in milliseconds that a failure asks for (O3), by its headers or its own `retryAfterMs` or `retryAfter` (seconds). */
export function readRetryAfter(error: unknown, unixMs: number): number | undefined {
  const asked = HEADER_PATHS.map((path) => path.split('.').reduce(read, error)).flatMap((headers) => [
    believable(decimal(header(headers, 'retry-after-ms'))),
    parseRetryAfter(header(headers, 'retry-after'), unixMs),
  ]);
  const own = [believable(read(error, 'retryAfterMs')), parseRetryAfter(read(error, 'retryAfter'), unixMs)];
  return [...asked, ...own].find((wait) => wait !== undefined);
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

/** One header of a `Headers`, a `Map` or a plain object in any case. */
function header(headers: unknown, name: string): unknown {
  const get = read(headers, 'get');
  const got = typeof get === 'function' ? guarded<unknown>(() => get.call(headers, name), undefined) : undefined;
  const key = readKeys(headers).find((candidate) => candidate.toLowerCase() === name) ?? name;
  const value = got ?? read(headers, key);
  const first = isObject(value) ? read(value, '0') : value;
  return typeof first === 'number' ? String(first) : first;
}
