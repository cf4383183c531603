import type { ErrorCategory } from '@breakerbox/core';
import { describe, expect, it } from 'vitest';
import { classifyError } from '../test-support/classify/verdicts.ts';
import { readReturned, readThrown } from './classify.ts';

const category = (error: unknown) => classifyError(error, { unixMs: 0 }).category;
const coded = (code: unknown, message = 'x', name = 'Error') => Object.assign(new Error(message), { code, name });

describe('O2: error codes', () => {
  it.each<[ErrorCategory, string]>([
    ['network', 'ECONNREFUSED ECONNRESET ENOTFOUND EAI_AGAIN EAI_NODATA EPIPE EHOSTUNREACH ENETUNREACH UND_ERR_SOCKET'],
    ['network', 'CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER ERR_NETWORK ECONNABORTED'],
    ['network', 'HPE_INVALID_CONSTANT ERR_HTTP2_STREAM_ERROR NOT_CONNECTED CONNECTION_CLOSED SEND_FAILED'],
    [
      'timeout',
      'ETIMEDOUT ESOCKETTIMEDOUT ETIMEOUT UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT',
    ],
    ['timeout', 'REQUEST_TIMEOUT'],
    ['permission', 'EACCES EPERM ERR_ACCESS_DENIED'],
    ['filesystem', 'EROFS EIO'],
    ['tool_error', 'ENOENT ENOTDIR EISDIR EEXIST'],
    ['resource', 'ENOSPC EDQUOT EMFILE ENFILE ENOMEM insufficient_quota'],
    ['cancelled', 'ABORT_ERR ERR_CANCELED'],
    ['invalid_input', 'ERR_INVALID_URL'],
    ['unknown', 'ERR_MADE_UP E constructor __proto__ toString'],
  ])('%s: %s', (wanted, codes) => {
    for (const code of codes.split(' ')) expect([code, category(coded(code))]).toEqual([code, wanted]);
  });

  it("a network code outranks AWS's name for the error", () => {
    expect(category(coded('ECONNRESET', 'socket hang up', 'TimeoutError'))).toBe('network');
    expect(category(coded('EPIPE', 'write EPIPE', 'TimeoutError'))).toBe('network');
    expect(category(coded('ETIMEDOUT', 'x', 'TimeoutError'))).toBe('timeout');
    expect(category(coded('ECONNABORTED', 'x', 'TimeoutError'))).toBe('timeout');
    expect(category(coded('ECONNRESET', 'aborted', 'AbortError'))).toBe('cancelled');
  });

  it.each([
    ['axios', coded('ERR_BAD_RESPONSE', 'stream has been aborted', 'AxiosError')],
    ['got, a hang-up', coded('ECONNRESET', 'The server aborted pending request', 'ReadError')],
    ['got, a hang-up whose code is lost', coded(undefined, 'The server aborted pending request', 'ReadError')],
    ['got, a short body', coded('ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'Content-Length mismatch: expected 9 bytes')],
    ['a short body, by its text', coded(undefined, 'Content-Length mismatch: expected 9 bytes, received 2 bytes')],
    ['undici, a short body', coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'Response body length does not match')],
  ])('a response body that breaks off is a network error: %s', (_, error) => {
    expect(category(error)).toBe('network');
    expect(category(Object.assign(error, { response: { status: 200, statusCode: 200 } }))).toBe('network');
  });

  it("ECONNABORTED is also axios's code for timeouts", () => {
    expect(category(coded('ECONNABORTED', 'timeout of 5000ms exceeded'))).toBe('timeout');
  });

  it.each<[ErrorCategory, number, string]>([
    ['timeout', -32001, 'MCP error -32001: Request timed out'],
    ['timeout', -32001, 'MCP error -32001: TimeoutError: The operation was aborted due to timeout'],
    ['cancelled', -32001, 'MCP error -32001: AbortError: This operation was aborted'],
    ['cancelled', -32000, 'MCP error -32000: Request was cancelled'],
    ['cancelled', -32800, 'MCP error -32800: The request was withdrawn'],
    ['network', -32000, 'MCP error -32000: Connection closed'],
    ['rate_limit', -32000, 'MCP error -32000: Too many requests'],
    ['network', -32603, 'connect ECONNREFUSED 127.0.0.1:1'],
    ['tool_error', -32603, 'MCP error -32603: boom'],
    ['tool_error', -32050, 'boom'],
    ['server', -32700, 'Parse error'],
    ['invalid_input', -32602, 'MCP error -32602: Invalid arguments for tool find: "ECONNREFUSED" is no city'],
    ['invalid_input', -32601, 'MCP error -32601: Method not found'],
    ['tool_error', -32002, 'Resource not found'],
    ['unknown', -32768, 'x'],
    ['unknown', 1, 'x'],
  ])('%s: MCP %i %s', (wanted, code, message) => {
    expect(category(coded(code, message, 'McpError'))).toBe(wanted);
  });
});

describe('O2: names of classes', () => {
  it.each<[ErrorCategory, string]>([
    [
      'timeout',
      'TimeoutError APIConnectionTimeoutError ConnectTimeoutError HeadersTimeoutError ReadTimeout TimeOutError',
    ],
    ['cancelled', 'AbortError APIUserAbortError CanceledError'],
    ['network', 'APIConnectionError'],
    ['rate_limit', 'RateLimitError ThrottlingException'],
    ['permission', 'UnauthorizedError AccessDeniedException'],
  ])('%s: %s', (wanted, names) => {
    for (const name of names.split(' ')) {
      expect([name, category(Object.assign(new Error('x'), { name }))]).toEqual([name, wanted]);
      const NamedClass = { [name]: class extends Error {} }[name] as new (message: string) => Error;
      expect([name, category(new NamedClass('x'))]).toEqual([name, wanted]);
    }
  });

  it('a DOMException whose name is lost is classified by its code', () => {
    expect(category({ constructor: { name: 'DOMException' }, code: 23 })).toBe('timeout');
    expect(category({ constructor: { name: 'DOMException' }, code: 20 })).toBe('cancelled');
    expect(category({ code: 23 })).toBe('unknown');
  });

  it("AWS's error name outranks its status 400; a status outranks OpenAI's InternalServerError", () => {
    const throttled = Object.assign(new Error('x'), {
      name: 'ThrottlingException',
      $metadata: { httpStatusCode: 400 },
    });
    expect(category(throttled)).toBe('rate_limit');
    expect(category(Object.assign(new Error('x'), { name: 'InternalServerError', status: 504 }))).toBe('timeout');
  });
});

describe('O2: chains and aggregates', () => {
  const wrap = (cause: unknown, message = 'the tool failed') => new Error(message, { cause });

  it('looks through causes, and trusts an inner code more than an outer text', () => {
    expect(category(wrap(wrap(coded('ETIMEDOUT'))))).toBe('timeout');
    expect(category(wrap(coded('ECONNREFUSED'), 'permission denied'))).toBe('network');
    expect(category(wrap('HTTP 503'))).toBe('server');
    expect(category(new TypeError('fetch failed'))).toBe('network');
  });

  it('believes the outermost of equal signs', () => {
    const inner = Object.assign(new Error('x'), { status: 500 });
    expect(category(Object.assign(wrap(inner), { status: 429 }))).toBe('rate_limit');
  });

  it('ends on cycles and on endless chains', () => {
    const a = new Error('a');
    const b = wrap(a);
    a.cause = b;
    expect(category(a)).toBe('unknown');
    let deep: unknown = coded('ECONNREFUSED');
    for (let depth = 0; depth < 10_000; depth++) deep = wrap(deep);
    expect(category(deep)).toBe('unknown');
  });

  it('classifies an AggregateError by its most specific error', () => {
    const aborted = new DOMException('This operation was aborted', 'AbortError');
    const bad = Object.assign(new Error('x'), { status: 400 });
    const down = Object.assign(new Error('x'), { status: 503, headers: { 'retry-after': '9' } });
    expect(category(new AggregateError([aborted, bad, down]))).toBe('server');
    expect(category(new AggregateError([new Error('odd'), bad]))).toBe('invalid_input');
    expect(category(new AggregateError([aborted, new Error('odd')]))).toBe('unknown');
    expect(category(new AggregateError([aborted]))).toBe('cancelled');
    expect(category(new AggregateError([]))).toBe('unknown');
    expect(category(wrap(new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])))).toBe('network');
    expect(classifyError(new AggregateError([bad, down]), { unixMs: 0 }).retryAfterMs).toBe(9000);
  });

  it("believes the last try of AI SDK's RetryError first", () => {
    const first = Object.assign(new Error('x'), { statusCode: 500 });
    const last = Object.assign(new Error('x'), { statusCode: 429 });
    const error = Object.assign(new Error('Failed after 2 attempts.'), { errors: [first, last], lastError: last });
    expect(category(error)).toBe('rate_limit');
  });
});

