import { expect, it } from 'vitest';
import { z } from 'zod';
import { classifyError, classifyResult } from '../test-support/classify/verdicts.ts';
import { readThrown } from './classify.ts';

/** What each library really throws is in `real/`; here is what merely looks like it. */
const now = { unixMs: 0 };
const category = (error: unknown) => classifyError(error, now).category;

it('O2: arguments that quote an error of a server are still bad arguments', () => {
  const text = 'MCP error -32602: Input validation error: Invalid arguments for tool find: Output validation error: x';
  expect(category(Object.assign(new Error(text), { code: -32602 }))).toBe('invalid_input');
  expect(classifyResult({ isError: true, content: [{ type: 'text', text }] }, now)).toEqual({
    category: 'invalid_input',
  });
  expect(category(z.strictObject({}).safeParse({ jsonrpc: 1 }).error)).toBe('invalid_input');
});

it("O2: a status is about the endpoint only in MCP's classes", () => {
  class SdkHttpError extends Error {
    status = 404;
  }
  class NotFoundError extends Error {
    status = 404;
  }
  expect(category(new SdkHttpError('Session not found'))).toBe('server');
  expect(category(new NotFoundError('No such order'))).toBe('invalid_input');
});

it('O2: a server of MCP that was restarted, through AI SDK and LangChain (F1)', () => {
  class MCPClientError extends Error {
    statusCode: number | undefined;
    constructor(message: string, statusCode?: number) {
      super(message);
      this.statusCode = statusCode;
    }
  }
  for (const status of [400, 404, 410]) {
    const text = `MCP HTTP Transport Error: POSTing to endpoint (HTTP ${status}): Session not found`;
    expect(category(new MCPClientError(text, status))).toBe('server');
    expect(category(new Error(`Error calling tool read: Error: ${text.slice(26)}`))).toBe('server');
  }
  expect(category(new MCPClientError('MCP HTTP Transport Error: POSTing to endpoint (HTTP 429): x', 429))).toBe(
    'rate_limit',
  );
  expect(category(new MCPClientError('No such order'))).not.toBe('server');
  class SdkHttpError extends Error {
    status = 302;
  }
  class StreamableHTTPError extends Error {
    code = 302;
  }
  const moved = 'Error POSTing to endpoint: '; // A page to log in.
  for (const one of [new SdkHttpError(moved), new StreamableHTTPError(moved), new MCPClientError(moved, 302)])
    expect(category(one)).toBe('server');
  const wrapped = 'Error calling tool read: Error: Streamable HTTP error: Error POSTing to endpoint: Session not found';
  expect(category(new Error(wrapped))).toBe('server');
  const called = { unixMs: 0, tool: 'fetch_page', input: { url: 'https://a.example/b' } };
  expect(classifyError(new Error(wrapped), called)).toEqual({ category: 'server' });
  expect(category(new Error('Order 12: the courier is POSTing to endpoint 3'))).not.toBe('server');
  const returned = { isError: true, content: [{ type: 'text', text: wrapped }] };
  expect(classifyResult(returned, now)?.category).toBe('server');
  expect(classifyResult({ error: wrapped }, now)?.category).toBe('server');
});

it('O2: a timeout of SDK 2 without a duration is an abort; the name of the reason outranks it', () => {
  class SdkError extends Error {
    code = 'REQUEST_TIMEOUT';
    data: unknown;
    constructor(message: string, data?: unknown) {
      super(message);
      this.data = data;
    }
  }
  expect(category(new SdkError('Request timed out', { timeout: 20 }))).toBe('timeout');
  expect(category(new SdkError('Error: the user left'))).toBe('cancelled');
  expect(category(new SdkError('TimeoutError: The operation was aborted due to timeout'))).toBe('timeout');
});

it("O2: 'Command failed' in an error that no child process made is read like any text", () => {
  expect(category(new Error('Command failed: connect ECONNREFUSED 127.0.0.1:5432'))).toBe('network');
  expect(category(Object.assign(new Error('Command failed: sleep 9'), { killed: false, signal: 'SIGTERM' }))).toBe(
    'unknown',
  );
  expect(category(Object.assign(new Error('lights out'), { killed: true, signal: 'SIGTERM' }))).toBe('unknown');
});

it('O2: a multi-line command is not part of its output', () => {
  const cmd = 'grep\nECONNREFUSED\nlog';
  const shape = { cmd, killed: false, code: 1, signal: null };
  expect(category(Object.assign(new Error(`Command failed: ${cmd}\n`), shape))).toBe('unknown');
  expect(category(Object.assign(new Error(`Command failed: ${cmd}\nread timed out`), shape))).toBe('timeout');
});

