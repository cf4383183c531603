import { describe, expect, it, test } from 'vitest';
import { classifyError, classifyResult, readEvidence } from './classify.ts';
import type { ErrorCategory } from './taxonomy.ts';

const category = (error: unknown) => classifyError(error, { unixMs: 0 }).category;
const coded = (code: unknown, message = 'x', name = 'Error') => Object.assign(new Error(message), { code, name });

test('C14, O3: a classification says that the peer has answered, and the wait that it asks for', () => {
  const unixMs = Date.UTC(2026, 10, 20, 12);
  const of = (status: number, headers = {}) => classifyError({ status, headers }, { unixMs });
  expect([404, 409, 410, 422].map((status) => of(status).answered)).toEqual([true, true, true, true]);
  expect(of(405)).toStrictEqual({ category: 'invalid_input' });
  expect(of(503, { 'Retry-After': 'Fri, 20 Nov 2026 12:00:09 GMT' })).toStrictEqual({
    category: 'server',
    retryAfterMs: 9_000,
  });
});

describe('O10: whose time-out or abort it was', () => {
  const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
  test.each([
    ['cancelled', { signal: late, ranMs: 29_999 }],
    ['timeout', { signal: late, ranMs: 30_000 }],
    ['timeout', { signal: late }],
    ['cancelled', { signal: AbortSignal.abort(new Error('the user left')), ranMs: 60_000 }],
  ])('O10: %s: the signal has fired: %o', (wanted, context) => {
    const { category: found, sign, code } = readEvidence(new Error('x'), context);
    expect([found, sign, code]).toEqual([wanted, "the signal's reason", 'signal']);
  });

  const { signal } = new AbortController();
  test.each([
    ['timeout', 'a limit inside the tool', new DOMException('x', 'AbortError')],
    ['timeout', 'a limit inside the tool', coded('ABORT_ERR')],
    ['timeout', 'a limit inside the tool', coded('UND_ERR_ABORTED')],
    ['timeout', 'a limit inside the tool', coded('ERR_CANCELED')],
    ['cancelled', 'code ER_QUERY_INTERRUPTED', coded('ER_QUERY_INTERRUPTED')],
    ['network', 'code ECONNABORTED', coded('ECONNABORTED')],
  ])('O10: %s: the signal has not fired: %s', (wanted, sign, error) => {
    expect(readEvidence(error, { signal })).toMatchObject({ category: wanted, sign });
    expect(category(error)).toBe(wanted === 'timeout' ? 'cancelled' : wanted);
  });
});

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

  it("a network code has priority over AWS's name for it", () => {
    expect(category(coded('ECONNRESET', 'socket hang up', 'TimeoutError'))).toBe('network');
    expect(category(coded('EPIPE', 'write EPIPE', 'TimeoutError'))).toBe('network');
    expect(category(coded('ETIMEDOUT', 'x', 'TimeoutError'))).toBe('timeout');
    expect(category(coded('ECONNABORTED', 'x', 'TimeoutError'))).toBe('timeout');
    expect(category(coded('ECONNRESET', 'aborted', 'AbortError'))).toBe('cancelled');
  });

  it.each([
    ['got, a hang-up', coded('ECONNRESET', 'The server aborted pending request', 'ReadError')],
    ['got, a short body', coded('ERR_HTTP_CONTENT_LENGTH_MISMATCH')],
    ['undici, a short body', coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH')],
  ])('an incomplete body is a network error: %s', (_, error) => {
    expect(category(Object.assign(error, { response: { status: 200, statusCode: 200 } }))).toBe('network');
  });

  it.each<[ErrorCategory, number]>([
    ['timeout', -32001],
    ['network', -32000],
    ['tool_error', -32603],
    ['tool_error', -32050],
    ['tool_error', -32002],
    ['cancelled', -32800],
    ['permission', -32042],
    ['server', -32700],
    ['invalid_input', -32602],
    ['invalid_input', -32601],
    ['unknown', -32768],
    ['unknown', 1],
  ])('%s: JSON-RPC %i, whatever the text', (wanted, code) => {
    expect(category(coded(code, `MCP error ${code}: connect ECONNREFUSED`, 'McpError'))).toBe(wanted);
  });

  it('O2: a command that cannot be started is an outage, a missing file is an answer', () => {
    expect(category(Object.assign(coded('ENOENT'), { syscall: 'spawn uvx' }))).toBe('filesystem');
    expect(category(Object.assign(coded('ENOENT'), { cause: { syscall: 'spawn uvx' } }))).toBe('filesystem');
    expect(category(Object.assign(coded('ENOENT'), { syscall: 'open' }))).toBe('tool_error');
  });

  it('E1: no message text is read', () => {
    for (const text of ['connect ECONNREFUSED', 'HTTP 503', 'timed out', 'not found']) {
      expect([text, category(new Error(text))]).toEqual([text, 'unknown']);
      expect([text, classifyResult({ error: text }, { unixMs: 0 })?.category]).toEqual([text, 'tool_error']);
    }
  });
});

