import * as core from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ReadContext, readReturned, readThrown, type Verdict } from './classify.ts';

const short = (verdict: Verdict | undefined): string =>
  verdict ? `${verdict.category} of the ${verdict.blames}` : 'success';
const thrown = (error: unknown, context: ReadContext = {}) => short(readThrown(error, context));
const returned = (result: unknown, context: ReadContext = {}) => short(readReturned(result, context));
const coded = (code: unknown, message: string, more: object = {}) =>
  Object.assign(new Error(message), { code, ...more });
const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

/** What the classifier tells the application's log, until the test ends. */
const logged = (): readonly string[] => {
  const said: string[] = [];
  const log = (text: string) => void said.push(text);
  diag.setLogger({ error: log, warn: log, info: log, debug: log, verbose: log }, { suppressOverrideMessage: true });
  onTestFinished(() => diag.disable());
  return said;
};

describe('E5: arguments that break the classifier', () => {
  it('E5: an error is unknown, a result is a success, and the program goes on', () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    const context = { input: { command: proxy } };
    const said = logged();
    expect(readThrown(new Error('timed out'), context)).toEqual({
      category: 'unknown',
      blames: 'tool',
      why: 'it cannot be read',
      judgedBy: 'evidence',
      marked: true,
    });
    expect(readReturned({ error: 'timed out' }, context)).toBeUndefined();
    expect(said).toEqual([expect.stringContaining('reading an error'), expect.stringContaining('reading a result')]);
  });

  it('E5: ordinary results put nothing into the log', () => {
    const said = logged();
    for (const result of [undefined, 5, {}, { content: [] }, 'Error: oops', '{"a":1}', '<html><title>5</title></html>'])
      expect(readReturned(result)).toBeUndefined();
    expect(said).toEqual([]);
  });
});

const cloudflare = (title: string): string =>
  `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><div id="cf-error-details">${'<p>What happened?</p> '.repeat(200)}</div></body></html>`;
const soap = (fault: string, more = ''): string =>
  `<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault>${fault}</s:Fault></s:Body></s:Envelope>${more}`;
const fault11 = (code: string, text: string): string =>
  soap(`<faultcode>${code}</faultcode><faultstring xml:lang="en">${text}</faultstring>`);
const fault12 = (code: string, text: string): string =>
  soap(`<s:Code><s:Value>${code}</s:Value></s:Code><s:Reason><s:Text xml:lang="en">${text}</s:Text></s:Reason>`);

