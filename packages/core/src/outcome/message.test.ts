import { describe, expect, it } from 'vitest';
import { readMessage } from './message.ts';
import type { ErrorCategory } from './taxonomy.ts';

const TEXTS: Readonly<Record<ErrorCategory | 'nothing', readonly string[]>> = {
  network: [
    'connect ECONNREFUSED 127.0.0.1:1',
    'getaddrinfo ENOTFOUND api.example.com',
    'HTTP 503: upstream connect failed with ECONNREFUSED',
    'write ECONNABORTED',
    'socket hang up',
    'ConnectionRefusedError: [Errno 111] Connection refused',
    'Failed to establish a new connection: Name or service not known',
    'self-signed certificate in certificate chain',
    'MCP error -32000: Connection closed',
    'Attempted to send a request from a closed client',
  ],
  timeout: [
    'Request timed out.',
    'timeout of 5000ms exceeded',
    'The operation was aborted due to timeout',
    'requests.exceptions.ReadTimeoutError: pool',
    'context deadline exceeded',
    'HTTP 504',
    '504 Gateway Timeout',
    'Timeout',
    'MCP error -32001: Request timed out',
  ],
  rate_limit: [
    'Request failed with status code 429',
    '429 Too Many Requests',
    'Rate limit reached for gpt-x',
    'rate_limit_error',
    'You are being rate-limited',
    'Error: 429 {"type":"error"}',
    'Too many requests, please slow down',
  ],
  permission: [
    'EACCES: permission denied, open /etc/shadow',
    'HTTP 401',
    '403 Forbidden',
    'Unauthorized',
    'Error: Forbidden',
    'permission denied',
    'Invalid API key provided',
    'The access token has expired',
    'Access denied',
  ],
  filesystem: [
    "ENOENT: no such file or directory, open '/data/ECONNREFUSED.md'",
    'cat: x: No such file or directory',
    'FileNotFoundError: [Errno 2]',
    'Read-only file system',
    'EIO: i/o error, read',
  ],
  server: [
    'HTTP 503',
    'HTTP/1.1 502 Bad Gateway',
    'HTTP error! status: 500',
    'HTTP status code: 503',
    '{"status":503,"error":"x"}',
    'status code 503 from upstream',
    'Error code: 529 - overloaded',
    'error 500',
    'the search service answered 503',
    'upstream says 503',
    'failed with 502, giving up',
    '503',
    '503 Service Unavailable',
    'Internal Server Error',
    'Service temporarily unavailable',
    'overloaded_error',
    'The model is overloaded',
    'MCP error -32603: boom',
  ],
  resource: [
    'no space left on device',
    'ENOSPC: write',
    'You exceeded your current quota, please check your plan',
    'JavaScript heap out of memory',
    'Quota exceeded for metric',
    'Your credit balance is too low to access the API',
  ],
  invalid_input: [
    'MCP error -32602: Tool find not found',
    'MCP error -32602: Input validation error: Invalid arguments for tool find: "ETIMEDOUT"',
    'Input validation error: Invalid arguments for tool x',
    'Access denied - path outside allowed directories: /etc not in /data',
    'HTTP 404',
    'Request failed with status code 422',
    '400 Bad Request',
    'missing required parameter: city',
    'Invalid arguments',
    'Received tool input did not match expected schema: parameter validation failed',
  ],
  denied: ['The call was rejected by the user', 'User denied permission to run the command', 'denied by policy'],
  cancelled: [
    'AbortError: This operation was aborted',
    'This operation was aborted',
    'MCP error -32000: Request was cancelled',
  ],
  tool_error: ['MCP error -32002: Resource not found'],
  unknown: [],
  nothing: [
    '',
    '   ',
    'boom',
    '503 results',
    'Found 429 results',
    'returned 500 rows',
    'Order 503 not found',
    'Error: 404 items were left in the cart',
    'Invalid quantity: expected at most 400, got 500',
    'The customer says 500.',
    'unknown order id',
    'unknown order id 503',
    'Flight HAT500 is not available on that date',
    'Basic economy flights are forbidden from being cancelled',
    'The user is not authorized to change this booking',
    'timeout must be a positive number',
    'Query timeout value must be positive',
    'Payment of 502 dollars is more than the card holds',
    'the port 5000 is used',
    'EXISTING customers only',
    'The seat is reset to 12A',
    'item is unavailable',
  ],
};

describe('O2: plain text', () => {
  const rows = Object.entries(TEXTS).flatMap(([wanted, texts]) => texts.map((text) => [wanted, text] as const));

  it.each(rows)('%s: %s', (wanted, text) => {
    expect(readMessage(text, 'thrown')?.category ?? 'nothing').toBe(wanted);
  });

  it('tells a path that is wrong from a disk that is', () => {
    expect(readMessage('ENOENT: x', 'thrown')).toMatchObject({ aboutInput: true });
    expect(readMessage('no such file', 'thrown')).toMatchObject({ aboutInput: true });
    expect(readMessage('EIO: x', 'thrown')).not.toMatchObject({ aboutInput: true });
  });

  it('takes time in proportion to the text, at worst', () => {
    // Each of these would not end in an expression that backtracks; a test that does not end fails by its time limit.
    for (const piece of ['HTTP ', 'status ', 'error ', 'a', ' ', 'Timeout', 'connection ', 'E', 'ERR_', '(', 'in ']) {
      expect(['nothing', 'timeout']).toContain(readMessage(piece.repeat(5000), 'thrown')?.category ?? 'nothing');
    }
  });
});
