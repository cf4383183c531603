import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { readText } from '@breakerbox/core/internal';
import { TOO_LONG } from './call-ending.ts';
import { StaleConnectionError } from './http-target.ts';
import type { RequestFailure } from './relay.ts';
import { TooLongError } from './too-long.ts';

const NETWORK = { verdict: { category: 'network' }, blames: 'group' } as const;

/** The connection was refused, broke, or ended before the answer. None of the server's tools can be reached (C13). */
export const connectionFailure = (host: string, error?: unknown): RequestFailure => {
  const code = readText(error, 'code', 40);
  const text =
    error === undefined
      ? `The connection to the MCP server (${host}) ended before the answer.`
      : `The connection to the MCP server (${host}) failed${code === undefined ? '' : ` (${code})`}.`;
  return { text, settlement: { error: new Error(text), ...NETWORK } };
};

/**
 * The server answered with an HTTP status in place of a message. What it said beside that is not shown: it may quote the headers.
 *
 * @param problem The body.
 */
export const statusFailure = (
  host: string,
  { statusCode: status = 0, headers }: IncomingMessage,
  problem: Buffer,
): RequestFailure => {
  const after = headers['retry-after'];
  const meaning = `HTTP ${status}${STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`}`;
  const wait = after === undefined ? '' : `, Retry-After: ${after.slice(0, 40)}`;
  const text = `The MCP server (${host}) answered with ${meaning}${wait}.${ADVICE[status] ?? ''}`;
  const error = Object.assign(new Error(`${meaning}${wait}`), {
    status,
    ...(after !== undefined && { headers: { 'retry-after': after } }),
  });
  const isNoServer = isWithoutServer(status) && !problem.includes('"jsonrpc"');
  return { text, status, settlement: { error, ...(isNoServer && { verdict: { category: 'server' } as const }) } };
};

/** At such an address there is no MCP server, unless it says so itself in a message. The arguments of the call are not the reason. */
const isWithoutServer = (status: number): boolean =>
  (status >= 300 && status < 400) || [404, 405, 406, 410].includes(status);

const ADVICE: Readonly<Record<number, string>> = {
  401:
    ' breakerbox mcp does no OAuth. Give it a token: --header-env Authorization=VARIABLE, with the value "Bearer ..." in that variable.' +
    ' For a server that needs a login, connect the client to it without breakerbox mcp.',
  403: ' The token may not do this. Check the value of --header or --header-env.',
  404: ' Check the address: most servers end with /mcp.',
  405: ' Check the address: this one takes no messages.',
};

/** Why an exchange has no answer. */
export const failureOf = (host: string, error: unknown): RequestFailure => {
  if (error instanceof TooLongError) return { text: error.message, settlement: TOO_LONG };
  return error instanceof StaleConnectionError ? staleFailure(host, error) : connectionFailure(host, error);
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
