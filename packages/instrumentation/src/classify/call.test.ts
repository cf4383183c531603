import { describe, expect, it } from 'vitest';
import { callOf, targetIn } from './call.ts';
import { readReturned, readThrown } from './classify.ts';

const thrown = (text: string, input: unknown, tool?: string) =>
  readThrown(new Error(text), { input, ...(tool && { tool }) });
const counts = (text: string, input: unknown, tool?: string): string => {
  const { category, blames } = thrown(text, input, tool);
  return blames === 'key' ? `${category} of the key` : category;
};

describe('O2a: a text that names what the call asked for', () => {
  it.each([
    ['Service billing is currently unavailable', { service: 'billing' }],
    ['Der Dienst billing ist kaputt', { service: 'billing' }],
    ['Access token for workspace acme-prod has expired', { workspace: 'acme-prod' }],
    ['Host PROJ-999 is offline', { text: 'where is PROJ-999 now' }],
    ['Machine 4711 is offline', { machine: 4711 }],
  ])('O2a: is an answer: %s', (text, input) => expect(counts(text, input)).toBe('tool_error'));

  it.each([
    ['Service is currently unavailable', { service: 'billing' }, 'server'],
    ['billing: HTTP 503', { service: 'billing' }, 'server'],
    ['billing: connect ECONNREFUSED 10.0.0.1:80', { service: 'billing' }, 'network'],
    ['billing: connection refused', { service: 'billing' }, 'network'],
    ['billing: Bad Gateway', { service: 'billing' }, 'server'],
    ['Cannot load billing: 502 Bad Gateway', { service: 'billing' }, 'server'],
    ['Cannot load billing: Internal Server Error', { service: 'billing' }, 'server'],
    ['billing timed out', { service: 'billing' }, 'timeout'],
    ['Service billings is unavailable', { service: 'billing' }, 'server'],
    ['Service abc is unavailable', { service: 'abc' }, 'server'],
    ['The server is unavailable', { topic: 'server' }, 'server'],
  ])('O2a: is not, with evidence or without the whole word: %s', (text, input, wanted) =>
    expect(counts(text, input)).toBe(wanted),
  );

  it.each([
    ['Berlin: Service Unavailable', 'server'],
    ['Berlin: the service is temporarily unavailable', 'server'],
    ['Forecast for Berlin: the model is overloaded', 'server'],
    ['Forecast for Berlin failed: invalid API key', 'permission'],
    ['No API key, so Berlin was not looked up', 'permission'],
    ['Forecast for Berlin failed: API key is missing', 'permission'],
    ['Forecast for Berlin failed: API keys have expired', 'permission'],
    ['Cannot geocode Berlin: Unauthorized', 'permission'],
    ['Forecast for Berlin failed: quota exceeded.', 'resource'],
    ['Berlin: you exceeded your current quota', 'resource'],
    ['Berlin: insufficient credits', 'resource'],
    ['Berlin: your credit balance is too low', 'resource'],
  ])('O2a: hard wording is not about the argument: %s', (text, wanted) =>
    expect(counts(text, { city: 'Berlin' })).toBe(wanted),
  );

  it.each([
    ['The parking service is unavailable in Berlin', { city: 'Berlin' }],
    ['The API key prod-key-7 is invalid', { name: 'prod-key-7' }],
    ['Quota exceeded for project acme-prod', { project: 'acme-prod' }],
    ['Truck KA-77 is overloaded', { truck: 'KA-77' }],
    ['Model gpt-9 is currently overloaded', { model: 'gpt-9' }],
    ['Berlin has exceeded its storage quota', { city: 'Berlin' }],
    ['Login of sara_doe failed: invalid credentials', { user: 'sara_doe' }],
  ])('O2a: the same words about the argument are an answer: %s', (text, input) =>
    expect(counts(text, input)).toBe('tool_error'),
  );

  it("O2a: a word of the tool's own name is not the argument", () => {
    expect(counts('The weather service is unavailable', { topic: 'weather' }, 'get_weather')).toBe('server');
    expect(counts('The weather service is unavailable', { topic: 'weather' }, 'look_up')).toBe('tool_error');
  });
});

