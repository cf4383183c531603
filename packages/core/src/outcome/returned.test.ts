import { describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from './classify.ts';
import { readMessage } from './message.ts';
import type { ErrorCategory } from './taxonomy.ts';

/** What each text is in an error result: outages as tools of many languages write them, and business that sounds so. */
const TEXTS: Readonly<Partial<Record<ErrorCategory, readonly string[]>>> = {
  network: [
    'httpx.ConnectError: All connection attempts failed',
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443): Max retries exceeded with url: /",
    'aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host x:443',
    'socket.gaierror: [Errno -5] No address associated with hostname',
    'java.net.UnknownHostException: api.example.com',
    'page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:1/',
    'page.goto: net::ERR_CONNECTION_RESET at https://x/',
    'page.goto: net::ERR_NAME_NOT_RESOLVED at https://nope.invalid/',
    'net::ERR_INTERNET_DISCONNECTED',
    'net::ERR_ADDRESS_UNREACHABLE',
    'net::ERR_NETWORK_CHANGED',
    'Get "https://x": unexpected EOF',
    'unexpected EOF',
    'TLS handshake failed',
    'remote error: tls: handshake failure',
    '14 UNAVAILABLE: No connection established',
    'Error: 14 UNAVAILABLE: connect failed',
    'rpc error: code = Unavailable desc = down',
    'connect: Host is down',
    'Host is down.',
    'write: broken pipe',
    'request to https://x failed, reason: certificate has expired',
    'TypeError: fetch failed',
    'Failed to fetch',
    'stream has been aborted',
    'Get "https://x": dial tcp: lookup api.example.com: no such host',
    'dial tcp 192.0.2.1:443: connect: no answer',
    'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    'httpx: Server disconnected without sending a response.',
    "('Connection aborted', 'Remote end closed connection without response')",
    "(2013, 'Lost connection to MySQL server during query')",
    "(2006, 'MySQL server has gone away')",
  ],
  timeout: [
    'net::ERR_CONNECTION_TIMED_OUT',
    'page.goto: net::ERR_TIMED_OUT at https://x/',
    'page.goto: Timeout 30000ms exceeded.',
    'timeout of 5000ms exceeded',
    'dial tcp 192.0.2.1:443: i/o timeout',
    'net/http: TLS handshake timeout',
    'context deadline exceeded',
    '4 DEADLINE_EXCEEDED: Deadline exceeded after 2s',
    'status = StatusCode.DEADLINE_EXCEEDED',
    'httpx.ReadTimeout: ',
    "HTTPSConnectionPool(host='x', port=443): Read timed out. (read timeout=5)",
    'Read timeout on endpoint URL: "https://x"',
    'The request to https://x timed out',
    'Command timed out after 30 seconds',
    'timed out',
    'Error executing tool find: timed out',
    'timeout exceeded when trying to connect',
    'Connection timeout (5000ms)',
    'Navigation timeout of 30000 ms exceeded',
    'Gateway Timeout',
    'The operation was aborted due to timeout',
    'canceling statement due to statement timeout',
    'sqlite3.OperationalError: database is locked',
  ],
  rate_limit: [
    'rate limit exceeded',
    'GitHub API rate limit exceeded for user 1',
    'You have exceeded a secondary rate limit',
    'You are being rate-limited',
    'rate_limit_error',
    'Throttling: Rate exceeded',
    'An error occurred (ThrottlingException) when calling the Query operation',
    '429 {"type":"error"}',
  ],
  permission: ['permission denied', 'Access denied', "Access denied for user 'app'@'db'", '7 PERMISSION_DENIED: no'],
  resource: [
    'Quota exceeded for metric: reads',
    'You exceeded your current quota',
    '8 RESOURCE_EXHAUSTED: out',
    'RESOURCE_EXHAUSTED',
    'Error: RESOURCE_EXHAUSTED, try again later',
    'Too many connections',
    "(1040, 'Too many connections')",
    'FATAL: sorry, too many clients already',
    'HTTP 400: insufficient_quota',
    `HTTP 400: Your credit balance is too low to access the Anthropic API.`,
  ],
  server: [
    'received 503 from upstream',
    'got a 502 response',
    'Request failed with status code 503',
    'The API server responded with 500',
    'upstream says 503',
    'Request to https://x failed: status 503',
    '{"status":503,"error":"x"}',
    'API error: 500',
    '503 Server Error: Service Unavailable for url: https://x',
    'HTTP 503',
    'Service Unavailable',
    '13 INTERNAL: boom',
    'ERROR: deadlock detected',
  ],
  tool_error: [
    'Quota exceeded',
    'Quota exceeded: 5 tickets per customer',
    'Not enough credits to play',
    'Insufficient funds',
    'There is no such host in this town',
    'Itinerary rejected: too many connections',
    'The database is locked by its owner until Monday',
    'Invalid quantity: expected at most 400, got 500',
    'The customer says 500.',
    'Ticket #500 is closed. Error: 500',
    'An unexpected error occurred: 500',
    'Model unavailable: Toyota Corolla',
    'Room service is unavailable',
    'Room service is currently unavailable.',
    'Service unavailable in your area',
    'Payment declined: access denied by card issuer',
    'Payment declined: 3-D Secure authentication failed',
    'Your seat hold timed out',
    'Your seat hold timed out after 900 seconds',
    'The booking was released after a timeout',
    'Check-in deadline has been exceeded',
    'Query timeout value must be positive',
    'Request timeout: must be a positive number',
    'Flight status: 504',
    'Order status: 500, shipped',
    'Order status code: 500',
    'Payment returned 402',
    'Throttling valve part not found',
    'Broken pipe fitting not found',
    'interest rate limit reached',
    'The rate limit of this loan is 5 percent',
    'quota exceeded for this seller',
    'The order exceeds the quota',
    "The customer's credit balance is too low",
    'Gift certificate has expired',
    'Your bank account is not connected',
    'Your flight connection was lost',
    'The host is down with a cold',
    'Failed to fetch order 12: unknown id',
    'Row 14 UNAVAILABLE',
    '5 NOT_FOUND: no such order',
    'bash: line 1: unexpected EOF while looking for matching quote',
    'invalid JSON: unexpected EOF',
    'net::ERR_ABORTED at https://x/file.zip',
  ],
};

