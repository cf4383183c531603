import { isObject, read, readNames, readText } from '@breakerbox/core/internal';
import { orUndefined } from '../untrusted.ts';

/** What an error of a model's provider says, in whichever wire format. Kept for one judgement only, because texts may quote the prompt. */
export interface ModelErrorFacts {
  /** HTTP status of the answer, or the one that an error event means. */
  readonly status: number | undefined;
  /** Whether {@link status} is that of a real answer. */
  readonly isHttp: boolean;
  /** Codes, types and reasons, in lower case. */
  readonly codes: ReadonlySet<string>;
  /** Messages, in lower case and shortened. */
  readonly text: string;
  /** Name of the parameter that the error is about. */
  readonly param: string;
  /** Header of the answer. */
  header(name: string): string | undefined;
  /** Details of Google's format. */
  readonly details: readonly unknown[];
  /** Name of the error's own class. */
  readonly name: string;
  /** Whether a client's helper for structured output threw it while it read the text of a whole answer. */
  readonly isParsed: boolean;
  /** Names of the error classes, from the error to its causes. */
  readonly names: ReadonlySet<string>;
}

const DEEPEST = 4;
const LONGEST = 4_000;

/** HTTP statuses that error types of providers stand for. Events in a stream have no status of their own. */
const STATUS_OF: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  overloaded: 529,
  engine_overloaded: 529,
  api_error: 500,
  server_error: 500,
  internal_error: 500,
  internal_server_error: 500,
  internal: 500,
  unavailable: 503,
  service_unavailable: 503,
  bad_gateway: 502,
  timeout_error: 504,
  deadline_exceeded: 504,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  resource_exhausted: 429,
  too_many_requests: 429,
  insufficient_quota: 402,
  billing_error: 402,
  authentication_error: 401,
  invalid_api_key: 401,
  unauthenticated: 401,
  permission_error: 403,
  permission_denied: 403,
  not_found_error: 404,
  not_found: 404,
  model_not_found: 404,
  request_too_large: 413,
  context_length_exceeded: 400,
  invalid_request_error: 400,
  invalid_argument: 400,
  invalid_prompt: 400,
};

/** Reads an error that a provider's client threw, or that a stream told of. Never throws. */
export const readModelError = (error: unknown): ModelErrorFacts => {
  const chain = chainOf(error);
  const bodies = chain.flatMap(bodiesOf);
  const objects = [...chain, ...bodies];
  const own = first(chain, ownStatus);
  const codes = new Set(objects.flatMap(codesOf));
  const event = first(objects, (one) => statusIn(read(one, 'code')) ?? statusIn(read(one, 'status')));
  const meant = [...codes].map((code) => STATUS_OF[code]).find((status) => status !== undefined);
  const text = objects.flatMap((one) => textsOf(one)).join('\n');
  return {
    status: statusOf(own, event ?? meant),
    isHttp: own !== undefined,
    codes,
    text: text.slice(0, LONGEST).toLowerCase(),
    param: first(objects, (one) => stringIn(read(one, 'param'))) ?? '',
    header: (name) => first(chain, (one) => headerIn(one, name)),
    details: first(objects, (one) => arrayIn(read(one, 'details'))) ?? [],
    name: nameOf(error),
    isParsed: PARSER.test(readText(error, 'stack') ?? ''),
    names: new Set(chain.flatMap(readNames)),
  };
};

/** Helpers of OpenAI's client. A `SyntaxError` that they throw is about the text of an answer, and not about its body. */
const PARSER = /\bat (?:\S+\.)?parse(?:ChatCompletion|ResponseFormat|TextFormat)/;

/** Errors of OpenAI's client keep the name `Error`. */
const nameOf = (error: unknown): string => readNames(error).find((name) => name !== 'Error') ?? '';

/** `status_code` is Ollama's, and `$metadata` that of AWS. */
const ownStatus = (one: unknown): number | undefined =>
  statusIn(read(one, 'statusCode')) ??
  statusIn(read(one, 'status')) ??
  statusIn(read(one, 'status_code')) ??
  statusIn(read(read(one, '$metadata'), 'httpStatusCode')) ??
  statusIn(read(read(one, 'response'), 'status'));

/** A client may give 400 to an error that came with another status, so that the error's own type says more. */
const statusOf = (own: number | undefined, said: number | undefined): number | undefined =>
  own === undefined || own <= 400 ? (said ?? own) : own;

/** The error and its causes. A failed response of OpenAI has its error below `response`. */
const chainOf = (error: unknown): readonly unknown[] => {
  const found: unknown[] = [];
  let next = error;
  while (found.length < DEEPEST && next !== undefined && next !== null && !found.includes(next)) {
    found.push(next);
    next = read(next, 'cause') ?? read(next, 'lastError');
  }
  return found;
};

/** What the provider answered: parsed by the client, or as text. */
const bodiesOf = (error: unknown): readonly unknown[] => {
  const given = [
    read(error, 'data'),
    parsed(read(error, 'responseBody')),
    parsed(read(error, 'error')),
    read(error, 'response'),
    parsed(read(read(error, 'response'), 'data')), // axios
    typeof error === 'string' ? parsed(error) : undefined,
  ];
  const bodies = given.filter(isObject);
  // Gemini's compatible endpoint answers with a list of one.
  return bodies.flatMap((body) => {
    const one = Array.isArray(body) ? body[0] : body;
    const inner = parsed(read(one, 'error'));
    return [inner, one, read(inner, 'metadata')].filter(isObject);
  });
};

const parsed = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (value.length > 100_000 || !/^\s*[[{]/.test(value)) return undefined;
  return orUndefined(() => JSON.parse(value) as unknown);
};

const codesOf = (one: unknown): readonly string[] => {
  const details = arrayIn(read(one, 'details')) ?? [];
  const reasons = details.map((detail) => read(detail, 'reason'));
  return ['code', 'type', 'status']
    .map((key) => read(one, key))
    .concat(reasons)
    .flatMap((code) => (typeof code === 'string' && code.length < 100 ? [code.toLowerCase()] : []));
};

const textsOf = (one: unknown): readonly string[] => {
  if (typeof one === 'string') return [one.slice(0, LONGEST)];
  const message = read(one, 'message') ?? (typeof read(one, 'error') === 'string' ? read(one, 'error') : undefined);
  return typeof message === 'string' ? [message.slice(0, LONGEST)] : [];
};

const headerIn = (error: unknown, name: string): string | undefined => {
  const own = read(error, 'responseHeaders') ?? read(error, 'headers') ?? read(read(error, 'response'), 'headers');
  if (!isObject(own)) return undefined;
  const get = read(own, 'get');
  const value = typeof get === 'function' ? orUndefined(() => (own as unknown as Headers).get(name)) : read(own, name);
  const found =
    value ??
    read(
      own,
      name.replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase()),
    );
  return typeof found === 'string' || typeof found === 'number' ? `${found}` : undefined;
};

const statusIn = (value: unknown): number | undefined => {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && status >= 100 && status < 600 ? status : undefined;
};

const stringIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const arrayIn = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);

const first = <Found>(all: readonly unknown[], find: (one: unknown) => Found | undefined): Found | undefined => {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
};
