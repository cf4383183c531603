import { isObject, read, readKeys } from './untrusted.ts';

/**
 * The longest wait that is believed: 7 days, in milliseconds. More is a mistake of the server, most often a Unix time
 * where seconds belong, and is taken as not said.
 */
export const MAX_RETRY_AFTER_MS = 7 * 24 * 3600 * 1000;

/** Where the headers of the answer are: OpenAI and fetch's `Response`; axios, got, ky; the AI SDK. */
const HEADER_PATHS: readonly (readonly string[])[] = [
  ['headers'],
  ['response', 'headers'],
  ['responseHeaders'],
  ['$response', 'headers'],
];

/**
 * The wait in milliseconds that a failure asks for (O3): `retry-after-ms` and `Retry-After` of its headers, else its
 * own `retryAfterMs` and `retryAfter` (seconds). Undefined where it asks for none, or for nonsense. A date that has
 * passed is 0.
 */
export function readRetryAfter(error: unknown, unixMs: number): number | undefined {
  for (const path of HEADER_PATHS) {
    const headers = path.reduce(read, error);
    const wait =
      believable(decimal(header(headers, 'retry-after-ms'))) ?? parseRetryAfter(header(headers, 'retry-after'), unixMs);
    if (wait !== undefined) return wait;
  }
  const ms = read(error, 'retryAfterMs');
  const seconds = read(error, 'retryAfter');
  return (
    (typeof ms === 'number' ? believable(ms) : undefined) ??
    (typeof seconds === 'number' ? believable(seconds * 1000) : parseRetryAfter(seconds, unixMs))
  );
}

/**
 * The wait in milliseconds that the value of a `Retry-After` header stands for.
 *
 * @example parseRetryAfter('120', Date.now()) // 120_000
 */
export function parseRetryAfter(value: unknown, unixMs: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const seconds = decimal(value);
  if (seconds !== undefined) return believable(seconds * 1000);
  const date = parseHttpDate(value.slice(0, 64).trim());
  return date === undefined ? undefined : believable(Math.max(0, date - unixMs));
}

const TEXT_WAIT = /\bretry[- ]after["']?[ :=]{1,3}["']?(\d{1,7})\b(?! ?(?:ms|milli|min|hour|day))/i;

/** The wait in milliseconds that a text quotes, as in 'HTTP 429, Retry-After: 30'. */
export function retryAfterInText(text: string): number | undefined {
  const seconds = TEXT_WAIT.exec(text)?.[1];
  return seconds === undefined ? undefined : believable(Number(seconds) * 1000);
}

/** `Date.parse` takes almost anything, '-5' for one: only what begins with a day of the week is an HTTP date. */
function parseHttpDate(value: string): number | undefined {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /.test(value)) return undefined;
  // The oldest of the three forms names no zone, and means GMT.
  const time = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

function decimal(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.slice(0, 32).trim();
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

function believable(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 0 && ms <= MAX_RETRY_AFTER_MS ? ms : undefined;
}

/** One header of a `Headers`, a `Map` or a plain object in any case. */
function header(headers: unknown, name: string): unknown {
  if (!isObject(headers)) return undefined;
  const get = read(headers, 'get');
  if (typeof get === 'function') {
    try {
      const value: unknown = get.call(headers, name);
      if (value !== undefined && value !== null) return single(value);
    } catch {
      // An odd `get` is not a reason to miss a plain property.
    }
  }
  const key = readKeys(headers).find((candidate) => candidate.toLowerCase() === name);
  return key === undefined ? undefined : single(read(headers, key));
}

function single(value: unknown): unknown {
  const first = isObject(value) ? read(value, '0') : value;
  return typeof first === 'number' ? String(first) : first;
}
