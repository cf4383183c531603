import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { read, readText, statusMeaning, visible } from '@breakerbox/core/internal';
import { CANCELLED, TOO_LONG } from './call-ending.ts';
import { mediaType, namesSession } from './http-answer.ts';
import { type HttpTarget, StaleConnectionError } from './http-target.ts';
import type { RequestFailure } from './relay.ts';
import { TooLongError } from './too-long.ts';

/**
 * The connection was refused, broke, or ended before the answer.
 *
 * @param isReachable Whether the server can be reached all the same. Then a proxy has cut this exchange, and only the tool has failed.
 *   Otherwise none of the server's tools can be reached (C13).
 */
export const connectionFailure = (host: string, isReachable: boolean, error?: unknown): RequestFailure => {
  const code = readText(error, 'code', 40);
  const text =
    error === undefined
      ? `The connection to the MCP server (${host}) ended before the answer.`
      : `The connection to the MCP server (${host}) failed${code === undefined ? '' : ` (${code})`}.`;
  const verdict = { category: 'network' } as const;
  return { text, settlement: { error: new Error(text), verdict, ...(!isReachable && { blames: 'group' as const }) } };
};

/**
 * The server answered with an HTTP status in place of a message.
 *
 * @param problem The body. What it says is shown without the secrets that the server was sent.
 * @param isKnown Whether the server has answered before, so that its address is right.
 */
