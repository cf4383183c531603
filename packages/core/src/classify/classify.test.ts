import { describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from './classify.ts';
import type { ErrorCategory } from './taxonomy.ts';

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
      expect(classifyError(shape, now)).toEqual({ category: wanted, retryAfterMs: 7000 });
    }
  });

  it('O2: a numeric code is a status only in classes that say so', () => {
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
  it('O2: goes before the error, and before an error result', () => {
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
    ['permission', { data: null, count: null, rows: [], error: { message: 'x' }, status: 401, statusText: 'x' }],
    ['tool_error', { success: false, error: 'sold out', alternatives: ['12A'] }],
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
    [{ status: 503 }],
    [{ ok: false, status: 503 }],
    [{ success: false, reason: 'nothing found' }],
    [new Response('HTTP 503')],
  ])('O2: success: %j', (result) => {
    expect(classify(result)).toBeUndefined();
  });
});

describe('O2: what a schema refused', () => {
  it('O2: by class, by the issues of Standard Schema, by the violations of ajv', () => {
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
