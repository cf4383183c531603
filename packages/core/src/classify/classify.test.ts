import { describe, expect, it, test } from 'vitest';
import { classifyError, classifyResult, MAX_RETRY_AFTER_MS, parseRetryAfter, readRetryAfter } from './classify.ts';
import { DEFAULT_JUDGEMENT, ERROR_CATEGORIES, type ErrorCategory } from './taxonomy.ts';
import { neverThrows } from './test-support.nasty.ts';

const now = { unixMs: Date.UTC(2026, 10, 20, 12, 0, 0) };
const classify = (result: unknown) => classifyResult(result, now);

describe('O2: HTTP status on the usual shapes', () => {
  const STATUSES: readonly (readonly [number, ErrorCategory])[] = [
    [400, 'invalid_input'],
    [401, 'permission'],
    [402, 'resource'],
    [403, 'permission'],
    [404, 'invalid_input'],
    [407, 'permission'],
    [408, 'timeout'],
    [422, 'invalid_input'],
    [429, 'rate_limit'],
    [500, 'server'],
    [503, 'server'],
    [504, 'timeout'],
    [529, 'server'],
  ];

  it.each(STATUSES)('O2: %i is %s', (status, wanted) => {
    const headers = new Headers({ 'retry-after': '7' });
    for (const shape of [
      new Response('no', { status, headers }),
      Object.assign(new Error('x'), { status, headers }),
      Object.assign(new Error('x'), { response: { status, headers: { 'retry-after': '7' } } }),
      Object.assign(new Error('x'), { statusCode: String(status), responseHeaders: { 'Retry-After': '7' } }),
      Object.assign(new Error('x'), { $metadata: { httpStatusCode: status }, retryAfter: 7 }),
      new Error('outer', { cause: { status, headers } }),
      { error: { status }, headers: new Map([['retry-after', '7']]) },
    ]) {
      expect(classifyError(shape, now)).toMatchObject({ category: wanted, retryAfterMs: 7000 });
    }
  });

  it('O2: a numeric code is a status only in classes that declare it', () => {
    class StreamableHTTPError extends Error {
      code = 503;
    }
    expect(classifyError(new StreamableHTTPError('down'), now).category).toBe('server');
    for (const fields of [{ code: 503 }, { status: 200 }, { status: 'error' }, { status: 600 }]) {
      expect(classifyError(Object.assign(new Error('x'), fields), now).category).toBe('unknown');
    }
  });
});

describe('O2: the signal that was handed to the tool', () => {
  it('O2: it has priority over the error and over an error result', () => {
    const left = AbortSignal.abort(new Error('the user left'));
    const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(classifyError(refused, { ...now, signal: left }).category).toBe('cancelled');
    expect(classifyError(refused, { ...now, signal: late }).category).toBe('timeout');
    expect(classifyError(refused, { ...now, signal: new AbortController().signal }).category).toBe('network');
    expect(classifyResult({ error: 'x' }, { ...now, signal: left })).toEqual({ category: 'cancelled' });
    expect(classifyResult({ hits: 3 }, { ...now, signal: left })).toBeUndefined();
  });
});

describe('O2: error results', () => {
  it.each<[ErrorCategory, unknown]>([
    ['network', { error: { code: 'ECONNREFUSED' } }],
    ['server', { error: 'x', status: 503 }],
    ['timeout', { error: new DOMException('x', 'TimeoutError') }],
    ['tool_error', { error: 'unknown order id', code: 'NOT_FOUND' }],
    ['tool_error', { error: { code: 'ENOENT' } }],
    ['tool_error', { error: true, message: 'sold out' }],
    ['tool_error', { isError: true, content: [{ type: 'text', text: 'HTTP 503' }] }],
    ['invalid_input', { error: true, validationErrors: { city: ['Required'] } }],
    ['invalid_input', { error: { code: -32602, message: 'x' } }],
    ['invalid_input', { error: { issues: [{ message: 'Required' }] } }],
    ['tool_error', { errors: [{ path: ['user'], message: 'x' }], data: { user: null } }],
    ['tool_error', { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'x' } }],
    ['permission', { data: null, count: null, rows: [], error: { message: 'x' }, status: 401, statusText: 'x' }],
    ['server', { status: 503 }],
    ['server', { ok: false, status: 503 }],
    ['tool_error', { success: false, reason: 'nothing found' }],
    ['network', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['tool_error', new Error('returned, not thrown')],
    ['network', Response.error()],
    ['server', new Response('x', { status: 503 })],
  ])('O2: %s: %j', (wanted, result) => {
    expect(classify(result)?.category).toBe(wanted);
  });

  it.each([
    [undefined],
    [null],
    [''],
    ['Error: connect ECONNREFUSED'],
    [[]],
    [{}],
    [{ error: null }],
    [{ error: '' }],
    [{ error: false }],
    [{ error: 0 }],
    [{ error: null, data: [1] }],
    [{ hits: [1], error: 'page 3 is missing' }],
    [{ error: { message: 'x' }, data: { a: 1 } }],
    [{ isError: false, status: 503 }],
    [{ success: false, error: 'sold out', alternatives: ['12A'] }],
    [{ success: true, status: 503 }],
    [{ valid: false, errors: ['x'] }],
    [{ success: false, errors: [{ line: 3, message: 'x' }] }],
    [{ success: false, errors: [{ path: 'a.ts', message: 'x' }] }],
    [{ jsonrpc: '2.0', id: 1, error: null }],
    [{ jsonrpc: '1.0', id: 1, error: 'x' }],
    [new Response('HTTP 503')],
  ])('O2: success: %j', (result) => {
    expect(classify(result)).toBeUndefined();
  });
});

