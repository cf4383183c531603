import { readFileSync } from 'node:fs';
import { DEFAULT_JUDGEMENT } from '@breakerbox/core';
import { describe, expect, it } from 'vitest';
import { readReturned } from './classify.ts';

const read = (result: unknown, tool = 'call_api', input: unknown = { city: 'x' }): string => {
  const verdict = readReturned(result, { tool, input });
  return verdict === undefined ? 'success' : verdict.category;
};

describe('O9: results that say that they are errors', () => {
  it.each<[string, unknown]>([
    ['server', { status: 'error', message: 'Service Unavailable' }],
    ['network', { status: 'error', message: 'Unable to communicate with database', code: 503 }],
    ['server', { success: false, message: 'Service unavailable' }],
    ['server', { success: false, error: 'Service unavailable' }],
    ['timeout', { ok: false, message: 'upstream timed out' }],
    ['network', { successful: false, error_message: 'connection refused' }],
    ['network', { error: true, message: 'connect ECONNREFUSED 10.0.0.1:443' }],
    ['server', { statusCode: 503, message: 'Service Unavailable', error: 'Service Unavailable' }],
    ['server', { statusCode: '500', message: 'Internal server error' }],
    ['server', { type: 'about:blank', title: 'Service Unavailable', status: 503, detail: 'down for maintenance' }],
    ['tool_error', { error: { title: 'Sold out', instance: '/seats/3' } }],
    ['server', { errors: [{ message: 'Internal server error' }], data: null }],
    ['timeout', { errors: ['request timed out'], data: { user: null } }],
    ['server', { errors: 'Service Unavailable' }],
    ['permission', { errors: '[API] Invalid API key or access token (unrecognized login or wrong password)' }],
    ['server', { errors: { base: ['Service Unavailable'] } }],
    ['server', { message: 'Request failed', errors: { base: 'Service Unavailable' } }],
    ['network', { errors: 'connect ECONNREFUSED 10.0.0.1:443', page: 2 }],
    ['tool_error', { errors: 'Not Found' }],
    ['tool_error', { errors: { title: ["can't be blank"], sku: ['has already been taken'] } }],
    ['tool_error', { errors: { base: [{ nested: ['Service Unavailable'] }] } }],
    ['network', { errors: [{ message: 'fetch failed', path: ['user'], locations: [] }], data: { user: null } }],
    ['server', { error: { message: 'The model is busy', type: 'server_error', code: null } }],
    ['network', { error: { code: 503, message: 'Come back', status: 'UNAVAILABLE' } }],
    ['rate_limit', { __type: 'ThrottlingException', message: 'Slow' }],
    ['timeout', { errorType: 'Error', errorMessage: 'Task timed out after 3.00 seconds' }],
    ['timeout', { status: 'failed', error: 'request timed out' }],
    ['network', { result: null, error: { code: -32603, message: 'fetch failed' } }],
    ['network', { jsonrpc: '2.0', error: { code: -32603, message: 'fetch failed' } }],
    ['network', { jsonrpc: '2.0', id: 4, error: { code: -32000, message: 'connection closed' } }],
    ['tool_error', { jsonrpc: '2.0', id: 'a', error: { code: -32603, message: 'it failed' }, extra: [1] }],
    ['success', { jsonrpc: '2.0', id: 4, result: { error: 'HTTP 503' } }],
    ['server', '{"success":false,"message":"502 Bad Gateway"}'],
    ['tool_error', '{"success":false,"message":"sold out"}'],
    ['tool_error', { success: false, message: 'sold out' }],
    ['server', { success: false, code: 500, msg: '系统繁忙，请稍后再试' }],
    ['rate_limit', { success: false, errcode: 45009, errmsg: '请求过于频繁' }],
    ['tool_error', { success: false, code: 1001, msg: '参数错误' }],
    ['permission', { errors: [{ message: 'Not authenticated', extensions: { code: 'UNAUTHENTICATED' } }], data: null }],
    ['rate_limit', { errors: [{ message: 'Later', extensions: { code: 'THROTTLED' } }] }],
    ['tool_error', { errors: [{ message: 'No such order', extensions: { code: 'NOT_FOUND' } }] }],
  ])('O9: %s: %j', (wanted, result) => expect(read(result)).toBe(wanted));

  it('O9: a page of a proxy, and not a page about one', () => {
    const page = (title: string, body = '') =>
      `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr>${body}</body>\r\n</html>`;
    expect(read(page('502 Bad Gateway', '<center>nginx/1.25.3</center>'))).toBe('server');
    expect(read({ content: [{ type: 'text', text: page('429 Too Many Requests') }] })).toBe('rate_limit');
    expect(read(page('502 Bad Gateway', 'How to fix a bad gateway. '.repeat(20)))).toBe('success');
    expect(read(page('Status 502 explained'))).toBe('success');
    expect(read(page('502 Bad Gateway'), 'read_file', { path: 'x.html' })).toBe('success');
  });

  const mcp = (structuredContent: unknown, text: string, isError = false) => ({
    content: [{ type: 'text', text }],
    structuredContent,
    isError,
  });
  it.each<[string, unknown]>([
    ['network', mcp({ success: false, message: 'connect ECONNREFUSED ::1:1' }, '{}')],
    ['network', mcp({ result: { success: false, message: 'connect ECONNREFUSED ::1:1' } }, '{}')],
    ['server', mcp({ result: 'Error: HTTP 503 Service Unavailable' }, 'Error: HTTP 503 Service Unavailable')],
    ['tool_error', mcp({ success: false, message: 'sold out' }, '{}')],
    ['success', mcp({ result: 'fine' }, 'Error: HTTP 503')],
    ['success', mcp({ result: { error: 'HTTP 503' }, pages: 2 }, 'fine')],
    ['success', mcp({ hits: ['HTTP 503'] }, 'Error: HTTP 503')],
    ['server', mcp({}, 'Error: HTTP 503')],
    ['server', mcp(null, 'Error: HTTP 503')],
    ['server', mcp({ hits: [] }, 'HTTP 503', true)],
  ])('O9: the structured content of an MCP result is what the tool returned: %s: %j', (wanted, result) =>
    expect(read(result)).toBe(wanted),
  );

  it.each<[string, unknown]>([
    ['server', { success: false, message: 'Service unavailable', region: 'eu' }],
    ['network', { status: 'failed', message: 'connect ECONNREFUSED ::1:1' }],
    ['success', { success: false, error: 'sold out', alternatives: ['12A'] }],
    ['success', { status: 'failed', message: '3 of 40 tests failed' }],
    ['success', { status: 'failed', job: 'build', message: 'The server is unavailable' }],
    ['success', { ok: false, status: 503, url: 'https://a.example' }],
    ['success', { success: false, result: { message: 'HTTP 503' }, note: 'x' }],
  ])('O9: a weak form counts only by the text of an outage: %s: %j', (wanted, result) =>
    expect(read(result)).toBe(wanted),
  );

  it.each<[unknown]>([
    [{ errors: [{ line: 3, message: 'connection refused' }] }],
    [{ errors: [{ path: 'a.ts', message: 'request timed out', severity: 'x' }], warnings: [1] }],
    [{ success: false, errors: [{ line: 3, file: 'a.ts', message: 'Missing rate limiting' }] }],
    [{ data: { a: 1 }, errors: [{ message: 'Internal server error' }] }],
    [{ valid: false, errors: ['the timeout is missing'] }],
    [{ valid: false, ok: false, message: 'connection refused is not a state' }],
    [{ ok: true, status: 503 }],
    [{ isError: false, status: 503 }],
    [{ status: 200, message: 'HTTP 503' }],
    [{ code: 503, message: 'x' }],
  ])('O9: findings, partial data and a success: %j', (result) => expect(read(result)).toBe('success'));

  it('O9: a list of errors is what a validator or a tool that lists errors found', () => {
    const result = { ok: false, errors: ['connection refused is not a state'] };
    for (const tool of ['validate_config', 'verify_plan', 'lint', 'list_errors', 'get_log', 'top_problems'])
      expect(read(result, tool)).toBe('success');
    expect(read(result)).toBe('network');
    expect(read({ ok: false, errors: { 'a.ts': ['connection refused is not a state'] } }, 'lint')).toBe('success');
    expect(read({ ok: false, error: 'connection refused' }, 'lint')).toBe('network');
    expect(read({ ok: false, errors: 'connection refused' }, 'lint')).toBe('network');
  });

  it('O9: a Response that is not ok is judged by its status; 404 is no outage', () => {
    const at = (status: number) => read(new Response('x', { status }));
    expect([at(503), at(429), at(404), at(200)]).toEqual(['server', 'rate_limit', 'invalid_input', 'success']);
  });
});

describe('O9: correct results of real kinds', () => {
  interface Row {
    readonly tool: string;
    readonly input?: unknown;
    readonly result: unknown;
  }
  const rows: readonly Row[] = readFileSync(
    new URL('../test-support/classify/correct-results.jsonl', import.meta.url),
    'utf8',
  )
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const isFailure = (result: unknown, { tool, input = {} }: Row): boolean => {
    const verdict = readReturned(result, { tool, input });
    return verdict !== undefined && (verdict.blames === 'key' || DEFAULT_JUDGEMENT[verdict.category] === 'failure');
  };

  it.each<[string, (result: unknown) => unknown]>([
    ['as objects', (result) => result],
    ['as JSON text', (result) => (typeof result === 'string' ? result : JSON.stringify(result))],
    [
      'as MCP results',
      (result) => ({ content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] }),
    ],
  ])('O9: at most 2 of 60 are read as failures: %s', (_, form) => {
    expect(rows.length).toBeGreaterThanOrEqual(60);
    expect(rows.filter((row) => isFailure(form(row.result), row)).length).toBeLessThanOrEqual(2);
  });
});