describe('O2: values that are not errors', () => {
  it.each<[unknown, ErrorCategory]>([
    ['connect ECONNREFUSED 127.0.0.1:1', 'network'],
    ['', 'unknown'],
    [undefined, 'unknown'],
    [null, 'unknown'],
    [503, 'unknown'],
    [Number.NaN, 'unknown'],
    [Symbol('timeout'), 'unknown'],
    [10n, 'unknown'],
    [false, 'unknown'],
    [{ message: 'HTTP 503' }, 'server'],
  ])('%s', (thrown, wanted) => {
    expect(category(thrown)).toBe(wanted);
  });

  it('reads only the beginning of a megabyte of text', () => {
    expect(category(new Error(`ETIMEDOUT ${'x'.repeat(1_000_000)}`))).toBe('timeout');
    expect(category(new Error(`${'x '.repeat(500_000)} ETIMEDOUT`))).toBe('unknown');
  });
});

describe('O2: Redis', () => {
  it('O2: a client that lost its server', () => {
    const names = 'MaxRetriesPerRequestError SocketClosedUnexpectedlyError ClientClosedError ClientOfflineError';
    for (const name of names.split(' '))
      expect([name, category(Object.assign(new Error('x'), { name }))]).toEqual([name, 'network']);
    expect(category(new Error("Stream isn't writeable and enableOfflineQueue options is false"))).toBe('network');
  });
});

describe('O2: a verdict says what it rests on, and whether the framework marked the error', () => {
  it.each<[string, unknown]>([
    ['evidence', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['evidence', Object.assign(new Error('x'), { status: 404 })],
    ['evidence', new Error('HTTP 503')],
    ['words', new Error('the order was already refunded')],
    ['nothing', new Error('boom')],
    ['nothing', Object.assign(new Error('MCP error -32603: boom'), { code: -32603 })],
    ['nothing', new Error('')],
  ])('O2: %s: %s', (judgedBy, error) => {
    expect(readThrown(error)).toMatchObject({ judgedBy, marked: true });
  });

  it('O2: a result is marked by isError, not by its own text', () => {
    expect(readReturned({ isError: true, content: [] })).toMatchObject({ judgedBy: 'nothing', marked: true });
    expect(readReturned({ error: 'boom' })).toMatchObject({ judgedBy: 'nothing', marked: false });
    expect(readReturned('Error: connect ECONNREFUSED ::1:1')).toMatchObject({ judgedBy: 'evidence', marked: false });
  });
});
