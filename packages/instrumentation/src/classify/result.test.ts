import type { ErrorCategory } from '@breakerbox/core';
import { describe, expect, it } from 'vitest';
import { classifyResult } from '../test-support/classify/verdicts.ts';

const classify = (result: unknown) => classifyResult(result, { unixMs: 0 });
const mcp = (...texts: string[]) => ({ isError: true, content: texts.map((text) => ({ type: 'text', text })) });

describe('O2: the text of an MCP error result', () => {
  it.each<[ErrorCategory, string]>([
    ['network', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['server', 'HTTP 503'],
    ['server', 'the upstream answered 503'],
    ['timeout', 'Request timed out'],
    ['rate_limit', 'Request failed with status code 429'],
    ['permission', '401 Unauthorized'],
    ['filesystem', 'EROFS: read-only file system, open'],
    ['resource', 'ENOSPC: no space left on device, write'],
    ['invalid_input', 'MCP error -32602: Tool find not found'],
    ['invalid_input', 'Input validation error: Invalid arguments for tool find'],
    ['tool_error', "ENOENT: no such file or directory, open '/nope'"],
    ['tool_error', 'no such file'],
    ['tool_error', 'EISDIR: illegal operation on a directory, read'],
    ['tool_error', 'unknown order id'],
    ['cancelled', 'AbortError: This operation was aborted'],
    ['tool_error', ''],
  ])('%s: %s', (wanted, text) => {
    expect(classify(mcp(text))).toEqual({ category: wanted });
    expect(classify({ error: text || 'x' })).toEqual({ category: wanted });
  });

  it('reads all parts, and any shape of content', () => {
    expect(classify(mcp('It failed:', 'connect ECONNREFUSED'))).toEqual({ category: 'network' });
    expect(classify({ isError: true })).toEqual({ category: 'tool_error' });
    expect(classify({ isError: true, content: 'HTTP 503' })).toEqual({ category: 'server' });
    expect(classify({ isError: true, content: [null, { type: 'image' }, 3] })).toEqual({ category: 'tool_error' });
  });
});

describe('O2: {error} objects', () => {
  it.each<[ErrorCategory, unknown]>([
    ['network', { error: { code: 'ECONNREFUSED' } }],
    ['server', { error: 'x', status: 503 }],
    ['rate_limit', { error: { message: 'HTTP 429' } }],
    ['timeout', { error: new DOMException('x', 'TimeoutError') }],
    ['tool_error', { error: 'unknown order id', code: 'NOT_FOUND' }],
    ['tool_error', { error: { code: 'ENOENT' } }],
    ['tool_error', { error: true, message: 'sold out' }],
    ['tool_error', { error: {} }],
    ['invalid_input', { error: true, message: 'Tool validation failed', validationErrors: { city: ['Required'] } }],
    ['invalid_input', { error: { code: -32602, message: 'x' } }],
    ['permission', { data: null, count: null, rows: [], error: { message: 'x' }, status: 401, statusText: 'x' }],
    ['server', { status: 503 }],
    ['tool_error', { success: false, reason: 'nothing found' }],
    ['network', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['tool_error', new Error('returned, not thrown')],
  ])('%s: %j', (wanted, result) => {
    expect(classify(result)).toEqual({ category: wanted });
  });

  it.each([
    [undefined],
    [null],
    [0],
    [''],
    [false],
    [[]],
    [{}],
    [{ error: null }],
    [{ error: undefined }],
    [{ error: '' }],
    [{ error: false }],
    [{ error: 0 }],
    [{ error: null, data: [1] }],
    [{ hits: [1], error: 'page 3 is missing' }],
    [{ error: { message: 'x' }, data: { a: 1 } }],
    [{ isError: false, content: [{ type: 'text', text: 'HTTP 503' }] }],
    [{ content: [{ type: 'text', text: 'It says: connect ECONNREFUSED' }] }],
    [{ success: false, error: 'sold out', alternatives: ['12A'] }],
    [{ ok: false, error: 'sold out', alternatives: ['12A'] }],
    [() => 1],
  ])('success: %j', (result) => {
    expect(classify(result)).toBeUndefined();
  });

  it('O3: a result can ask for a wait', () => {
    expect(classify({ error: { status: 429, headers: { 'Retry-After': '3' } } })).toEqual({
      category: 'rate_limit',
      retryAfterMs: 3000,
    });
    expect(classify(mcp('HTTP 429, Retry-After: 30'))).toEqual({ category: 'rate_limit', retryAfterMs: 30_000 });
  });
});
