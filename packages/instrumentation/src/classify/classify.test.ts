import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorCategory } from '@breakerbox/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from '../test-support/classify/verdicts.ts';

/** What `run` throws or rejects with. */
async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('The call was to fail, and did not. Look at the server of this test.');
}

const now = { unixMs: Date.UTC(2026, 10, 20, 12, 0, 0) };
const category = (error: unknown) => classifyError(error, now).category;

/** Answers with the status in the path; `/hang` never answers, `/drop` hangs up. */
const server = http.createServer((request, response) => {
  const path = request.url ?? '';
  if (path === '/hang') return;
  if (path === '/drop') request.socket.destroy();
  else response.writeHead(Number(path.slice(1)), { 'Retry-After': '7' }).end('no');
});
let base = '';
let folder = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-'));
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

function get(url: string, options: http.RequestOptions = {}): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => http.get(url, options, resolve).on('error', reject));
}

describe('O2: AbortError against TimeoutError', () => {
  it('the signal decides where the error is ambiguous', () => {
    const error = new Error('stopped halfway');
    const user = AbortSignal.abort(new Error('the user left'));
    const timeout = AbortSignal.abort(new DOMException('Tool timeout of 50ms exceeded', 'TimeoutError'));
    expect(classifyError(error, { ...now, signal: user }).category).toBe('cancelled');
    expect(classifyError(error, { ...now, signal: timeout }).category).toBe('timeout');
    expect(classifyError(error, { ...now, signal: AbortSignal.abort('timed out') }).category).toBe('timeout');
    expect(classifyError(error, { ...now, signal: AbortSignal.any([user, timeout]) }).category).toBe('cancelled');
    expect(classifyError(error, { ...now, signal: new AbortController().signal }).category).toBe('unknown');
  });

  it('the signal outranks a timeout by which MCP reports the abort', () => {
    const error = Object.assign(new Error('MCP error -32001: Error: the user left'), {
      code: -32001,
      name: 'McpError',
    });
    expect(classifyError(error, { ...now, signal: AbortSignal.abort(new Error('the user left')) }).category).toBe(
      'cancelled',
    );
  });

  it('an error result after the abort is cancelled; a success stays a success', () => {
    const context = { ...now, signal: AbortSignal.abort() };
    expect(classifyResult({ error: 'connect ECONNREFUSED' }, context)).toEqual({ category: 'cancelled' });
    expect(classifyResult({ hits: 3 }, context)).toBeUndefined();
  });
});

describe('O2: HTTP status on the usual shapes', () => {
  const expected: readonly (readonly [number, ErrorCategory])[] = [
    [400, 'invalid_input'],
    [401, 'permission'],
    [403, 'permission'],
    [404, 'invalid_input'],
    [408, 'timeout'],
    [422, 'invalid_input'],
    [429, 'rate_limit'],
    [500, 'server'],
    [502, 'server'],
    [503, 'server'],
    [504, 'timeout'],
    [529, 'server'],
  ];

  it.each(expected)('%i is %s', async (status, wanted) => {
    // As a `Response` that is thrown, as an `IncomingMessage`, and as the errors that libraries make of them.
    const response = await fetch(`${base}/${status}`);
    await response.body?.cancel();
    const incoming = await get(`${base}/${status}`);
    incoming.resume();
    const shapes = [
      response,
      incoming,
      Object.assign(new Error('x'), { status, headers: response.headers }),
      Object.assign(new Error('x'), { response: { status, headers: { 'retry-after': '7' } } }),
      Object.assign(new Error('x'), { response: incoming }),
      Object.assign(new Error('x'), { statusCode: status, responseHeaders: { 'Retry-After': '7' } }),
      Object.assign(new Error('x'), { $metadata: { httpStatusCode: status }, retryAfter: 7 }),
      new Error('outer', { cause: response }),
      { error: { status }, headers: new Map([['retry-after', '7']]) },
    ];
    for (const shape of shapes) {
      expect(classifyError(shape, now)).toEqual({ category: wanted, retryAfterMs: 7000 });
    }
  });

  it('407 is permission; fetch turns it into a network error', async () => {
    const incoming = await get(`${base}/407`);
    incoming.resume();
    expect(category(incoming)).toBe('permission');
    expect(category(await thrownBy(() => fetch(`${base}/407`)))).toBe('network');
  });

  it('a numeric code is a status only in known classes; a JSON-RPC code never is', () => {
    class StreamableHTTPError extends Error {
      code = 503;
    }
    expect(category(new StreamableHTTPError('down'))).toBe('server');
    expect(category(Object.assign(new Error('x'), { code: 503 }))).toBe('unknown');
    expect(category(Object.assign(new Error('x'), { status: 200 }))).toBe('unknown');
    expect(category(Object.assign(new Error('x'), { status: -32602 }))).toBe('unknown');
    expect(category(Object.assign(new Error('x'), { status: '429' }))).toBe('rate_limit');
    expect(category(Object.assign(new Error('x'), { status: 'error' }))).toBe('unknown');
  });

  it('a long list of causes is read up to 16,384 characters', () => {
    const filler = 'x'.repeat(4096);
    const withCauses = (count: number) =>
      new AggregateError(
        [...Array.from({ length: count }, () => new Error(filler)), new Error('HTTP error 503')],
        'all',
      );
    expect(category(withCauses(2))).toBe('server');
    expect(category(withCauses(6))).toBe('unknown');
  });
});