it('O2: axios: cancelled, unless the signal says that it timed out', () => {
  class CanceledError extends Error {
    config: unknown;
    constructor(reason: unknown) {
      super('canceled');
      this.config = { signal: AbortSignal.abort(reason) };
    }
  }
  expect(category(new CanceledError(new DOMException('late', 'TimeoutError')))).toBe('timeout');
  expect(category(new CanceledError(new Error('the user left')))).toBe('cancelled');
  expect(category(Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }))).toBe('cancelled');
});

it('O2: gaxios: the signal counts only for an abort, because it may fire after an answer', () => {
  class GaxiosError extends Error {
    config = { signal: AbortSignal.abort(new DOMException('late', 'TimeoutError')) };
  }
  const aborted = new DOMException('This operation was aborted', 'AbortError');
  expect(category(new GaxiosError('x', { cause: aborted }))).toBe('timeout');
  expect(category(Object.assign(new GaxiosError('x'), { status: 404 }))).toBe('invalid_input');
});

it('O2: execa before version 9 and nano-spawn: the command is not part of its output', () => {
  const command = 'grep ECONNREFUSED log';
  const shape = { command, exitCode: 1 };
  expect(category(Object.assign(new Error(`Command failed with exit code 1: ${command}`), shape))).toBe('unknown');
  const wrote = `Command failed with exit code 2: ${command}\nconnect ETIMEDOUT`;
  expect(category(Object.assign(new Error(wrote), shape))).toBe('timeout');
});

it('O2: Deno names no code for a body that breaks off', () => {
  expect(category(new TypeError('error reading a body from connection'))).toBe('network');
  expect(category(new TypeError("Cannot read properties of undefined (reading 'body')"))).toBe('unknown');
});

/** An error of a class that has only this name. */
const named = (name: string, message: string, fields: object = {}): Error =>
  Object.assign(new ({ [name]: class extends Error {} }[name] as new (message: string) => Error)(message), fields);