describe('O2b: a call that chose a URL or a host', () => {
  it.each([
    ['connect ECONNREFUSED 203.0.113.9:443', { url: 'https://a.example/x' }, 'network of the key'],
    ['getaddrinfo ENOTFOUND a.example', { uri: 'https://a.example/x' }, 'network of the key'],
    ['Request failed with status code 502', { page: 'https://a.example/x' }, 'server of the key'],
    ['Request failed with status code 429', { host: 'a.example' }, 'rate_limit of the key'],
    ['Request failed with status code 404', { url: 'https://a.example/x' }, 'tool_error'],
    ['Request failed with status code 410', { url: 'https://a.example/x' }, 'tool_error'],
    ['timeout of 5000ms exceeded', { host: 'localhost:8080' }, 'timeout of the key'],
    ['database connection lost', { url: 'https://a.example/x' }, 'network'],
    ['ENOSPC: no space left on device', { url: 'https://a.example/x' }, 'resource'],
    ['connect ECONNREFUSED 10.0.0.5:5432', { url: 'https://a.example/x' }, 'network'],
    ['connect ETIMEDOUT 10.0.0.5:3002', { url: 'https://a.example/x' }, 'timeout'],
    ['connect ETIMEDOUT 203.0.113.9:443', { url: 'https://a.example/x' }, 'timeout of the key'],
    ['connect EHOSTUNREACH 10.0.0.5:3002', { url: 'https://a.example/x' }, 'network'],
    ['getaddrinfo EAI_AGAIN api.scraper.example', { url: 'https://a.example/x' }, 'network'],
    ['getaddrinfo EAI_AGAIN a.example', { url: 'https://a.example/x' }, 'network of the key'],
    ['connect ECONNREFUSED 10.0.0.5:5432', { host: 'not a host' }, 'network'],
  ])('O2b: %s', (text, input, wanted) => expect(counts(text, input, 'load')).toBe(wanted));

  it.each([
    ['ping_host', { host: 'a.example' }],
    ['dns_lookup', { name: 'a.example' }],
    ['checkPort', { address: '10.0.0.5' }],
    ['is_up', { site: 'a.example' }],
    ['test', { host: 'a.example', port: 443 }],
    ['test', { domain: 'a.example', record_type: 'A' }],
  ])('O2b: whether it can be reached is the question of %s', (tool, input) => {
    for (const text of ['connect ECONNREFUSED 203.0.113.9:443', 'queryA ENOTFOUND a.example', 'request timed out']) {
      expect([text, counts(text, input, tool)]).toEqual([text, 'tool_error']);
    }
    expect(counts('ENOSPC: no space left on device', input, tool)).toBe('resource');
  });

  it.each([
    ['ssl_check', { hostname: 'a.example' }],
    ['get_ssl_certificate', { domain: 'a.example' }],
    ['cert_expiry', { host: 'a.example' }],
    ['site_status', { url: 'https://a.example' }],
    ['verify_domain', { domain: 'a.example' }],
    ['tcp_connect', { address: 'a.example' }],
  ])('O2b: it is the question of a probe that gets only a host: %s', (tool, input) => {
    for (const text of ['connect ECONNREFUSED 203.0.113.9:443', 'getaddrinfo ENOTFOUND a.example', 'request timed out'])
      expect([text, counts(text, input, tool)]).toEqual([text, 'tool_error']);
  });

  it.each([
    ['fetch', { url: 'https://a.example' }],
    ['get_metrics', { host: 'a.example' }],
    ['check_stock', { url: 'https://a.example', product: 'x' }],
    ['check_order', { id: 4 }],
  ])('O2b: it is not the question of %s %o', (tool, input) =>
    expect(thrown('request timed out', input, tool).category).toBe('timeout'),
  );

  it.each([
    ['Scraper http://scraper.internal:3002/v1 answered: connection refused', 'network'],
    ['Request to https://api.scraper.example/v1 failed with status code 503', 'server'],
    ['POST https://api.scraper.example/v1 timed out', 'timeout'],
    ['GET https://a.example:8443/x timed out', 'timeout'],
    ['GET https://a.example/x timed out', 'timeout of the key'],
    ['GET http://www.a.example/x timed out', 'timeout of the key'],
    ['GET https://example/x timed out', 'timeout of the key'],
    ['Request failed with status code 503, see https://docs.example/errors', 'server of the key'],
    ['Request failed with status code 503 (redirected to https://b.example/x)', 'server of the key'],
  ])('O2b: a host that the text names in a URL: %s', (text, wanted) =>
    expect(counts(text, { url: 'https://a.example/x' }, 'fetch_page')).toBe(wanted),
  );

  it.each([
    ['create_hook', { webhook: 'https://a.example/x' }],
    ['create_hook', { callback_url: 'https://a.example/x' }],
    ['post_message', { link: 'https://a.example/x' }],
    ['enrich', { domain: 'a.example' }],
    ['create_webhook', { url: 'https://a.example/x' }],
    ['shorten', { url: 'https://a.example/x' }],
  ])('O2b: a status is of the own service of a tool that passes its URL on: %s %o', (tool, input) => {
    expect(counts('Request failed with status code 503', input, tool)).toBe('server');
    expect(thrown('Request failed with status code 404', input, tool).why).toBe('HTTP status 404');
    expect(counts('a.example answered with status code 503', input, tool)).toBe('server of the key');
    expect(counts('connect ECONNREFUSED 203.0.113.9:443', input, tool)).toMatch(/^network/);
  });

  it('O2b: a tool that opens pages opens a link too', () => {
    const input = { link: 'https://a.example/x' };
    expect(counts('Request failed with status code 503', input, 'fetch_page')).toBe('server of the key');
    expect(counts('Request failed with status code 503', input, 'check_links')).toBe('tool_error');
  });

  it('O2b: a query of a database has a host too, and more', () => {
    expect(counts('request timed out', { host: 'db.example', port: 5432, query: 'SELECT 1' }, 'run')).toBe(
      'timeout of the key',
    );
  });

  it('O2b: the key of a call is the URL before the host', () => {
    expect(targetIn({ host: 'b.example', url: 'https://a.example:8443/x' })?.host).toBe('a.example:8443');
    expect(targetIn({ host: 'b.example:99' })?.host).toBe('b.example:99');
    expect([{ host: 'b' }, { host: 'two words.example' }, { server: 5 }, 'b.example'].map(targetIn)).toEqual(
      Array(4).fill(undefined),
    );
  });
});