describe('O2: answers of Cloudflare, SOAP and Django', () => {
  it.each([
    ['timeout of the tool', cloudflare('api.example.com | 522: Connection timed out')],
    ['timeout of the tool', cloudflare('api.example.com | 524: A timeout occurred')],
    ['server of the tool', cloudflare('api.example.com | 520: Web server is returning an unknown error')],
    ['server of the tool', cloudflare('api.example.com | 523: Origin is unreachable')],
    ['server of the tool', cloudflare('api.example.com | 526: Invalid SSL certificate')],
    ['server of the tool', cloudflare('api.example.com | 527: Railgun Error')],
    ['server of the tool', cloudflare('api.example.com | 530: Origin DNS error')],
    ['success', cloudflare('How we fixed it')],
    ['success', cloudflare('api.example.com | 522: Connection timed out'), { input: { path: 'saved.html' } }],
    ['server of the tool', 'error code: 521'],
    ['rate_limit of the tool', 'error code: 1015'],
    ['timeout of the tool', fault11('soap:Server', 'Timeout expired. The timeout period elapsed')],
    ['server of the tool', fault12('s:Receiver', 'The service is unavailable')],
    ['tool_error of the tool', fault11('soap:Client', 'Account 12 has been closed')],
    ['tool_error of the tool', fault11('soap:Server', 'Kontonummer fehlt')],
    ['success', fault11('soap:Server', 'Timeout expired'), { input: { file: 'log.xml' } }],
    ['success', soap('<note>none</note>')],
    ['success', `${fault11('soap:Server', 'Timeout expired')}${'<!-- -->'.repeat(2_048)}`],
    [
      'timeout of the tool',
      fault11('soap:Server', 'Timeout expired')
        .replace(/^.*?\?>/, '')
        .replaceAll('s:', 'soap:'),
    ],
    ['timeout of the tool', fault11('soap:Server', 'Timeout expired').replace('<?xml version="1.0"?>', '')],
    ['timeout of the tool', fault11('soap:Server', 'Timeout expired').replaceAll('s:', 'soap-env:')],
    ['success', `A fault looks like this: ${fault11('soap:Server', 'Timeout expired')}`],
    ['success', soap('<faultcode>soap:Server</faultcode>')],
    ['success', soap('<faultstring>Timeout expired</faultstring>')],
    ['success', soap('<note>none</note>', 'x'.repeat(20_000))],
    ['success', '<?xml version="1.0"?><rss><title>Timeout expired</title></rss>'],
    ['rate_limit of the tool', { detail: 'Request was throttled. Expected available in 37 seconds.' }],
    ['rate_limit of the tool', 'Request was throttled.'],
    ['permission of the tool', { message: 'Forbidden' }],
    ['permission of the tool', { message: 'Unauthenticated.' }],
    ['permission of the tool', { message: 'Missing Authentication Token' }],
    ['permission of the tool', { message: 'No API key found in request' }],
    ['permission of the tool', { detail: 'Authentication credentials were not provided.' }],
    ['rate_limit of the tool', { message: 'API rate limit exceeded' }],
    ['rate_limit of the tool', { message: 'Rate limit exceeded' }],
    ['server of the tool', { message: 'An invalid response was received from the upstream server' }],
    ['server of the tool', '<!DOCTYPE html><html><head><title>Application Error</title></head><body></body></html>'],
    ['success', { message: 'Forbidden City: open until 17:00' }],
    ['success', { message: 'Unauthenticated users cannot see prices' }],
    ['success', { message: 'Not authenticated' }],
    ['success', 'Failed: the API was down at noon'],
    ['server of the tool', 'Service unavailable'],
    ['timeout of the tool', 'Gateway Timeout'],
    ['timeout of the tool', 'A fatal error occurred: request timed out'],
    ['timeout of the tool', 'An error occurred while calling the tool: AxiosError: timeout of 5000ms exceeded'],
    ['timeout of the tool', 'An unexpected error has occurred: request timed out'],
    ['timeout of the tool', '错误：请求超时'],
    ['network of the tool', 'Fehler: Verbindung zum Server verweigert'],
    ['network of the tool', 'Erreur : connexion refusée'],
    ['network of the tool', 'エラー: サーバーに接続できません'],
    ['network of the tool', 'Ошибка: ошибка сети'],
    ['success', '请求超时是什么意思'],
    ['success', 'Fehlerfrei: Verbindung fehlgeschlagen heißt …'],
  ])('O2, O9: a result: %s: %s %j', (wanted, result, context?: object) =>
    expect(returned(result, context as never)).toBe(wanted),
  );

  it.each([
    ['timeout', `Could not load the data: ${cloudflare('api.example.com | 522: Connection timed out')}`],
    ['server', '523: Origin is unreachable'],
    ['server', '520 <none>'],
    ['server', "525, message='<none>', url='https://api.example.com/'"],
    ['timeout', fault11('soap:Server', 'Timeout expired')],
    ['timeout', '<Fault><faultcode>Server</faultcode><faultstring>Timeout expired</faultstring></Fault>'],
    ['timeout', 'No order. <html><head><title>504 Gateway Timeout</title></head></html>'],
    [
      'timeout',
      `No order. <!DOCTYPE html><html><head><style>${'.a{} '.repeat(300)}</style><title>504 Gateway Timeout</title></head></html>`,
    ],
    ['timeout', '<html><head><title>Order 5</title></head><body><h1>504 Gateway Timeout</h1></body></html>'],
    ['rate_limit', 'Request was throttled. Expected available in 37 seconds.'],
  ])('O2: an error: %s: %s', (category, text) => expect(readThrown(new Error(text)).category).toBe(category));

  it('O2: statuses of Cloudflare', () => {
    const category = (status: number) => readThrown(Object.assign(new Error('x'), { status })).category;
    expect([520, 521, 523, 525, 526, 527, 530].map(category)).toEqual(Array(7).fill('server'));
    expect([522, 524].map(category)).toEqual(['timeout', 'timeout']);
  });

  it('O3: Django says when the next request is allowed', () =>
    expect(readThrown(new Error('Request was throttled. Expected available in 37 seconds.')).retryAfterMs).toBe(
      37_000,
    ));

  it('O2: a SOAP fault about the request has status 500 too, and is an answer', () => {
    const thrown = (message: string) => readThrown(Object.assign(new Error(message), { response: { status: 500 } }));
    expect(thrown('soap:Client: Account 12 has been closed').category).toBe('tool_error');
    expect(thrown('soap:Client: Kontonummer fehlt').category).toBe('invalid_input');
    expect(thrown(fault12('env:Sender', 'Account 12 has been closed')).category).toBe('tool_error');
    expect(thrown('soap:Client: The service is unavailable').category).toBe('server');
    expect(thrown('soap:Server: Account 12 has been closed').category).toBe('server');
    expect(thrown('Of soap:Client: Kontonummer fehlt').category).toBe('server');
    const apart = '<faultcode>soap:Client</faultcode><faultstring>Kontonummer fehlt</faultstring>';
    const bare = `<Fault>${apart}</Fault>`;
    const attributed = soap(apart.replace('<faultcode>', '<faultcode xmlns="">'));
    expect(thrown(apart).category).toBe('server');
    for (const text of [soap(apart), bare, attributed]) expect(thrown(text).category).toBe('invalid_input');
    expect(thrown('soap:Client: Kontonummer fehlt').why).toBe('a SOAP fault of the sender');
  });
});

