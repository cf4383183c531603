import { readStatus, statusCategory } from './http.ts';
import { OUTPUT_REFUSED } from './mcp-errors.ts';
import { stopKind } from './names.ts';
import type { ErrorCategory } from './taxonomy.ts';
import { read, readNames, readText } from './untrusted.ts';

/**
 * Errors of well-known libraries whose class, code or status says something else than what happened. Each was met by
 * making the library fail; what they really mean, or undefined for an error that means what it says.
 */
export function misnomer(error: unknown): ErrorCategory | undefined {
  const names = readNames(error);
  const message = readText(error, 'message') ?? '';
  return (
    refusedByProxy(message) ??
    mcpTransport(names, error) ??
    mcpAnswer(names, error, message) ??
    modelAnswer(names, message) ??
    brokenAnswer(names, error) ??
    timedOutInDisguise(names, error, message)
  );
}

/** undici calls it an `AbortError` when a proxy refuses to open the tunnel. No status of a proxy is about the input. */
function refusedByProxy(message: string): ErrorCategory | undefined {
  const status = /^Proxy response \((\d{3})\) !== 200/.exec(message)?.[1];
  return status === undefined ? undefined : aboutPeer(statusCategory(Number(status)), 'network');
}

const MCP_TRANSPORT: ReadonlySet<string> = new Set(['StreamableHTTPError', 'SseError', 'SdkHttpError']);

/**
 * The arguments of an MCP call are in the body, so that a 400, 404 or 405 of its HTTP endpoint never speaks of them: the
 * session has run out (404 by the protocol), or the address is wrong. A page where JSON was due has the code -1.
 */
function mcpTransport(names: readonly string[], error: unknown): ErrorCategory | undefined {
  if (!names.some((name) => MCP_TRANSPORT.has(name))) return undefined;
  const status = readStatus(error);
  if (status === 402) return 'resource'; // it is we who are to pay, as the arguments are in the body
  if (status !== undefined) return aboutPeer(statusCategory(status), 'server');
  return read(error, 'code') === -1 ? 'server' : undefined;
}

/** MCP's clients use the code of bad arguments for bad results, and zod's own error for a reply that isn't MCP. */
function mcpAnswer(names: readonly string[], error: unknown, message: string): ErrorCategory | undefined {
  if (OUTPUT_REFUSED.test(message)) return 'server';
  if (names.includes('ZodError') && /"path": \[\s*"jsonrpc"\s*\]/.test(message)) return 'server';
  // SDK 2 calls an abort REQUEST_TIMEOUT too. Its own time-outs say in `data` how long they were.
  const stopped = names.includes('SdkError') && read(error, 'code') === 'REQUEST_TIMEOUT';
  const early = stopped && read(error, 'data') === undefined && !/time(?:d[ -]?|-)?out/i.test(message);
  return early ? 'cancelled' : undefined;
}

/** The AI SDK blames a schema for a provider whose answer, with status 200, is no answer. */
function modelAnswer(names: readonly string[], message: string): ErrorCategory | undefined {
  return names.includes('AI_APICallError') && message === 'Invalid JSON response' ? 'server' : undefined;
}

/** undici's own frames, in Node and from npm: what was parsed there is the body of an answer. */
const BODY_PARSED = /\bat parseJSONFromBytes \(|[\\/]undici[\\/]lib[\\/]api[\\/]readable\b/;

/**
 * `res.json()` on a page or on nothing throws the same `SyntaxError` as a tool that parses what the model wrote. The
 * stack tells them apart: out of fetch's body it is the server's fault. A tool's own `JSON.parse` stays `unknown`, which
 * is a failure too, for who wrote the text isn't known (a page in it is read by phrases.ts).
 */
function brokenAnswer(names: readonly string[], error: unknown): ErrorCategory | undefined {
  return names.includes('SyntaxError') && BODY_PARSED.test(readText(error, 'stack') ?? '') ? 'server' : undefined;
}

/**
 * axios says 'canceled' whatever the reason of the signal, and gaxios 'aborted' of its own `timeout` option; `exec` says
 * nothing when its time-out kills the command.
 */
function timedOutInDisguise(names: readonly string[], error: unknown, message: string): ErrorCategory | undefined {
  const aborted = names.includes('GaxiosError') && stopKind(read(error, 'cause')) === 'cancelled';
  if (aborted || names.includes('CanceledError')) {
    return stopKind(read(read(read(error, 'config'), 'signal'), 'reason')) === 'timeout' ? 'timeout' : undefined;
  }
  if (message.startsWith('Command ') && read(error, 'timedOut') === true) return 'timeout'; // execa
  if (message.startsWith('Command ') && read(error, 'isCanceled') === true) return 'cancelled';
  const killed = message.startsWith('Command failed: ') && read(error, 'killed') === true;
  return killed && typeof read(error, 'signal') === 'string' ? 'timeout' : undefined;
}

function aboutPeer(category: ErrorCategory | undefined, otherwise: ErrorCategory): ErrorCategory {
  return category === undefined || category === 'invalid_input' ? otherwise : category;
}