describe('O2c: the scheme and the path of the URL', () => {
  it.each([
    ['fetch failed', { url: 'file:///etc/hosts' }, 'read_page', 'tool_error'],
    ['fetch failed', { url: 'gopher://a.example/x' }, 'fetch_page', 'tool_error'],
    ['fetch failed', { dsn: 'postgres://db.example/x' }, 'query_orders', 'network'],
    ['Page /docs/ETIMEDOUT is private', { url: 'https://a.example/docs/ETIMEDOUT' }, 'fetch_page', 'tool_error'],
    ['ENOSPC: no space left on device', { url: 'file:///etc/hosts' }, 'fetch_page', 'resource'],
  ])('O2c: %s %o', (text, input, tool, wanted) => expect(counts(text, input, tool)).toBe(wanted));
});

describe('O2d: a runner is known by its input', () => {
  it.each([
    [{ command: 'npm test' }, 'runner'],
    [{ cmd: 'python3' }, 'runner'],
    [{ cmd: '/usr/bin/env' }, 'runner'],
    [{ command: ['node', 'x.js'] }, 'runner'],
    [{ command: 'ls' }, 'runner'],
    [{ command: 'terraform -version' }, 'runner'],
    [{ command: 'terraform init && terraform plan' }, 'runner'],
    [{ command: 'dmesg | tail' }, 'runner'],
    [{ script: 'echo 1\necho 2' }, 'runner'],
    [{ code: 'print(1)' }, 'runner'],
    [{ code: 'import os' }, 'runner'],
    [{ source: 'let a = "x"' }, 'runner'],
    [{ source: 'fn main() {\n}' }, 'runner'],
    [{ command: 'str_replace', path: '/x' }, undefined],
    [{ command: 'turn on the lights' }, undefined],
    [{ command: 'SELECT count(*) FROM orders' }, undefined],
    [{ script: 'Anna enters.\nShe looks around.' }, undefined],
    [{ code: 'SUMMER SALE' }, undefined],
    [{ code: '4/P7q7W91a-oMsCeLvIaQm6bTrgtp7==' }, undefined],
    [{ source: 'New York', destination: 'Graz' }, undefined],
    [{ source: 'Two lines\nof item(s) to translate' }, undefined],
    [{ command: 5 }, undefined],
    [{ query: 'npm test' }, undefined],
  ])('O2d: %j: %s', (input, wanted) => expect(callOf({ tool: 'do_it', input }).kind).toBe(wanted));

  it('O2d: its output is not evidence, and kind: false overrides it', () => {
    const input = { command: 'curl https://a.example' };
    expect(thrown('connect ECONNREFUSED 203.0.113.9:443', input, 'exec_in_pod').category).toBe('tool_error');
    expect(readThrown(new Error('connect ECONNREFUSED 203.0.113.9:443'), { input, kind: false }).category).toBe(
      'network',
    );
  });
});