it.each<[string, Error]>([
  ['network', named('AbortError', 'Proxy response (404) !== 200 when HTTP Tunneling')],
  ['server', named('AbortError', 'Proxy response (502) !== 200 when HTTP Tunneling')],
  ['permission', named('AbortError', 'Proxy response (407) !== 200 when HTTP Tunneling')],
  ['cancelled', named('AbortError', 'no Proxy response (502) !== 200')],
  ['server', named('StreamableHTTPError', 'x', { code: 400 })],
  ['server', named('StreamableHTTPError', 'x', { code: -1 })],
  ['rate_limit', named('SseError', 'x', { code: 429 })],
  ['server', named('SseError', 'x', { code: 404 })],
  ['server', named('MCPClientError', 'x', { statusCode: 404 })],
  ['unknown', named('SseError', 'x')],
  ['permission', named('SdkHttpError', 'x', { status: 401 })],
  ['unknown', named('OtherError', 'x', { code: -1 })],
  ['server', new Error('POSTing to endpoint (HTTP 404): x')],
  ['permission', new Error('a: b: Error POSTing to endpoint (HTTP 401): x')],
  ['server', new Error('Error POSTing to endpoint: x')],
  ['unknown', new Error('!: POSTing to endpoint: x')],
  ['server', named('ZodError', '[{"code": "x", "path": [ "jsonrpc" ]}]')],
  ['server', named('ZodError', '"path": ["jsonrpc"]')],
  ['invalid_input', named('ZodError', '"path": [ "jsonrpc", 1 ]')],
  ['unknown', named('OtherError', '"path": [ "jsonrpc" ]')],
  ['server', named('AI_APICallError', 'Invalid JSON response')],
  ['unknown', named('AI_OtherError', 'JSON response')],
  ['server', named('SyntaxError', 'x', { stack: 'SyntaxError: x\n    at parseJSONFromBytes (node:internal)' })],
  ['server', named('SyntaxError', 'x', { stack: 'x\n    at f (/a/undici/lib/api/readable.js:1:1)' })],
  ['server', named('SyntaxError', 'x', { stack: 'x\n    at f (C:\\a\\undici\\lib\\api\\readable.js:1:1)' })],
  ['unknown', named('SyntaxError', 'x', { stack: 'x\n    at parse (/a/tool.js:1:1)' })],
  ['unknown', named('OtherError', 'x', { stack: 'x\n    at parseJSONFromBytes (node:internal)' })],
  ['invalid_input', new TypeError('fetch failed', { cause: new Error('unknown scheme') })],
  ['invalid_input', new TypeError('fetch failed', { cause: new Error('about scheme is not supported') })],
  ['invalid_input', new TypeError('fetch failed', { cause: new Error('failed to fetch the data URL') })],
  ['invalid_input', new TypeError('fetch failed', { cause: new Error('not implemented... yet...') })],
  ['invalid_input', new TypeError('fetch failed', { cause: new Error('bad port') })],
  ['invalid_input', new TypeError('fetch failed', { cause: new Error('Invalid method GETT') })],
  ['invalid_input', new TypeError('fetch failed', { cause: new Error('URL scheme "x" is not supported') })],
  ['network', new TypeError('fetch failed', { cause: new Error('no bad port') })],
  ['network', new Error('fetch failed', { cause: new Error('unknown scheme') })],
  ['timeout', named('SdkError', 'x', { code: 'REQUEST_TIMEOUT', data: { timeout: 5 } })],
  ['cancelled', named('SdkError', 'x', { code: 'REQUEST_TIMEOUT' })],
  ['timeout', named('SdkError', 'timed-out', { code: 'REQUEST_TIMEOUT' })],
  ['timeout', named('SdkError', 'timedout', { code: 'REQUEST_TIMEOUT' })],
  ['cancelled', named('SdkError', 'time out', { code: 'REQUEST_TIMEOUT' })],
  ['unknown', named('SdkError', 'x', { code: 'OTHER' })],
  ['timeout', named('OtherError', 'x', { code: 'REQUEST_TIMEOUT' })],
  ['server', named('Error', 'Error POSTing to endpoint (HTTP 302): moved')],
  ['cancelled', named('GaxiosError', 'x', { cause: named('AbortError', 'y') })],
  ['cancelled', named('CanceledError', 'x', { config: { signal: { reason: 'left' } } })],
  ['timeout', named('CanceledError', 'x', { config: { signal: { reason: named('TimeoutError', 'late') } } })],
  ['cancelled', named('Error', 'Command failed with exit code 1: ls', { isCanceled: true })],
  ['timeout', named('Error', 'Command failed: ls', { timedOut: true })],
  ['timeout', named('Error', 'Command failed: ls', { killed: true, signal: 'SIGTERM' })],
  ['unknown', named('Error', 'Command failed: ls', { killed: true })],
  ['unknown', named('Error', 'Command failed: ls', { signal: 'SIGTERM' })],
  ['unknown', named('Error', 'Command over: ls', { killed: true, signal: 'SIGTERM' })],
  ['unknown', named('Error', 'A lamp: ls', { timedOut: true, isCanceled: true })],
])('O2: %s: %o', (wanted, error) => {
  expect(category(error)).toBe(wanted);
});

it('O2: the reason says that the class is known, and an abort outranks a code beneath it', () => {
  const cancelled = named('Error', 'Command failed: ls', {
    isCanceled: true,
    cause: named('Error', 'x', { code: 'EPIPE' }),
  });
  expect(readThrown(cancelled)).toMatchObject({ category: 'cancelled', why: 'the known meaning of its class' });
  // The signal that the tool got has not fired, so a limit inside the tool has cancelled the command (O10).
  expect(readThrown(cancelled, { signal: new AbortController().signal }).category).toBe('timeout');
  const proxy = named('AbortError', 'Proxy response (502) !== 200', { cause: named('Error', 'x', { code: 'EPIPE' }) });
  expect(readThrown(proxy).category).toBe('server');
});

it.each([
  ['has not fired', new AbortController().signal, 'timeout'],
  ['has fired', AbortSignal.abort(), 'cancelled'],
])('O10: the abort of a call of MCP SDK 1, while the signal of the tool %s', (_, signal, category) => {
  const error = new Error('MCP error -32001: AbortError: This operation was aborted');
  expect(readThrown(error, { signal }).category).toBe(category);
});

it.each([
  ['server', 'Error calling tool read: Error: Streamable HTTP error: Unexpected content type: text/html'],
  ['server', 'Error calling tool read: SyntaxError: Unexpected end of JSON input'],
  ['server', 'Error calling tool read: TypeError: terminated'],
  ['server', '✖ Invalid input'],
  ['invalid_input', '✖ Invalid input: expected string\n  → at q'],
])('O2: %s: a body that is no message, as the MCP client of LangChain says it: %s', (wanted, text) => {
  class ToolException extends Error {}
  expect(category(new ToolException(text))).toBe(wanted);
});