const mcp = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });

describe('O2: the text of an error result, against the outages and the business of the world', () => {
  const rows = Object.entries(TEXTS).flatMap(([wanted, texts]) => texts.map((text) => [wanted, text] as const));

  it.each(rows)('%s: %s', (wanted, text) => {
    expect(classifyResult(mcp(text), { unixMs: 0 })).toEqual({ category: wanted });
    expect(classifyResult({ error: text }, { unixMs: 0 })).toEqual({ category: wanted });
    expect(classifyResult({ error: { message: text } }, { unixMs: 0 })).toEqual({ category: wanted });
  });

  it('is read more strictly than the same text that was thrown', () => {
    for (const [wanted, text] of [
      ['timeout', 'the lookup of seats timed out'],
      ['server', 'Error: 500, giving up'],
      ['server', 'Model unavailable'],
    ]) {
      expect(classifyError(new Error(text), { unixMs: 0 })).toEqual({ category: wanted });
      expect(classifyResult(new Error(text), { unixMs: 0 })).toEqual({ category: 'tool_error' });
    }
  });

  it('takes time in proportion to the text, at worst', () => {
    // A test that does not end fails by its time limit.
    const pieces =
      'request |api error |got 500 |server a b |connection |timed out |failed, |: status |unexpected EOF |tls ';
    for (const piece of pieces.split('|')) {
      expect(readMessage(piece.repeat(4000), 'returned')?.category ?? 'nothing').not.toBe('server');
    }
  });
});