describe('O2e: long texts', () => {
  const middle = (line: string) =>
    ['Listing of /srv', 'total 9', ...Array(5).fill('a.log'), line, 'b.log', 'z.log', 'end'].join('\n');
  it('O2e: only the first and the last two lines are evidence', () => {
    expect(thrown(middle('connect ECONNREFUSED 10.0.0.1:80'), {}).category).toBe('unknown');
    expect(thrown(`${middle('x')}\nconnect ECONNREFUSED 10.0.0.1:80`, {}).category).toBe('network');
    expect(thrown(`connect ECONNREFUSED 10.0.0.1:80\n${middle('x')}`, {}).category).toBe('network');
    expect(thrown(`${'x'.repeat(1001)} connect ECONNREFUSED 10.0.0.1:80`, {}).category).toBe('unknown');
  });

  it('O2e: the frames of a stack are no lines', () => {
    const frames = '    at read (/x.js:1:1)\n'.repeat(9);
    expect(
      thrown(`Command failed\n/x.js:1\n${frames}Error: read ECONNRESET\n${frames}\nNode.js v24`, {}).category,
    ).toBe('network');
  });
});

describe('O2f: a tool that reads', () => {
  const text = 'Error: connect ECONNREFUSED 127.0.0.1:5432';
  const inputs = [{ path: '/x' }, { file: 'x' }, { file_path: 'x' }, { filePath: 'x' }, { query: 'x' }, { sql: 'x' }];
  it.each(inputs)('O2f: %j: a line that looks like an error is content, unless it is marked', (input) => {
    const one = { content: [{ type: 'text', text }] };
    for (const result of [text, one, JSON.stringify({ error: text }), { type: 'error', message: text }]) {
      expect(readReturned(result, { tool: 'show', input })).toBeUndefined();
    }
    expect(readReturned({ ...one, isError: true }, { tool: 'show', input })?.category).toBe('network');
    expect(thrown(text, input, 'show').category).toBe('network');
  });

  it('O2f: a line that says what the tool does is from the tool', () => {
    const own = 'Error searching libraries: TypeError: fetch failed';
    expect(readReturned(own, { tool: 'search_libraries', input: { query: 'x' } })?.category).toBe('network');
    expect(readReturned(own, { tool: 'search_orders', input: { query: 'x' } })).toBeUndefined();
  });

  it('O2f: its name may say it too; other tools have failed', () => {
    expect(readReturned(text, { tool: 'get_last_error', input: {} })).toBeUndefined();
    expect(readReturned(text, { tool: 'show', input: { city: 'Graz' } })?.category).toBe('network');
  });

  it('O2: rights to the file of the call are about that file', () => {
    const denied = Object.assign(new Error("EACCES: permission denied, open '/root/x'"), { code: 'EACCES' });
    expect(readThrown(denied, { input: { path: '/root/x' } })).toMatchObject({ category: 'permission', blames: 'key' });
    expect(readThrown(denied, { input: { path: '/tmp/y' } })).toMatchObject({ category: 'permission', blames: 'tool' });
  });
});