describe('O2: inputs that a schema rejected', () => {
  it('O2: they are recognized by class, by the issues of Standard Schema, and by the violations of ajv', () => {
    const violation = { keyword: 'type', instancePath: '/a', schemaPath: '#/a', message: 'must be string' };
    for (const error of [
      { issues: [{ message: 'Required', path: ['city'] }] },
      Object.assign(new Error('x'), { errors: [violation] }),
      ...['ZodError', 'AI_InvalidToolInputError', 'ValidationException'].map((name) =>
        Object.assign(new Error('x'), { name }),
      ),
    ]) {
      expect(classifyError(error, now).category).toBe('invalid_input');
    }
    for (const error of [{ issues: 3 }, { issues: [] }, { issues: ['open'] }, { errors: [{ keyword: 'x' }] }]) {
      expect(classifyError(error, now).category).toBe('unknown');
    }
  });
});

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const failed = { isError: true, status: 503 };

test.each([undefined, null, {}, 5, 'now', { unixMs: 'now' }])(
  'O2: with %j as context the category is now',
  (context) => {
    expect(classifyError(refused, context as never)).toEqual({ category: 'network' });
    expect(classifyResult(failed, context as never)).toEqual({ category: 'server' });
  },
);

neverThrows(classifyError, classifyResult);

describe('O1: the taxonomy', () => {
  it('it has each category once, and cannot be changed', () => {
    expect(Object.keys(DEFAULT_JUDGEMENT)).toEqual([...ERROR_CATEGORIES]);
    expect(Object.isFrozen(DEFAULT_JUDGEMENT)).toBe(true);
  });

  it('outages are failures; errors of the model, of people and of the business are ignored', () => {
    const ignored = ERROR_CATEGORIES.filter((category) => DEFAULT_JUDGEMENT[category] === 'ignored');
    expect(ignored).toEqual(['invalid_input', 'denied', 'cancelled', 'tool_error']);
  });
});

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);

describe('O3: the value of Retry-After', () => {
  it.each<[string, number | undefined]>([
    ['0', 0],
    ['120', 120_000],
    [' 1.5 ', 1500],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
    ['Fri Nov 20 12:00:30 2026', 30_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    [String(MAX_RETRY_AFTER_MS / 1000), MAX_RETRY_AFTER_MS],
    [String(MAX_RETRY_AFTER_MS / 1000 + 1), undefined],
    ['1795176000', undefined],
    ['Fri, 20 Nov 2099 12:00:00 GMT', undefined],
    ['-5', undefined],
    ['', undefined],
    ['soon', undefined],
    ['Fri, 99 Nov 2026', undefined],
    ['12 parsecs', undefined],
    ['1e3', undefined],
    ['Infinity', undefined],
  ])('%j is %s ms', (value, wanted) => {
    expect(parseRetryAfter(value, NOW)).toBe(wanted);
  });

  it('a clock that is not a number gives no wait', () => {
    expect(parseRetryAfter('Fri, 20 Nov 2026 12:00:30 GMT', Number.NaN)).toBeUndefined();
  });
});

describe('O3: places where it is found', () => {
  it.each<[string, unknown, number | undefined]>([
    ['Headers', { headers: new Headers({ 'Retry-After': '2' }) }, 2000],
    ['a plain object', { headers: { 'RETRY-AFTER': '2' } }, 2000],
    ['a list of values', { headers: { 'retry-after': ['2', '9'] } }, 2000],
    ['a number', { headers: { 'retry-after': 2 } }, 2000],
    ['response.headers', { response: { headers: { 'retry-after': '2' } } }, 2000],
    ['responseHeaders', { responseHeaders: { 'retry-after': '2' } }, 2000],
    ['milliseconds go first', { headers: { 'retry-after': '2', 'retry-after-ms': '1500' } }, 1500],
    ['garbage in milliseconds', { headers: { 'retry-after': '2', 'retry-after-ms': 'x' } }, 2000],
    ['retryAfter in seconds', { retryAfter: 2 }, 2000],
    ['retryAfterMs', { retryAfterMs: 250 }, 250],
    ['a negative retryAfter', { retryAfter: -2 }, undefined],
    ['NaN', { retryAfter: Number.NaN }, undefined],
    ['Infinity', { retryAfter: Number.POSITIVE_INFINITY }, undefined],
    ['no headers', { headers: null }, undefined],
    ['headers that are not a Headers object', { headers: 'retry-after: 2' }, undefined],
    ['no error', undefined, undefined],
  ])('%s', (_, error, wanted) => {
    expect(readRetryAfter(error, NOW)).toBe(wanted);
  });

  it('a `get` that throws does not hide a plain property', () => {
    const headers = {
      get() {
        throw new Error('no');
      },
      'Retry-After': '2',
    };
    expect(readRetryAfter({ headers }, NOW)).toBe(2000);
  });
});
