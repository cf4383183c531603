import { type Environment, envValue } from './environment.ts';

/** Fewest characters of a secret. A shorter one protects nothing, and would replace ordinary words of the log. */
const SHORTEST = 6;
/** Fewest characters of a part of a secret. The whole may begin with a word such as `Bearer`. */
const SHORTEST_PART = 8;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The forms in which a secret may appear in a text: as written, decoded, in JSON, and in parts. */
const formsOf = (text: string): string[] => {
  const plain = decoded(text).trim();
  const parts = [text, plain].flatMap((one) => one.split(/[\s;&=]+/)).filter((part) => part.length >= SHORTEST_PART);
  return [text.trim(), plain, JSON.stringify(plain).slice(1, -1), ...parts].filter(({ length }) => length >= SHORTEST);
};

/** Values of headers. Where the name is missing or mistyped, the text before `=` counts as a secret too. */
const inHeaders = (headers: string): string[] =>
  headers.split(',').flatMap((header) => {
    const end = header.indexOf('=');
    const name = header.slice(0, Math.max(end, 0)).trim();
    return [header.slice(end + 1), ...(/^[\w.-]*$/.test(name) ? [] : [name])];
  });

/** The password and the query of an address. The address need not be a valid URL. */
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

/** Remembers the secrets in the OTLP variables, until the process ends. */
export function learnSecrets(env: Environment): void {
  for (const form of secretsOf(env).flatMap(formsOf)) known.add(form);
  const longestFirst = [...known].sort((one, other) => other.length - one.length);
  const literal = longestFirst.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // gRPC writes header names in lower case.
  pattern = literal.length > 0 ? new RegExp(literal.join('|'), 'gi') : undefined;
}

/** The text with `***` in place of every known secret. */
export const withoutSecrets = (text: string): string => (pattern ? text.replaceAll(pattern, '***') : text);