describe('O2: names of classes', () => {
  it.each<[ErrorCategory, string]>([
    [
      'timeout',
      'TimeoutError APIConnectionTimeoutError ConnectTimeoutError HeadersTimeoutError ReadTimeout TimeOutError',
    ],
    ['cancelled', 'AbortError APIUserAbortError CanceledError'],
  ])('%s: %s', (wanted, names) => {
    for (const name of names.split(' ')) {
      expect([name, category(Object.assign(new Error('x'), { name }))]).toEqual([name, wanted]);
      const NamedClass = { [name]: class extends Error {} }[name] as new (message: string) => Error;
      expect([name, category(new NamedClass('x'))]).toEqual([name, wanted]);
    }
  });

  it('a DOMException without its name is recognized by its code', () => {
    expect(category({ constructor: { name: 'DOMException' }, code: 23 })).toBe('timeout');
    expect(category({ constructor: { name: 'DOMException' }, code: 20 })).toBe('cancelled');
    expect(category({ code: 23 })).toBe('unknown');
  });
});

describe('O2: chains and aggregates', () => {
  const wrap = (cause: unknown, message = 'the tool failed') => new Error(message, { cause });

  it('causes are searched, and a code in a cause has priority over a status of the error', () => {
    expect(category(wrap(wrap(coded('ETIMEDOUT'))))).toBe('timeout');
    expect(category(Object.assign(wrap(coded('ECONNREFUSED')), { status: 403 }))).toBe('network');
    expect(category(wrap({ status: 503 }))).toBe('server');
  });

  it('of equal evidence, the outermost counts', () => {
    const inner = Object.assign(new Error('x'), { status: 500 });
    expect(category(Object.assign(wrap(inner), { status: 429 }))).toBe('rate_limit');
  });

  it('the search ends on cycles, and on endless chains', () => {
    const a = new Error('a');
    const b = wrap(a);
    a.cause = b;
    expect(category(a)).toBe('unknown');
    let deep: unknown = coded('ECONNREFUSED');
    for (let depth = 0; depth < 10_000; depth++) deep = wrap(deep);
    expect(category(deep)).toBe('unknown');
  });

  it('of the attempts of an AggregateError, the most specific counts', () => {
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

  it("the last attempt of AI SDK's RetryError counts first", () => {
    const first = Object.assign(new Error('x'), { statusCode: 500 });
    const last = Object.assign(new Error('x'), { statusCode: 429 });
    const error = Object.assign(new Error('Failed after 2 attempts.'), { errors: [first, last], lastError: last });
    expect(category(error)).toBe('rate_limit');
  });
});

describe('O2: thrown values that are not an Error', () => {
  it.each<[unknown, ErrorCategory]>([
    ['connect ECONNREFUSED 127.0.0.1:1', 'unknown'],
    ['', 'unknown'],
    [undefined, 'unknown'],
    [null, 'unknown'],
    [503, 'unknown'],
    [Number.NaN, 'unknown'],
    [Symbol('timeout'), 'unknown'],
    [10n, 'unknown'],
    [false, 'unknown'],
    [{ status: 503 }, 'server'],
  ])('%s', (thrown, wanted) => {
    expect(category(thrown)).toBe(wanted);
  });
});
