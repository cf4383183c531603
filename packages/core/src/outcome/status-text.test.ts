import { describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from './classify.ts';
import { httpStatusIn } from './status-text.ts';
import type { ErrorCategory } from './taxonomy.ts';

const thrown = (text: string) => classifyError(new Error(text), { unixMs: 0 }).category;
const returned = (text: string) =>
  classifyResult({ isError: true, content: [{ type: 'text', text }] }, { unixMs: 0 })?.category;

const STATUSES: readonly (readonly [number, ErrorCategory])[] = [
  [404, 'invalid_input'],
  [401, 'permission'],
  [429, 'rate_limit'],
  [503, 'server'],
];

describe('O2: the status in what tools throw when an answer is not ok', () => {
  it.each(STATUSES)('O2: %i, however it is put, is %s', (status, wanted) => {
    for (const text of [
      `Failed to fetch weather: ${status}`,
      `Failed to fetch https://api.example.com/v1: ${status}`,
      `Failed to fetch page (${status})`,
      `Failed to load user: ${status}`,
      `Failed to fetch weather: HTTP ${status}`,
      `Search failed (${status})`,
      `Search failed: ${status}`,
      `The request failed with status ${status}`,
      `Request failed: ${status}`,
      `Tool execution failed: ${status}`,
      `Error fetching weather: ${status}`,
      `Error calling the API: ${status}`,
      `Unexpected server response: ${status}`, // ws
      `Expected 200 but got ${status}`,
      `GET /users/9 ${status}`,
      `POST https://api.example.com/users: ${status}`,
      `API error: ${status} Something`,
      `HTTPStatusError ${status}`,
    ]) {
      expect([text, thrown(text)]).toEqual([text, wanted]);
    }
  });

  it('O2: with the words that go with it, and by the words alone', () => {
    for (const [text, wanted] of [
      ['Request failed: 500 Internal', 'server'],
      ['Failed to load weather: 404 not found', 'invalid_input'],
      ['Failed to fetch weather: Service Unavailable', 'server'],
      ['Failed to fetch user 999: Not Found', 'invalid_input'],
      ['Error fetching data: Forbidden', 'permission'],
      ['Search failed: Too Many Requests', 'rate_limit'],
      ['Gateway Timeout', 'timeout'],
      ['Bad Request', 'invalid_input'],
      ['404 not found', 'invalid_input'],
      ['Resource not found (404)', 'invalid_input'],
      ['503 upstream connect error or disconnect/reset before headers', 'server'],
    ]) {
      expect([text, thrown(text ?? '')]).toEqual([text, wanted]);
    }
  });

  it("O2: fetch's own text is the network, and what a tool says of what it fetched is not", () => {
    for (const text of [
      'Failed to fetch',
      'fetch failed',
      'TypeError: Failed to fetch',
      'Failed to fetch https://x/y',
    ]) {
      expect([text, thrown(text)]).toEqual([text, 'network']);
    }
    expect(thrown('Failed to fetch weather data')).toBe('unknown');
    expect(thrown('Failed to fetch from cache')).toBe('unknown');
  });

  it('O2: ids, ports, amounts and numbers that are no status say nothing', () => {
    for (const text of [
      'Failed to get order id: 404',
      'Failed to contact port: 503',
      'Failed to read line: 429',
      'Failed to update the amount: 500',
      'Failed to save the total: 401',
      'Failed to get room (503)',
      'Failed to find seat (404)',
      'Failed to load user (429)',
      'Failed to load weather for zip: 501',
      'Failed to load user 503',
      'Failed to fetch 503 rows',
      'Failed to fetch weather: 503 rows are too many',
      'Failed to fetch weather: 599',
      'Failed to fetch weather: 450',
      'Failed to fetch weather: 5030',
      'Failed to fetch weather: -503',
      'Failed to fetch weather: 1503',
      'Passed: 10, failed: 404',
      'Payment failed: 500',
      'Tests failed (404)',
      'Order not found (503)',
      'Expected 300 but got 404',
      'GET 404',
      'FORGET /users/9 404',
    ]) {
      expect([text, httpStatusIn(text, 'thrown')]).toEqual([text, undefined]);
    }
  });

  it('O2: returned, as MCP returns what a tool threw, only where the number has its own reason or a request failed', () => {
    for (const [status, wanted] of STATUSES) expect(returned(`Request failed: ${status}`)).toBe(wanted);
    for (const [text, wanted] of [
      ['Failed to fetch weather: 503 Service Unavailable', 'server'],
      ['Failed to fetch weather: 503 unavailable', 'server'],
      ['Failed to load weather: 429 too many requests', 'rate_limit'],
      ['Error fetching weather: 401 unauthorized', 'permission'],
      ['GitHub API error: 500 internal', 'server'],
      ['GET /users/9 502 bad gateway', 'server'],
      ['GET /users/9 404 not found', 'invalid_input'],
    ]) {
      expect([text, returned(text ?? '')]).toEqual([text, wanted]);
    }
    for (const text of [
      'Failed to fetch weather: 503',
      'Failed to fetch weather: 503 rows',
      'Failed to fetch weather: 500 not found',
      'Error fetching price for SKU 12: 503',
      'Error fetching postal code: 501',
      'Error fetching balance in EUR: 500',
      'Failed to fetch all rows, only got: 500',
      'GET /rooms/ 503',
      'API Error: 500 Points required',
      'Failed to fetch rooms: 500 internal rooms',
      'Failed to fetch rooms: 429 too many beds',
      'Failed to fetch order: 503',
      'Failed to load weather: 503',
      'Search failed (503)',
      'Failed to fetch user: Not Found',
      'Not Found',
      'Tool execution failed: 429',
    ]) {
      expect([text, returned(text)]).toEqual([text, 'tool_error']);
    }
  });

  it('O2: takes time in proportion to the text, at worst', () => {
    // A test that does not end fails by its time limit.
    for (const piece of [
      'failed to fetch a',
      'error fetching ',
      'GET /',
      'search failed (',
      'api error occurred ',
      ': 404 ',
    ]) {
      expect(httpStatusIn(piece.repeat(4000), 'thrown')).toBeUndefined();
    }
  });
});