export const statusFailure = (
  target: HttpTarget,
  response: IncomingMessage,
  problem: Buffer,
  isKnown = false,
): RequestFailure => {
  const { statusCode: status = 0, headers } = response;
  const after = headers['retry-after'];
  const meaning = `HTTP ${status}${STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`}`;
  const wait = after === undefined ? '' : `, Retry-After: ${after.slice(0, 40)}`;
  const said = saidIn(problem, mediaType({ headers }));
  const quote = said === undefined ? '' : ` It says: ${sentence(target.redacted(said))}`;
  const advice = (isKnown ? undefined : ADDRESS[status]) ?? ADVICE[status] ?? movedTo(status, headers.location);
  const text = `The MCP server (${target.host}) answered with ${meaning}${wait}.${quote}${advice}`;
  const error = Object.assign(new Error(`${meaning}${wait}`), {
    status,
    ...(after !== undefined && { headers: { 'retry-after': after } }),
  });
  const isReason = problem.includes('"jsonrpc"') || (status === 422 && said !== undefined);
  const isNoServer = isWithoutServer(status) && (!isReason || namesSession(response, problem));
  return { text, status, settlement: { error, ...(isNoServer && { verdict: { category: 'server' } as const }) } };
};

/** Characters of what a server says that are shown. */
const MOST_SAID = 300;

/** What the body of an error says: the message of JSON-RPC, that of the usual forms of HTTP APIs, or a plain line. */
const saidIn = (problem: Buffer, type: string): string | undefined => {
  const body = type === 'text/plain' ? problem.toString() : parsed(problem);
  const error = read(body, 'error');
  const texts = [
    body,
    read(error, 'message'),
    read(body, 'error_description'),
    error,
    read(body, 'message'),
    read(body, 'detail'),
    firstOf(read(body, 'detail')),
    firstOf(read(body, 'errors')),
    read(body, 'title'),
  ];
  const said = texts.find((one): one is string => typeof one === 'string' && one.trim() !== '');
  if (said === undefined) return undefined;
  const line = visible(said.replace(/\s+/g, ' ').trim());
  return line.length > MOST_SAID ? `${line.slice(0, MOST_SAID)}…` : line;
};

/** The first of several problems. FastAPI says in `loc` which part of the request it means: `body`, then the names of fields. */
const firstOf = (problems: unknown): string | undefined => {
  const problem = Array.isArray(problems) ? problems[0] : undefined;
  const said = readText(problem, 'msg') ?? readText(problem, 'message');
  const place = read(problem, 'loc');
  return said && Array.isArray(place) ? `${place.slice(0, MOST_PLACE).join('.')}: ${said}` : said;
};

/** Names of a place that are shown. */
const MOST_PLACE = 6;

const sentence = (said: string): string => (/[.!?…]$/.test(said) ? said : `${said}.`);

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined; // A page of a proxy.
  }
};

/** Where the server lives now. A query may hold secrets. */
const movedTo = (status: number, location: string | undefined): string => {
  if (status < 300 || status >= 400) return '';
  if (location === undefined || !URL.canParse(location)) return ' The server has moved. Find out its new address.';
  const { origin, pathname } = new URL(location);
  return ` The server has moved to ${visible(`${origin}${pathname}`.slice(0, MOST_SAID))}. Write that address.`;
};

/**
 * At such an address there is no MCP server, unless it says so itself in a message. The arguments of the call are in the body, so they
 * are the reason of a 413 only, and of a 422 that says what is wrong (O2).
 */
const isWithoutServer = (status: number): boolean =>
  (status >= 300 && status < 400) || (status !== 413 && statusMeaning(status)?.category === 'invalid_input');

const ADVICE: Readonly<Record<number, string>> = {
  401:
    ' breakerbox mcp does no OAuth. Give it a token: --header-env Authorization=VARIABLE, with the value "Bearer ..." in that variable.' +
    ' For a server that needs a login, connect the client to it without breakerbox mcp.',
  403: ' The server, or a firewall before it, refuses the request. If it needs a token, check the value of --header or --header-env.',
};

/** The same for a server that has never answered. */
const ADDRESS: Readonly<Record<number, string>> = {
  404: ' Check the address: most servers end with /mcp.',
  405:
    ' Check the address: this one takes no messages. A server of the older SSE transport answers so, and breakerbox mcp does not speak it.' +
    ' Use the address for streamable HTTP, which often ends with /mcp, or connect the client without breakerbox mcp.',
};

/** The server answered with an error that names no request: it could not read the one that it got. */
export const unnamedFailure = (target: HttpTarget, error: unknown): RequestFailure => {
  const message = readText(error, 'message', MOST_SAID) ?? 'an error without a message';
  const text = `The MCP server (${target.host}) answered with an error: ${target.redacted(visible(message))}`;
  const code = read(error, 'code');
  return { text, settlement: { error: Object.assign(new Error(message), { name: 'McpError', code }) } };
};

/** The call waited while another one has shown that the server cannot be reached. */
export const notSent = (host: string): RequestFailure => ({
  text: `The call was not sent, because the MCP server (${host}) cannot be reached. Do not call its tools now.`,
  settlement: CANCELLED,
});

/** Why an exchange has no answer. */
export const failureOf = async (target: HttpTarget, error: unknown): Promise<RequestFailure> => {
  if (error instanceof TooLongError) return { text: error.message, settlement: TOO_LONG };
  if (error instanceof StaleConnectionError) return staleFailure(target.host, error);
  return connectionFailure(target.host, await target.isReachable(error), error);
};

/** An idle connection was closed at the moment of the request. The server can be reached, so at most the tool is the reason. */
const staleFailure = (host: string, { isExcused }: StaleConnectionError): RequestFailure => {
  const text = `The connection to the MCP server (${host}) was closed at the moment of the request. It is not known whether the server has got it.`;
  const failed = { error: new Error(text), verdict: { category: 'network' } } as const;
  return { text, settlement: isExcused ? { outcome: 'ignored', category: 'network' } : failed };
};

/** The server answered, but not with a message. */
export const garbageFailure = (host: string): RequestFailure => {
  const text = `The MCP server (${host}) answered with something that is not a JSON-RPC message.`;
  return { text, settlement: { error: new Error(text), verdict: { category: 'server' } } };
};

/** The client over stdio does not look at the headers that a tool declares, so the relay rejects the tool (SEP-2243). */
export const toolFailure = (tool: string): RequestFailure => ({
  text: `Tool '${tool}' cannot be called, because its definition declares an HTTP header (x-mcp-header) that is not valid. Do not call it again.`,
  settlement: { outcome: 'ignored', category: 'invalid_input' },
});
