import { type Environment, envValue } from './environment.ts';

/** Shorter ones keep nobody out, and would make stars of the log's own words. */
const SHORTEST = 6;
/** Within a longer one, which may begin with a word such as `Bearer`. */
const SHORTEST_PART = 8;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** A secret as it may stand in a text: as it was written, decoded, in JSON, and in pieces where somebody has cut it. */
const formsOf = (text: string): string[] => {
  const plain = decoded(text).trim();
  const parts = [text, plain].flatMap((one) => one.split(/[\s;&=]+/)).filter((part) => part.length >= SHORTEST_PART);
  return [text.trim(), plain, JSON.stringify(plain).slice(1, -1), ...parts].filter(({ length }) => length >= SHORTEST);
};

/** Values of headers; and where the name was forgotten or mistyped, what stands in its place. */
const inHeaders = (headers: string): string[] =>
  headers.split(',').flatMap((header) => {
    const end = header.indexOf('=');
    const name = header.slice(0, Math.max(end, 0)).trim();
    return [header.slice(end + 1), ...(/^[\w.-]*$/.test(name) ? [] : [name])];
  });

/** The password of an address, and what is asked of it; the address may be one that no parser takes. */
const inEndpoint = (endpoint: string): string[] => {
  const user = endpoint.slice(0, Math.max(endpoint.lastIndexOf('@'), 0)).replace(/^[^/]*\/+/, '');
  return [user, user.slice(user.indexOf(':') + 1), endpoint.split('?')[1] ?? ''];
};

const secretsOf = (env: Environment): string[] =>
  ['', 'TRACES_', 'METRICS_', 'LOGS_'].flatMap((signal) => [
    ...inHeaders(envValue(env, `OTEL_EXPORTER_OTLP_${signal}HEADERS`) ?? ''),
    ...inEndpoint(envValue(env, `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`) ?? ''),
  ]);

const known = new Set<string>();
let pattern: RegExp | undefined;

/** Remembers what the environment has for OTLP that is nobody else's to read, for as long as the process lives. */
export function learnSecrets(env: Environment): void {
  for (const form of secretsOf(env).flatMap(formsOf)) known.add(form);
  const longestFirst = [...known].sort((one, other) => other.length - one.length);
  const literal = longestFirst.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // gRPC writes the names of headers in small letters.
  pattern = literal.length > 0 ? new RegExp(literal.join('|'), 'gi') : undefined;
}

/** The text with stars for all secrets that were learned. */
export const withoutSecrets = (text: string): string => (pattern ? text.replaceAll(pattern, '***') : text);
