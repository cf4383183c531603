import type { ErrorCategory } from '@breakerbox/core';
import * as core from '@breakerbox/core/internal';

const { read, readNames, readStatus, readText, statusMeaning, stopKind, TRUST } = core;

/** Errors of well-known libraries whose class, code or status says something else than what happened; met by making each fail. */
export const misnomer = (error: unknown): core.Evidence | undefined => {
  const category = meantBy(error, readNames(error), readText(error, 'message') ?? '');
  const trust = category === 'timeout' || category === 'cancelled' ? TRUST[category] : TRUST.code;
  return category && { category, trust, sign: 'what its class is known to mean' };
};

/** A status of an endpoint or a proxy that the arguments do not reach is not about them. */
const ofPeer = (status: number, otherwise: ErrorCategory): ErrorCategory => {
  const category = statusMeaning(status)?.category;
  return category === undefined || category === 'invalid_input' ? otherwise : category;
};

/** `res.json()` on a page throws the same `SyntaxError` as a tool that parses what the model wrote: undici's own frames tell. */
const BODY_PARSED = /\bat parseJSONFromBytes \(|[\\/]undici[\\/]lib[\\/]api[\\/]readable\b/;
const UNSERVED = /^(?:unknown scheme|bad port|invalid method|URL scheme .{0,40} is not)/i;

const meantBy = (error: unknown, names: readonly string[], message: string): ErrorCategory | undefined => {
  const is = (name: string) => names.includes(name);
  const cause = read(error, 'cause');
  const proxy = /^Proxy response \((\d{3})\) !== 200/.exec(message)?.[1]; // undici calls it an `AbortError`
  if (proxy !== undefined) return ofPeer(Number(proxy), 'network');
  // The arguments of an MCP call are in the body: a 404 says that the session has run out. -1 is a page where JSON was due.
  const endpoint = is('StreamableHTTPError') || is('SseError') || is('SdkHttpError');
  const status = readStatus(error) ?? (read(error, 'code') === -1 ? 404 : undefined);
  if (endpoint) return status === undefined ? undefined : ofPeer(status, 'server');
  if (is('ZodError') && /"path": \[\s*"jsonrpc"\s*\]/.test(message)) return 'server';
  if (is('AI_APICallError') && message === 'Invalid JSON response') return 'server';
  if (is('SyntaxError') && BODY_PARSED.test(readText(error, 'stack') ?? '')) return 'server';
  if (is('TypeError') && UNSERVED.test(readText(cause, 'message', 100) ?? '')) return 'invalid_input';
  // SDK 2 of MCP calls an abort so too; its time-outs say in `data` how long they were.
  const early = is('SdkError') && read(error, 'code') === 'REQUEST_TIMEOUT' && read(error, 'data') === undefined;
  if (early) return /time(?:d[ -]?|-)?out/i.test(message) ? undefined : 'cancelled';
  // axios says 'canceled' whatever the reason of the signal, and gaxios 'aborted' of its own `timeout`.
  const late = stopKind(['config', 'signal', 'reason'].reduce(read, error)) === 'timeout';
  if (is('CanceledError') || (is('GaxiosError') && stopKind(cause) === 'cancelled'))
    return late ? 'timeout' : undefined;
  if (!message.startsWith('Command ')) return undefined;
  if (read(error, 'isCanceled') === true) return 'cancelled';
  // `exec` says in no other way that its time-out killed the command.
  const killed = message.startsWith('Command failed: ') && read(error, 'killed') === true;
  const over = (killed && typeof read(error, 'signal') === 'string') || read(error, 'timedOut') === true;
  return over ? 'timeout' : undefined;
};