describe('O2: tools that handle code and do not run it', () => {
  const code = 'const page = await fetch(url);';
  it.each([
    ['create_gist', { code }],
    ['format_code', { code, language: 'ts' }],
    ['generate_code', { prompt: 'a client' }],
    ['lint', { code }],
  ])('O2d, O2f: %s: its result is code, and its errors are its own', (tool, input) => {
    expect(returned('Error: connect ECONNREFUSED 127.0.0.1:5432', { tool, input })).toBe('success');
    expect(returned('{"error": {"message": "Service unavailable"}}', { tool, input })).toBe('success');
    expect(readThrown(new Error('connect ECONNREFUSED 127.0.0.1:443'), { tool, input }).category).toBe('network');
  });
});

describe('O2: what a result without a mark says', () => {
  const down = 'connect ECONNREFUSED 127.0.0.1:1';
  it.each<[string, unknown, ReadContext?]>([
    ['network of the tool', `Error: ${down}`],
    ['network of the tool', `error ${down}`],
    ['network of the tool', `❌ Error: ${down}`],
    ['network of the tool', `Failed: ${down}`],
    ['network of the tool', `Failure ${down}`],
    ['network of the tool', `fatal: ${down}`],
    ['network of the tool', `Exception: ${down}`],
    ['network of the tool', `MCP error -32603: ${down}`],
    ['network of the tool', `Could not do it: ${down}`],
    ['network of the tool', `Unable to do it: ${down}`],
    ['network of the tool', `Cannot connect: ${down}`],
    ['network of the tool', `httpx.ConnectError: ${down}`],
    ['network of the tool', `IOException: ${down}`],
    ['timeout of the tool', 'httpx.ReadTimeout: timed out'],
    ['network of the tool', `The search failed: ${down}`],
    ['network of the tool', `Some error: ${down}`],
    ['network of the tool', `  Error: ${down}\n`],
    ['network of the tool', `Error: ${down}\n    at x\n}\n{`],
    ['network of the tool', `Error: ${down}\n<breakerbox>wait</breakerbox>`],
    ['network of the tool', { content: [{ type: 'text', text: `Error: ${down}` }] }],
    [
      'success',
      {
        content: [
          { type: 'text', text: `Error: ${down}` },
          { type: 'text', text: 'x' },
        ],
      },
    ],
    ['success', { content: [{ type: 'text', text: `Error: ${down}` }], structuredContent: { a: 1 } }],
    ['success', { content: `Error: ${down}` }],
    ['success', { content: [{ type: 'text', text: `Error: ${down}` }, { type: 'image' }] }],
    ['success', `Error: ${down}\nand more`],
    ['success', `Error handling: ${down}`],
    ['success', `Error codes: ${down}`],
    ['success', `Error code: ${down}`],
    ['success', `Error messages: ${down}`],
    ['success', `Error message: ${down}`],
    ['success', `>>>>> Error: ${down}`],
    ['success', `One two three four failed: ${down}`],
    ['network of the tool', down],
    ['success', `Error: ${down} ${'x'.repeat(400)}`],
    ['network of the tool', `Error: ${down} ${'x'.repeat(350)}`],
    ['success', 'Error: sold out'],
    ['success', 'Error: it is denied by the user'],
    ['success', ''],
    ['success', '   '],
    ['success', 5],
    ['success', `Error: ${down}`, { kind: 'runner' }],
    ['success', `Error: ${down}`, { tool: 'show', input: { path: 'x' } }],
    ['success', `Error: ${down}`, { input: { q: down } }],
    ['server of the tool', '<html><title>503  </title></html>'],
    ['success', '<html><title>503  </title></html>', { kind: 'runner' }],
    ['success', '<html><title>503  </title></html>', { input: { file: 'x' } }],
    ['success', `<html><title>503  </title>${' '.repeat(2048)}</html>`],
    ['server of the tool', `<html><title>503  </title>${' '.repeat(2048 - 33)}</html>`],
    ['success', `<html><title>503  </title>${' '.repeat(2048 - 32)}</html>`],
    ['timeout of the tool', `Error: timed out ${'x'.repeat(400 - 17)}`],
    ['success', `Error: timed out ${'x'.repeat(400 - 16)}`],
    ['server of the key', '<html><title>503  </title></html>', { input: { url: 'https://a.example' } }],
    ['server of the tool', { error: { message: 'Oslo: boom', type: 'server_error' } }, { input: { city: 'Oslo' } }],
    ['success', '<html><title>500 ways to cook</title></html>'],
    ['success', '<html><title>404 Media</title></html>'],
    ['server of the tool', '<html><title>503 Backend fetch failed</title></html>'],
    ['server of the tool', '<html><title>Error 502</title></html>'],
    ['server of the tool', '<html><title>Error</title><body>\n<pre>Internal Server Error</pre></body></html>'],
    ['server of the tool', '<html><body><h1>503 Service Unavailable</h1>\nNo server is available.</body></html>'],
    ['success', '<html><h2>503 Service Unavailable</h2></html>'],
    ['success', '<p><title>503 Service Unavailable</title>'],
    ['server of the tool', 'Internal server error'],
    ['server of the tool', 'no healthy upstream'],
    ['timeout of the tool', 'upstream request timeout'],
    ['success', 'a time-out'],
    ['success', 'analysis timed out'],
    ['success', 'OVER_QUERY_LIMIT'],
    ['success', 'INTERNAL_ERROR'],
    ['network of the tool', 'upstream connect error or disconnect/reset before headers'],
    ['rate_limit of the tool', 'Too Many Requests'],
    ['server of the tool', 'The service is temporarily unavailable.'],
    ['timeout of the tool', 'Gateway Time-out'],
    ['server of the tool', '503 Service Unavailable'],
    ['server of the tool', 'Server Error'],
    ['server of the tool', { message: 'Server Error' }],
    ['server of the tool', { detail: 'Internal Server Error' }],
    ['success', { title: 'Internal Server Error' }],
    ['success', 'REQUEST_DENIED'],
    ['success', 'TIMED_OUT'],
    ['success', 'The upstream request timed out'],
    ['success', 'Room service unavailable'],
    ['server of the tool', { message: 'Internal server error' }],
    ['timeout of the tool', '{"message": "Endpoint request timed out"}'],
    ['success', { message: 'Internal server error', id: 5 }],
    ['success', { message: 'Your order is on its way' }],
    ['rate_limit of the tool', { status: 'OVER_QUERY_LIMIT', results: [] }],
    ['permission of the tool', { status: 'REQUEST_DENIED', results: [], error_message: 'Use a key' }],
    ['success', { status: 'ZERO_RESULTS', results: [] }],
    ['success', 'Internal server error', { tool: 'translate', input: { text: 'Interner Fehler' } }],
    ['success', 'Error: connection refused', { tool: 'get_message', input: { message_id: '4' } }],
    ['success', 'Error: connection refused', { input: { q: 'x' } }],
    ['success', 'Error: connection refused', { tool: 'get_review', input: { id: '4' } }],
    ['timeout of the tool', '{"error": "timed out"}'],
    ['timeout of the tool', ' {"error": "timed out"} '],
    ['success', '{"error": "timed out"} x'],
    ['success', '{"error": "timed out"'],
    ['success', '[{"error": "timed out"}]'],
    ['success', '[ {"error": "timed out"} ]'],
    ['success', '{"error": "timed out"}', { input: { path: 'x' } }],
    ['timeout of the tool', '{"error": "timed out", "rows": [1]}'],
    ['success', '{"error": "not found", "rows": [1]}'],
    ['success', `{"error": "timed out", "stack": "${'x'.repeat(2048)}"}`],
  ])('O2, O9: %s: %j %j', (wanted, result, context) => expect(returned(result, context)).toBe(wanted));

  const LINES: readonly [string, string][] = [
    ['network', 'fetch failed'],
    ['network', 'Network Error'],
    ['network', 'socket hang up'],
    ['network', 'connect ECONNREFUSED 127.0.0.1:5432'],
    ['network', 'getaddrinfo ENOTFOUND api.example.com'],
    ['network', 'read ECONNRESET'],
    ['timeout', 'ESOCKETTIMEDOUT'],
    ['network', 'request to https://api.example/v1 failed, reason: connect ECONNREFUSED 10.0.0.1:443'],
    ['server', 'Request failed with status code 503'],
    ['rate_limit', 'Request failed with status code 429'],
    ['permission', 'Request failed with status code 401'],
    ['server', 'Response code 503 (Service Unavailable)'],
    ['timeout', 'timeout of 1000ms exceeded'],
    ['timeout', "Timeout awaiting 'request' for 1000ms"],
    ['server', 'HTTP error! status: 503'],
    ['server', 'HTTP error 503'],
    ['server', 'HTTP 503 Service Unavailable'],
    ['timeout', 'HTTP Error 504: Gateway Timeout'],
    ['server', '502 Bad Gateway'],
    ['rate_limit', '429 Too Many Requests'],
    ['server', '503 Server Error: Service Unavailable for url: https://api.example/v1'],
    ['server', "Server error '500 Internal Server Error' for url 'https://api.example/v1/items'"],
    ['network', '[Errno 111] Connection refused'],
    ['network', '<urlopen error [Errno -2] Name or service not known>'],
    ['network', "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"],
    ['network', "HTTPSConnectionPool(host='api.example', port=443): Max retries exceeded with url: /v1 (Caused by x)"],
    ['timeout', 'The read operation timed out'],
    ['network', 'dial tcp 127.0.0.1:5432: connect: connection refused'],
    ['timeout', 'Get "https://api.example/v1": context deadline exceeded'],
    ['network', '14 UNAVAILABLE: No connection established'],
    ['network', 'curl: (7) Failed to connect to api.example port 443: Connection refused'],
    ['network', 'page.goto: net::ERR_CONNECTION_REFUSED at https://api.example/'],
  ];
  describe.each(LINES)('O9: %s: a result that is only %j', (category, line) => {
    it.each<[string, unknown]>([
      ['a string', line],
      ['with the end of a sentence and a stack', `${line}.\n    at x (/app/x.js:1:1)`],
      ['a result of MCP', { content: [{ type: 'text', text: line }] }],
      ['content', [{ type: 'text', text: line }]],
      ['one part', { type: 'text', text: line }],
    ])('O9: counts as if it was thrown, unless the tool reads or reports: %s', (_, result) => {
      const tool = 'send_invoice';
      expect(returned(result, { tool, input: { id: 'i1' } })).toBe(`${category} of the tool`);
      for (const input of [{ query: 'x' }, { path: 'x' }, { code: 'print(fetch(1))' }])
        expect(returned(result, { tool, input })).toBe('success');
      for (const name of ['uptime', 'service_status', 'get_job_result', 'ping'])
        expect(returned(result, { tool: name, input: { id: 'i1' } })).toBe('success');
    });
  });

  it.each([
    'Request failed with status code 404',
    'HTTP error! status: 404',
    '404 Not Found',
    'ECONNREFUSED means that no server listens',
    'ECONNREFUSED: what refuses a connection',
    'Customers saw 502 Bad Gateway',
    '502 Bad Gateway is an answer of a proxy',
    'fetch failed twice, then it worked',
    'HTTP 503',
    '502 Bad Gateway\n504 Gateway Timeout',
    'Timed out',
    'Connection refused',
  ])('O9: a success: %s', (line) =>
    expect(returned(line, { tool: 'send_invoice', input: { id: 'i1' } })).toBe('success'),
  );

  it('O2: a 422 about the account is no answer of a peer that works', () => {
    const at422 = (message: string) => readThrown(Object.assign(new Error(message), { status: 422 }));
    expect(at422('Your access token is invalid')).not.toHaveProperty('answered');
    expect(at422('Your access token is invalid').category).toBe('permission');
    expect(at422('Your city is invalid')).toMatchObject({ category: 'invalid_input', answered: true });
  });

  it('O2: only what the framework marks is marked, and can be unexplained', () => {
    const marked = (result: unknown) => {
      const verdict = readReturned(result);
      return [verdict?.marked, verdict?.unexplained !== undefined];
    };
    expect(marked(new Error('Unknown error'))).toEqual([true, true]);
    expect(marked({ isError: true, content: [] })).toEqual([true, true]);
    expect(marked({ jsonrpc: '2.0', error: { code: -32603, message: 'Unknown error' } })).toEqual([true, true]);
    expect(marked({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Unknown error' } })).toEqual([true, true]);
    expect(marked({ jsonrpc: '1.0', error: { code: -32603, message: 'Unknown error' } })).toEqual([false, false]);
    expect(marked({ error: 'Unknown error' })).toEqual([false, false]);
    expect(marked('Error: timed out')).toEqual([false, false]);
    expect(marked('<html><title>503  </title></html>')).toEqual([false, false]);
    expect(marked({ status: 'failed', message: 'timed out' })).toEqual([false, false]);
  });
});

describe('O9: a weak form', () => {
  it.each<[string, unknown, ReadContext?]>([
    ['timeout of the tool', { status: 'failed', message: 'timed out' }],
    ['timeout of the tool', { success: false, error: { message: 'timed out' }, rows: [1] }],
    ['timeout of the tool', { success: false, message: 'Search', error: { message: 'timed out' }, rows: [1] }],
    ['timeout of the tool', { success: false, errors: [{ message: 'timed out' }], rows: [1] }],
    ['success', { success: false, rows: [{ message: 'timed out' }] }],
    ['success', { status: 'failed', message: 'boom' }],
    ['success', { content: [], structuredContent: { report: { error: 'timed out' } } }],
    ['success', { status: 'failed', message: 'sold out' }],
    ['success', { status: 'failed', message: 'it is invalid' }],
    ['success', { status: 'failed', message: 'timed out' }, { kind: 'runner' }],
    ['success', { status: 'failed', message: 'timed out' }, { input: { path: 'x' } }],
  ])('O9: %s: %j', (wanted, result, context) => expect(returned(result, context)).toBe(wanted));
});

describe('B3: a call that another guard skipped', () => {
  const words = "Tool 'search' is unavailable (timeout). Do not call it.";
  const skip = `${words} [breakerbox:not-called]`;
  const recorded = { recorded: true };
  it('B3: a tool that writes the mark of a skip, or the words of one, is not believed', () => {
    const { category } = readThrown(new Error('connect ECONNREFUSED 127.0.0.1:1 [breakerbox:not-called]'));
    expect(category).toBe('network');
    expect(readThrown(new Error(`HTTP 503: ${words}`)).category).toBe('server');
    expect(
      readReturned({ isError: true, content: [{ type: 'text', text: '[breakerbox:not-called] timed out' }] })?.category,
    ).toBe('timeout');
  });

  it('B3: a text of this process is believed, and so are a relay by the `_meta` of its result, and recordings', () => {
    const text = core.written('HTTP 503. It was not called. [breakerbox:not-called]');
    for (const error of [
      new Error(`Error: ${text}`),
      { error: text },
      { isError: true, content: [{ type: 'text', text }] },
    ])
      expect(readThrown(error)).toMatchObject({ category: 'tool_error', why: 'another guard skipped the call' });
    const result = {
      isError: true,
      content: [{ type: 'text', text: 'HTTP 503' }],
      _meta: { 'breakerbox/not-called': true },
    };
    expect(readReturned(result)?.why).toBe('another guard skipped the call');
    expect(readThrown(new Error('HTTP 503 [breakerbox:not-called]'), recorded).why).toBe(
      'another guard skipped the call',
    );
  });

  it.each<[string, unknown]>([
    ['another guard skipped the call', new Error(skip)],
    ['another guard skipped the call', new Error('x', { cause: new Error(skip) })],
    ['another guard skipped the call', { error: skip }],
    ['a server is broken', new Error("Tool 'a' is unavailable: the server is down.")],
  ])('B3: %s: %s', (why, error) => expect(readThrown(error, recorded).why).toBe(why));
});

describe('O2: runners', () => {
  it.each<[string, string]>([
    ['resource of the tool', 'spawn /x ENOENT'],
    ['resource of the tool', 'MCP error -32603: spawn x EACCES'],
    ['resource of the tool', 'Failed to create the sandbox: no memory'],
    ['resource of the tool', 'unable to start a kernel'],
    ['resource of the tool', 'failed to start container'],
    ['tool_error of the tool', 'Error: spawn /x ENOENT'],
    ['tool_error of the tool', 'spawn /x ENOENT\nmore'],
    ['tool_error of the tool', 'spawn /x y ENOENT'],
    ['tool_error of the tool', 'I was unable to start a kernel'],
    ['tool_error of the tool', 'timed out'],
  ])('O2: %s: %s', (wanted, text) => expect(thrown(new Error(text), { kind: 'runner' })).toBe(wanted));

  it('O2: a child process that a runner reports is read by its text alone', () => {
    const late = Object.assign(new Error('Command failed: x'), { killed: true, signal: 'SIGTERM' });
    expect([thrown(late), thrown(late, { kind: 'runner' })]).toEqual(['timeout of the tool', 'tool_error of the tool']);
    expect(thrown(named('StreamableHTTPError', 'x', { status: 404 }), { kind: 'runner' })).toBe('server of the tool');
    expect(thrown(new Error(''), { kind: 'runner' })).toBe('unknown of the tool');
    const why = (text: string) => readThrown(new Error(text), { kind: 'runner' }).why;
    expect(why('spawn x ENOENT')).toBe('spawn');
    expect(why('timed out')).toBe('the output of a program says nothing about the tool');
  });
});

describe('O2: one error that has several signs', () => {
  it.each<[string, unknown, ReadContext?]>([
    ['rate_limit of the tool', named('ThrottlingException', 'x', { status: 400 })],
    ['invalid_input of the tool', named('InternalServerError', 'x', { status: 400 })],
    ['rate_limit of the tool', named('ProvisionedThroughputExceededException', 'x', { status: 400 })],
    ['permission of the tool', named('ProvisionedThroughputExceededException', 'x', { status: 401 })],
    ['server of the tool', named('ThrottlingException', 'x', { status: 500 })],
    ['resource of the tool', coded('x', 'x', { status: 403, error: { message: 'insufficient_quota' } })],
    ['permission of the tool', coded('x', 'x', { status: 403 })],
    ['permission of the tool', coded('x', 'rejected by policy', { status: 403 })],
    ['permission of the tool', coded('x', 'timed out', { status: 403 })],
    ['timeout of the tool', coded('ECONNABORTED', 'timed out')],
    ['network of the tool', coded('ECONNABORTED', 'boom', { name: 'RateLimitError' })],
    ['network of the tool', coded('ECONNABORTED', 'it was already sold')],
    ['timeout of the tool', coded(-32001, 'boom')],
    ['tool_error of the tool', coded(-32603, 'boom')],
    ['tool_error of the tool', coded(-32000, 'boom')],
    ['invalid_input of the tool', named('ZodError', 'timed out')],
    ['unknown of the tool', coded('EBOOM', 'it is already sold')],
    ['tool_error of the tool', coded('EBOOM1', 'it is already sold')],
    ['tool_error of the tool', coded('xEBOOM', 'it is already sold')],
    ['tool_error of the tool', coded('EBOOMx', 'it is already sold')],
    ['unknown of the tool', new TypeError('it is already sold')],
    ['unknown of the tool', new RangeError('it is already sold')],
    ['tool_error of the tool', named('MyTypeError', 'it is already sold')],
    ['unknown of the tool', named('TypeError', 'it is already sold')],
    ['tool_error of the tool', named('TypeErrors', 'it is already sold')],
    ['invalid_input of the tool', new TypeError('invalid arguments')],
    ['unknown of the tool', new TypeError('Oslo: boom'), { input: { city: 'Oslo' } }],
    ['tool_error of the tool', new Error('Oslo: boom'), { input: { city: 'Oslo' } }],
    ['unknown of the tool', new Error('')],
  ])('O2: %s: %o %j', (wanted, error, context) => expect(thrown(error, context)).toBe(wanted));

  it.each<[Verdict['judgedBy'], unknown, ReadContext?]>([
    ['evidence', coded('ECONNRESET', 'x')],
    ['evidence', new Error('invalid arguments')],
    ['evidence', new Error('the server is down')],
    ['words', new Error('already sold')],
    ['words', new Error('Oslo: boom'), { input: { city: 'Oslo' } }],
    ['nothing', coded(-32603, 'boom')],
    ['words', coded(-32603, 'already sold')],
    ['nothing', new Error('boom')],
    ['evidence', coded('ECONNABORTED', 'boom')],
  ])('O2: it is judged by %s: %o', (wanted, error, context) =>
    expect(readThrown(error, context).judgedBy).toBe(wanted),
  );

  it('O3, C14: it says the wait, and that the peer has answered', () => {
    expect(readThrown(new Error('HTTP 429, Retry-After: 3'))).toMatchObject({ retryAfterMs: 3000 });
    expect(readThrown(coded('x', 'Retry-After: 9', { retryAfter: 4 }))).toMatchObject({ retryAfterMs: 4000 });
    expect('retryAfterMs' in readThrown(new Error('HTTP 429'))).toBe(false);
    expect(readThrown(coded('x', 'x', { status: 409 }))).toMatchObject({ answered: true });
    expect('answered' in readThrown(coded('x', 'x', { status: 500 }))).toBe(false);
    expect('unexplained' in readThrown(new Error('HTTP 429'))).toBe(false);
  });
});

describe('C14: what a failure blames', () => {
  const page = { kind: 'fetch', input: { url: 'https://a.example/x' } } as const;
  const load = { tool: 'load', input: { url: 'https://a.example/x' } };
  it.each<[string, string, ReadContext]>([
    ['network of the key', 'connection lost', load],
    ['network of the tool', 'redis connection lost', load],
    ['network of the key', 'redis connection to a.example lost', load],
    ...['database', 'databases', 'postgres', 'postgresql', 'mongo', 'mongodb', 'chromium', 'browser', 'proxy'].map(
      (peer): [string, string, ReadContext] => ['network of the tool', `${peer} connection lost`, load],
    ),
    ['network of the key', 'poolside connection lost', load],
    ['network of the tool', 'network is unreachable', load],
    ['network of the tool', 'net::ERR_PROXY_CONNECTION_FAILED', page],
    ['network of the tool', 'net::ERR_TUNNEL_CONNECTION_FAILED', page],
    ['network of the tool', 'net::ERR_NETWORK_CHANGED', page],
    ['network of the tool', 'NS_ERROR_OFFLINE', page],
    ['network of the tool', 'connect ENETDOWN 10.0.0.1:443', page],
    ['network of the tool', 'MCP error -32000: Connection closed', page],
    ['server of the tool', 'Error POSTing to endpoint of MCP: HTTP 503', page],
    ['server of the key', 'HTTP 503', load],
    ['rate_limit of the key', 'HTTP 429', load],
    ['timeout of the key', 'HTTP 504', load],
    ['permission of the tool', 'HTTP 401', load],
    ['permission of the key', 'HTTP 401 of a.example', load],
    ['permission of the key', 'HTTP 401', page],
    ['permission of the tool', 'HTTP 401', { input: { host: 'a.example' } }],
    ['tool_error of the tool', 'HTTP 401', { input: { host: 'a.example', port: 1 } }],
    ['tool_error of the tool', 'HTTP 404', load],
    ['tool_error of the tool', 'HTTP 410', load],
    ['tool_error of the tool', 'HTTP 451', load],
    ['invalid_input of the tool', 'HTTP 405', load],
    ['server of the tool', 'the server is down', load],
    ['network of the tool', 'connect ECONNREFUSED 127.0.0.1:9222', { kind: 'browser', input: { ref: 1 } }],
    ['network of the key', 'connect ECONNREFUSED 127.0.0.1:9222', { kind: 'browser' }],
    ['network of the key', 'https://a.example: connection refused', { kind: 'browser', input: { ref: 1 } }],
    ['network of the tool', 'https://a.example: connection refused', { input: { ref: 1 } }],
    ['tool_error of the key', 'net::ERR_NAME_NOT_RESOLVED', { kind: 'browser', input: { ref: 1 } }],
    ['tool_error of the key', 'getaddrinfo ENOTFOUND a.example', { kind: 'fetch', input: { ref: 1 } }],
    ['tool_error of the key', 'NS_ERROR_UNKNOWN_HOST', { kind: 'fetch', input: { ref: 1 } }],
    ['tool_error of the key', 'lookup a.example: no such host', { kind: 'fetch', input: { ref: 1 } }],
    ['network of the key', 'net::ERR_CERT_DATE_INVALID', { kind: 'browser', input: { ref: 1 } }],
    ['network of the tool', 'net::ERR_CERT_DATE_INVALID', { kind: 'browser', input: {} }],
    ['resource of the tool', 'no space left on device', { input: { url: 'file:///x' } }],
    ['tool_error of the tool', 'timed out', { input: { url: 'file:///x' } }],
    ['invalid_input of the tool', 'invalid arguments', { input: { url: 'file:///x' } }],
    ['tool_error of the tool', 'HTTP 404', { tool: 'ping', input: { host: 'a.example' } }],
    ['invalid_input of the tool', 'HTTP 400', { tool: 'ping', input: { host: 'a.example' } }],
    ['permission of the key', "EACCES: permission denied, open '/root/x'", { input: { path: '/root/x' } }],
    ['permission of the tool', "EACCES: permission denied, open '/root/x'", { input: { path: 'root' } }],
    ['permission of the tool', "EACCES: permission denied, open '/a/b'", { input: { path: '/a' } }],
    ['permission of the tool', "permission denied: '/root/x'", { input: { path: '/root/y' } }],
    ['permission of the tool', 'HTTP 403: acme/app', { input: { repo: 'acme/app' } }],
    ['filesystem of the tool', "EROFS: read-only, open '/root/x'", { input: { path: '/root/x' } }],
  ])('C14: %s: %s %j', (wanted, text, context) => expect(thrown(new Error(text), context)).toBe(wanted));

  it.each<[string, string, ReadContext]>([
    ['code ENOTFOUND, of the host that the call chose', 'getaddrinfo ENOTFOUND a.example', page],
    ['code ERR_CERT_DATE_INVALID, of the host that the call chose', 'net::ERR_CERT_DATE_INVALID', { kind: 'browser' }],
    ['HTTP status 404, of the page that the call chose', 'HTTP 404', page],
    ['class RateLimitError', 'RateLimitError: later', {}],
    ['whether the credentials are right was the question', 'Token expired', { tool: 'verify_token' }],
    ['an API key that is missing or refused', 'invalid API key for this token', { tool: 'verify_token' }],
    ['an API key that is missing or refused', 'this login has an invalid apikey', { tool: 'verify_token' }],
    ['a connection failed', 'connection to the login lost', { tool: 'verify_token' }],
    ['whether the host can be reached was the question', 'timed out', { tool: 'ping', input: { host: 'a.example' } }],
    ['a URL that is not fetched', 'timed out', { input: { url: 'file:///x' } }],
    ['code EACCES, of the file that the call chose', "EACCES: open '/root/x'", { input: { path: '/root/x' } }],
  ])('C14: the reason is: %s', (why, text, context) => expect(readThrown(new Error(text), context).why).toBe(why));
});
