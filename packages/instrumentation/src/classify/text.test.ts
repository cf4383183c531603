import { describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from '../test-support/classify/verdicts.ts';
import { readReturned, readThrown } from './classify.ts';
import { labelMeaning, readProse } from './text.ts';

const category = (text: string): string => classifyError(new Error(text), { unixMs: 0 }).category;

describe('O2: what is before a text', () => {
  it.each<[string, string]>([
    ['cancelled', 'Error: aborted'],
    ['cancelled', 'error:aborted'],
    ['cancelled', '  Error: MCP error -32000: aborted'],
    ['cancelled', "Error executing tool 'find-it': cancelled"],
    ['cancelled', 'Error calling MCP tool find: cancelled'],
    ['cancelled', 'Error invoking tool find: cancelled'],
    ['cancelled', 'Tool call failed: cancelled'],
    ['tool_error', 'Shop: cancelled'],
    ['cancelled', 'Error:\\naborted'],
    ['timeout', 'the request\\ntimed out'],
    ['tool_error', "'Connection lost' does not exist"],
    ['tool_error', '`The server is down` not found'],
    ['tool_error', '[internal error] is not a song'],
    ['network', "'Connection lost' at noon"],
    ['network', "it's 'connection lost' at noon"],
  ])('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));

  it('O2: a fetch tool does not fetch other schemes', () => {
    const sign = 'a URL that is not fetched';
    const unserved = { category: 'tool_error', sign, hard: false };
    expect(readProse('cannot load gopher://a.example: fetch failed', 'fetch')).toEqual(unserved);
    expect(readProse('cannot load https://a.example: fetch failed', 'fetch')?.sign).toBe('a connection failed');
    expect(readProse('cannot load gopher://a.example: fetch failed')?.sign).toBe('a connection failed');
  });
});

describe('O10: the text of an abort, while the signal of the call has not fired', () => {
  const { signal } = new AbortController();
  const call = { tool: 'make_thing', input: { name: 'lamp' }, signal };
  const content = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });
  const shapes = (text: string) => [
    readThrown(new Error(text), call),
    readThrown(text, call),
    readReturned({ error: text }, call),
    readReturned({ success: false, message: text }, call),
    readReturned({ id: 7, error: text }, call),
    readReturned(content(text), call),
  ];

  it.each([
    'This operation was aborted',
    'The operation was aborted.',
    'The operation was aborted. ',
    'The user aborted a request.',
    'Search failed: The user aborted a request.',
    'canceled',
    'aborted',
    'Aborted',
    'Search failed: canceled',
    'Error while searching (page 2): aborted',
    'AbortError',
    'Lookup: AbortError: This operation was aborted',
    'Request was aborted.',
    'Request aborted',
    'signal is aborted without reason',
    'The operation was canceled.',
    'A task was canceled.',
    'This operation was aborted\n    at new DOMException (node:internal:1:1)',
  ])('O10: timeout: %s', (text) => {
    expect(shapes(text)).toMatchObject(Array(6).fill({ category: 'timeout', blames: 'tool', judgedBy: 'evidence' }));
    expect(readReturned(`Error: ${text}`, call)).toMatchObject({ category: 'timeout', marked: false });
    expect(readThrown(new Error(text)).category).toBe('cancelled');
    expect(readThrown(new Error(text), { ...call, signal: AbortSignal.abort() }).category).toBe('cancelled');
  });

  it.each([
    ['cancelled', 'Cancelled'],
    ['cancelled', 'Canceled'],
    ['cancelled', 'Operation cancelled'],
    ['cancelled', 'The operation was cancelled by the user'],
    ['cancelled', 'User aborted'],
    ['cancelled', 'MCP error -32000: Request was cancelled'],
    ['cancelled', 'The request was aborted by the customer: too late'],
    ['tool_error', 'Payment failed: canceled'],
    ['tool_error', 'The order was canceled'],
    ['tool_error', 'Order 17: canceled'],
    ['tool_error', 'Status: canceled'],
    ['unknown', 'Payment aborted by the customer'],
  ])('O10: %s, of a person or an order: %s', (wanted, text) => {
    expect(readThrown(new Error(text), call).category).toBe(wanted);
    expect(readReturned(content(text), call)?.category).toBe(wanted === 'unknown' ? 'tool_error' : wanted);
    expect(readReturned(text, call)).toBeUndefined();
  });

  it('O9, O10: a line without a mark is a success of a tool that reports or reads, and without a signal', () => {
    const text = 'Error: This operation was aborted';
    expect(readReturned(text, { ...call, tool: 'get_job_result' })).toBeUndefined();
    expect(readReturned(text, { ...call, input: { query: 'zebra' } })).toBeUndefined();
    expect(readReturned(text, { tool: 'make_thing' })).toBeUndefined();
    expect(readReturned('This operation was aborted', call)).toBeUndefined();
  });
});

