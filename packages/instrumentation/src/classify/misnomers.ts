import type { ErrorCategory } from '@breakerbox/core';
import * as core from '@breakerbox/core/internal';

const { isError, read, readNames, readStatus, readText, statusMeaning, stopKind, TRUST } = core;

/**
 * Errors of well-known libraries whose class, code or status does not say what happened. Each was found by making the library fail. None
 * of their causes is trusted more.
 */
export const misnomer = (error: unknown, text: string): core.Evidence | undefined => {
  const category = meantBy(error, readNames(error), text);
  return category && { category, trust: TRUST.timeout, sign: 'the known meaning of its class', code: 'class' };
};

/** A status of an endpoint or a proxy does not depend on the arguments, so it is not about them. */
const ofPeer = (status: number, fallback: ErrorCategory): ErrorCategory => {
  const category = statusMeaning(status)?.category;
  return category === undefined || category === 'invalid_input' ? fallback : category;
};

/** `res.json()` on a page throws the same `SyntaxError` as a tool that parses the model's text. undici's own frames show which it is. */
const BODY_PARSED = /\bat parseJSONFromBytes \(|[\\/]undici[\\/]lib[\\/]api[\\/]readable\b/;
/** The text of MCP's transports over HTTP, which LangChain wraps in an error of its own. Not every version gives the status. */
const POSTED = /^(?:[\w' -]{1,160}: ){0,4}(?:Error )?POSTing to endpoint(?: \(HTTP (\d{3})\))?: /;
/** What LangChain's client says of a page, an empty or broken body, or JSON that is no message. */
const BAD_BODY =
  /^Error calling tool \S+: (?:Error: Streamable HTTP error: |SyntaxError: |TypeError: terminated$)|^✖ Invalid input$/;
/** What `fetch` says of a URL that it does not open. */
const UNSERVED =
  /^(?:unknown scheme|about scheme|failed to fetch the data URL|not implemented\.{3} yet|bad port|invalid method|URL scheme .{0,40} is not)/i;

const isRedirect = (code: unknown): boolean => typeof code === 'number' && code >= 300 && code < 400;

/** What clients of MCP and of HTTP throw themselves. They are asked only if the text is no output of a program. */
const LOST =
  /^(?:error calling tool \S+: )?(?:\w*Error: )?(?:MCP error -3200[01]: (?:connection closed|request timed out|maximum total timeout exceeded)|not connected|request failed with status code \d{3})$/i;
/** O2d: whether the transport to a tool has failed, and not the program that it runs. An error of `MCPClientError` from the server has a code. */
export const isOfTransport = (error: unknown, text: string): boolean => {
  if (!isError(error)) return false;
  const names = readNames(error);
  const isOwn = names.includes('MCPClientError') && read(error, 'code') === undefined;
  return isOwn || names.includes('SdkError') || LOST.test(text);
};

const meantBy = (error: unknown, names: readonly string[], message: string): ErrorCategory | undefined => {
  const is = (name: string) => names.includes(name);
  const cause = read(error, 'cause');
  const proxy = /^Proxy response \((\d{3})\) !== 200/.exec(message)?.[1]; // undici throws it as an `AbortError`
  if (proxy !== undefined) return ofPeer(Number(proxy), 'network');
  // The arguments of an MCP call are in the body, so a 404 means that the session has expired. -1 and 302: a page instead of JSON.
  const endpoint = is('StreamableHTTPError') || is('SseError') || is('SdkHttpError') || is('MCPClientError');
  if (endpoint) {
    const page = [read(error, 'code'), read(error, 'status')].some((code) => code === -1 || isRedirect(code));
    const status = readStatus(error) ?? (page ? 404 : undefined);
    if (status !== undefined) return ofPeer(status, 'server');
  }
  const posted = POSTED.exec(message);
  if (posted) return ofPeer(Number(posted[1] ?? 404), 'server');
  if (is('ToolException') && BAD_BODY.test(message)) return 'server';
  if (is('ZodError') && /"path": \[\s*"jsonrpc"\s*\]/.test(message)) return 'server';
  if (is('AI_APICallError') && message === 'Invalid JSON response') return 'server';
  if (is('SyntaxError') && BODY_PARSED.test(`${readText(error, 'stack')}`)) return 'server';
  if (is('TypeError') && UNSERVED.test(`${readText(cause, 'message', 100)}`)) return 'invalid_input';
  // MCP's SDK 2 uses this code for an abort too. Its timeouts have their duration in `data`.
  const early = is('SdkError') && read(error, 'code') === 'REQUEST_TIMEOUT' && read(error, 'data') === undefined;
  if (early) return /time(?:d[ -]?|-)?out/i.test(message) ? undefined : 'cancelled';
  if (message.startsWith('MCP error -32001: AbortError')) return 'cancelled'; // SDK 1
  // axios says 'canceled' for every reason of the signal, and gaxios says 'aborted' for its own `timeout`.
  if (is('CanceledError') || (is('GaxiosError') && stopKind(cause) === 'cancelled'))
    return stopKind(['config', 'signal', 'reason'].reduce(read, error)) === 'timeout' ? 'timeout' : undefined;
  if (!message.startsWith('Command ')) return undefined;
  if (read(error, 'isCanceled') === true) return 'cancelled';
  // `exec` shows only in this way that its timeout killed the command.
  const killed = message.startsWith('Command failed: ') && read(error, 'killed') === true;
  const over = (killed && typeof read(error, 'signal') === 'string') || read(error, 'timedOut') === true;
  return over ? 'timeout' : undefined;
};