describe('O2e: the ends of a long text', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} of a log`);
  it.each<[string, string[]]>([
    ['timeout', [...lines(2), 'timed out', ...lines(2)]],
    ['unknown', [...lines(2), 'timed out', ...lines(3)]],
    ['timeout', [...lines(4), '    timed out']],
    ['timeout', [...lines(5), '    timed out']],
    ['unknown', [...lines(1), '    a', '    b', 'timed out', '    c', '    d', '    e']],
    ['unknown', [...lines(1), ...Array(9).fill(''), 'timed out', ...Array(9).fill(''), '    c', '    d']],
    [
      'timeout',
      ['Traceback', '  File "a.py", line 3', '    x()', '    ^^^', 'timed out', '  File "b.py", line 4', '    y()'],
    ],
    ['timeout', [...lines(8), 'timed out', ...lines(1), '{', '}']],
    ['timeout', [...lines(8), 'a:10 timed out', ...lines(1)]],
    ['timeout', [...lines(8), '77777 timed out', ...lines(1)]],
    ['timeout', [...lines(8), 'timed out', '});', ...lines(1)]],
    ['timeout', [...lines(2), 'timed out', ...lines(2), '    at f', '    at g']],
    ['timeout', [...lines(1), 'timed out', ...lines(8)]],
    ['timeout', [...lines(8), 'timed out', ...lines(1)]],
    ['unknown', [...lines(8), 'timed out', ...lines(2)]],
    ['timeout', [...lines(8), 'timed out', '', '  ', ...lines(1)]],
    ['timeout', [...lines(8), 'timed out', '}', '/x/y.js:10', 'Node.js v24.1.0', '    at f (x.js:1:1)', ...lines(1)]],
    ['unknown', [...lines(8), `${'x'.repeat(501)} timed out`]],
    ['timeout', [...lines(8), `${'x'.repeat(480)} timed out`]],
    ['unknown', ['{', '  "a": 1,', ...lines(4), '  timed out', '  "b": 1', '}']],
  ])('O2e: %s: %j', (wanted, text) => expect(category(text.join('\n'))).toBe(wanted));

  const long = `${'Loading module configuration from the registry\n'.repeat(100)}Error: connect ECONNREFUSED 10.0.0.1:5432`;
  it.each<[string, unknown]>([
    ['a message', new Error(long)],
    ['a message with advice', new Error(`${long}\n<breakerbox>${'Do not call it now. '.repeat(99)}</breakerbox>`)],
    ['a string', long],
    ['a text of MCP', { isError: true, content: [{ type: 'text', text: long }] }],
    ['several texts of MCP', { isError: true, content: [{ text: 'x' }, { text: long }, { text: 'y' }] }],
    ['a detail', { detail: long }],
    [
      'the output of a command',
      Object.assign(new Error(`Command failed: ${'x '.repeat(5000)}\nECONNREFUSED`), { cmd: 'x '.repeat(5000) }),
    ],
  ])('O2e: the last lines of a long text are evidence: %s', (_, error) =>
    expect(classifyError(error, { unixMs: 0 }).category).toBe('network'),
  );

  it('O2e: the middle of a long text is not', () => {
    const middle = `${'Loading\n'.repeat(600)}connect ECONNREFUSED 10.0.0.1:5432\n${'Loading\n'.repeat(600)}`;
    expect(category(middle)).toBe('unknown');
  });

  it('O2e: a text of 1,000 characters is read as a whole', () => {
    expect(category(`${'x'.repeat(990)} timed out`)).toBe('timeout');
    expect(category(`${'x'.repeat(1000)} timed out`)).toBe('unknown');
  });
});

describe('O2: labels of an error', () => {
  it.each<[string | undefined, unknown]>([
    ['its type', { type: 'server_error' }],
    ['its type', { type: 'overloaded-error' }],
    ['its __type', { __type: 'com.example#ThrottlingException' }],
    ['its __type', { __type: 'aws.ThrottlingException' }],
    ['its code', { code: 'RateLimitError' }],
    ['its error_code', { error_code: 'internal_error' }],
    ['its errorCode', { errorCode: 'INTERNAL_ERROR' }],
    ['its errorType', { errorType: 'Runtime.OutOfMemory' }],
    ['its errorType', { errorType: 'app.MemoryError' }],
    ['its type', { type: 'bad-gateway' }],
    ['its status', { code: 503, status: 'UNAVAILABLE' }],
    ['its code', { extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
    ['its status', { status: 'SERVICE_UNAVAILABLE' }],
    [undefined, { status: 'UNAVAILABLE' }],
    [undefined, { code: 503, type: 'UNAVAILABLE' }],
    [undefined, { code: 404, status: 'NOT_FOUND' }],
    [undefined, { type: 'not_found' }],
    [undefined, Object.assign(new Error('x'), { type: 'server_error' })],
    [undefined, {}],
  ])('O2: %s: %j', (sign, error) => expect(labelMeaning(error)?.sign).toBe(sign));

  it('O2: the text outranks them if it is about an outage', () => {
    expect(classifyResult({ error: { message: 'timed out', type: 'server_error' } }, { unixMs: 0 })?.category).toBe(
      'timeout',
    );
    expect(classifyResult({ error: { message: 'sold out', type: 'server_error' } }, { unixMs: 0 })?.category).toBe(
      'server',
    );
  });
});

describe('O2: several signs in one text', () => {
  it.each<[string, string]>([
    ['rate_limit', 'HTTP 400: ThrottlingException'],
    ['rate_limit', 'HTTP 400: ProvisionedThroughputExceededException'],
    ['resource', 'HTTP 400: LimitExceededException'],
    ['invalid_input', 'HTTP 400: ConnectTimeout'],
    ['rate_limit', 'HTTP 403: rate limit exceeded'],
    ['resource', 'HTTP 400: QuotaExceededException'],
    ['resource', 'HTTP 432: this exceeds your plan: usage limit exceeded'],
    ['permission', 'HTTP 400: API key not valid'],
    ['invalid_input', 'HTTP 400: connection refused'],
    ['invalid_input', 'HTTP 404: rate limit exceeded'],
    ['invalid_input', 'HTTP 4000 is not, but HTTP 400 is'],
    ['timeout', 'ECONNABORTED: timeout of 5 ms'],
    ['unknown', 'ECONNABORTED'],
  ])('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));

  it('O2: a class leaves the host to the words', () => {
    const verdict = (text: string) => classifyError(new Error(text), { unixMs: 0, kind: 'fetch' });
    expect(verdict('ConnectError: Name or service not known')).toEqual(verdict('Name or service not known'));
    expect(verdict('ConnectError: connection refused')).toEqual({ category: 'network', blames: 'key' });
    expect(verdict('ConnectError: x')).toEqual({ category: 'network' });
    expect(verdict('ECONNRESET: Name or service not known')).toEqual({ category: 'network' });
  });
});
