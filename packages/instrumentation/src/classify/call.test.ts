import { describe, expect, it } from 'vitest';
import { callOf, isOfTool, targetIn } from './call.ts';
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

describe('O2: a sentence about the thing in the name of the tool', () => {
  it.each([
    ['book_service', 'The service is not available.'],
    ['bookService', 'Service not available'],
    ['get_stream', 'The stream has ended and was closed by the broadcaster'],
    ['find_grant', 'Grant not found'],
    ['share_link', 'The link is broken.'],
    ['get_brokers', 'No broker is available. The broker is offline.'],
    ['revoke_token', 'Token has already been revoked'],
  ])('O2: is an answer of %s: %s', (tool, text) => expect(counts(text, { id: 'a1' }, tool)).toBe('tool_error'));

  it.each([
    ['book_service', 'Service unavailable', 'server'],
    ['book_service', '503 Service Temporarily Unavailable', 'server'],
    ['get_model', 'the model is overloaded', 'server'],
    ['email_service', 'The service is not available', 'server'],
    ['ask_model', 'The model is not available', 'server'],
    ['get_store', 'The service is not available', 'server'],
    ['get_token', 'Access token has expired', 'permission'],
    ['add_link', 'Communications link failure', 'network'],
    ['get_broker', 'The broker: connection refused', 'network'],
  ])('O2: is an outage, of %s: %s', (tool, text, wanted) => expect(counts(text, { id: 'a1' }, tool)).toBe(wanted));
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
    expect(
      [{ host: 'b' }, { host: 'two words.example' }, { server: 5 }, 'b.example'].map((one) => targetIn(one)),
    ).toEqual(Array(4).fill(undefined));
  });
});

describe('O2c: the scheme and the path of the URL', () => {
  it.each([
    ['fetch failed', { url: 'file:///etc/hosts' }, 'read_page', 'tool_error'],
    ['fetch failed', { url: 'gopher://a.example/x' }, 'fetch_page', 'tool_error'],
    ['fetch failed', { dsn: 'postgres://db.example/x' }, 'query_orders', 'network'],
    ['Page /docs/ETIMEDOUT is private', { url: 'https://a.example/docs/ETIMEDOUT' }, 'fetch_page', 'tool_error'],
    ['Page docs/ETIMEDOUT is private', { url: 'https://a.example/docs/ETIMEDOUT' }, 'fetch_page', 'tool_error'],
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
    [{ script: 'terraform -version' }, 'runner'],
    [{ script: '  terraform  -version' }, 'runner'],
    [{ command: 'cat  ./a' }, 'runner'],
    [{ code: 'import os  ' }, 'runner'],
    [{ code: 'we import os' }, undefined],
    [{ script: 'terraform init && terraform plan' }, 'runner'],
    [{ script: 'dmesg | tail' }, 'runner'],
    [{ script: 'echo 1\necho 2' }, 'runner'],
    [{ code: 'print(1)' }, 'runner'],
    [{ code: 'import os' }, 'runner'],
    [{ source: 'let a = "x"' }, 'runner'],
    [{ source: 'fn main() {\n}' }, 'runner'],
    [{ script: 'python3.12' }, 'runner'],
    [{ script: '  git status' }, 'runner'],
    [{ script: './node_modules/.bin/vitest\n\tls x' }, 'runner'],
    [{ script: 'zsh' }, 'runner'],
    [{ script: 'pnpm i' }, 'runner'],
    [{ script: 'uvx x' }, 'runner'],
    [{ script: 'egrep x y' }, 'runner'],
    [{ script: 'apt-get update' }, 'runner'],
    [{ script: 'x --version' }, 'runner'],
    [{ script: 'x || y' }, 'runner'],
    [{ script: 'x $HOME' }, 'runner'],
    [{ script: 'x $(date)' }, 'runner'],
    [{ code: 'os.exit(1)' }, 'runner'],
    [{ code: 'map(x => y)' }, 'runner'],
    [{ code: '(x) => y' }, 'runner'],
    [{ code: "a = 'b'" }, 'runner'],
    [{ code: 'a=5' }, 'runner'],
    [{ code: 'a = [1]' }, 'runner'],
    [{ code: 'fine;' }, 'runner'],
    [{ code: 'class Foo:' }, 'runner'],
    [{ code: 'class Foo(Bar)' }, 'runner'],
    [{ code: '  import os.path as path' }, 'runner'],
    [{ code: 'from os import path' }, 'runner'],
    [{ script: 'cat -n x' }, 'runner'],
    [{ command: 'cat src/x' }, 'runner'],
    [{ script: 'make -j' }, 'runner'],
    [{ command: 'switch on --every' }, undefined],
    [{ command: 'print the letter' }, undefined],
    [{ command: 'cat food' }, undefined],
    [{ command: 'make tea' }, undefined],
    [{ command: 'return home' }, undefined],
    [{ command: 'import the list' }, undefined],
    [{ source: 'from the cellar' }, undefined],
    [{ source: 'class of 1999' }, undefined],
    [{ script: 'sh x' }, 'runner'],
    [{ script: 'pip install x' }, 'runner'],
    [{ script: 'uv sync' }, 'runner'],
    [{ script: 'grep x y' }, 'runner'],
    [{ script: 'apt update' }, 'runner'],
    [{ code: 'fine; \n' }, 'runner'],
    [{ script: [...Array(16).fill('x'), '&&'] }, undefined],
    [{ script: [...Array(15).fill('x'), '&&'] }, 'runner'],
    [{ script: 'npm ci' }, 'runner'],
    [{ script: 'pip3 list' }, 'runner'],
    [{ script: 'date |tee x' }, undefined],
    [{ script: 'date| tee x' }, undefined],
    [{ command: ['turn', 'on'] }, undefined],
    [{ command: 'lsof the day' }, undefined],
    [{ command: 'my ls' }, undefined],
    [{ script: 'pay $20 - now' }, undefined],
    [{ command: 'a well-known thing' }, undefined],
    [{ code: 'box(es) and item(s)' }, undefined],
    [{ code: 'a; b' }, undefined],
    [{ code: 'a =' }, undefined],
    [{ code: 'class' }, undefined],
    [{ code: 'of class A' }, undefined],
    [{ code: `${'x'.repeat(4096)} ls -l` }, undefined],
    [{ command: '  UPDATE t SET a = 1' }, undefined],
    [{ command: 'please select a = 1' }, 'runner'],
    [{ command: 'selected a = 1' }, 'runner'],
    [{ command: 'str_replace', path: '/x' }, undefined],
    [{ command: 'turn on the lights' }, undefined],
    [{ command: 'SELECT count(*) FROM orders' }, undefined],
    [{ script: 'Anna enters.\nShe looks around.' }, undefined],
    [{ code: 'SUMMER SALE' }, undefined],
    [{ code: '4/P7q7W91a-oMsCeLvIaQm6bTrgtp7==' }, undefined],
    [{ source: 'New York', destination: 'Graz' }, undefined],
    [{ source: 'Two lines\nof item(s) to translate' }, undefined],
    [{ command: 'terraform apply' }, 'runner'],
    [{ cmd: 'psql mydb' }, 'runner'],
    [{ command: 'terraform' }, 'runner'],
    [{ command: 'go test ./...' }, 'runner'],
    [{ command: 'cat food.txt' }, 'runner'],
    [{ command: 'find the keys' }, undefined],
    [{ command: 'play jazz' }, undefined],
    [{ command: 'play rock/pop' }, undefined],
    [{ command: 5 }, undefined],
    [{ query: 'npm test' }, undefined],
  ])('O2d: %j: %s', (input, wanted) => expect(callOf({ tool: 'run_it', input }).kind).toBe(wanted));

  it.each([
    ['run_in_terminal', 'psql'],
    ['shell_exec', './deploy.sh'],
    ['start_process', 'htop'],
    ['ssh_exec', 'pg_isready'],
    ['exec', 'put the file on a disk'],
  ])('O2d: %s runs commands by its name: %s', (tool, command) => {
    expect(callOf({ tool, input: { command } }).kind).toBe('runner');
    expect(callOf({ tool, input: { command: ' ' } }).kind).toBeUndefined();
    expect(callOf({ tool, input: { text: command } }).kind).toBeUndefined();
  });

  it.each(['redis_exec', 'valkey', 'mongosh', 'redis_command'])('O2d: %s reads commands, and runs no program', (tool) =>
    expect(callOf({ tool, input: { command: 'GET user:1' } }).kind).toBeUndefined(),
  );

  const refused = 'connect ECONNREFUSED 203.0.113.9:8123';
  it.each([
    [refused, 'network'],
    [`Command failed: ${refused}`, 'network'],
    [`Home server process exited with code 1: ${refused}`, 'network'],
    [`the worker is gone: exit status 2. ${refused}`, 'network'],
    [`Exit code: 7\n${refused}`, 'tool_error'],
    [`${refused}\n[exit code 7]`, 'tool_error'],
    [`${refused} (exit status 7)`, 'tool_error'],
    [`<returncode>7</returncode>\n${refused}`, 'tool_error'],
    [`Process exited with code 7\n${refused}`, 'tool_error'],
    [`Error: Command failed with exit code 7: ${refused}`, 'tool_error'],
    [`The script x.rb returned a non-zero exit code 7: ${refused}`, 'tool_error'],
  ])('O2d: words in command are a program if the result has its exit code: %j: %s', (text, wanted) => {
    const context = { tool: 'home_control', input: { command: 'play jazz' } };
    const marked = { isError: true, content: [{ type: 'text', text }] };
    expect(readReturned(marked, context)?.category).toBe(wanted);
    expect(readThrown(new Error(text), context).category).toBe(wanted);
    expect(readReturned(marked, { ...context, input: { action: 'play jazz' } })?.category).toBe('network');
  });

  it('O2d: the exit code may be a number of the error, which may have the command', () => {
    const context = { tool: 'db', input: { cmd: 'pgcli mydb' } };
    const thrownBy = (own: object) => readThrown(Object.assign(new Error('request timed out'), own), context).category;
    expect([{}, { exitCode: 2 }, { exit_code: 2 }, { returncode: 2 }].map(thrownBy)).toEqual([
      'timeout',
      ...Array(3).fill('tool_error'),
    ]);
    expect([{ exitCode: 'none' }, { cmd: 'ffmpeg' }, { cmd: 'pgcli mydb' }].map(thrownBy)).toEqual([
      'timeout',
      'timeout',
      'tool_error',
    ]);
  });

  it('O2d: its output is not evidence, and kind: false overrides it', () => {
    const input = { command: 'curl https://a.example' };
    expect(thrown('connect ECONNREFUSED 203.0.113.9:443', input, 'exec_in_pod').category).toBe('tool_error');
    expect(readThrown(new Error('connect ECONNREFUSED 203.0.113.9:443'), { input, kind: false }).category).toBe(
      'network',
    );
  });
});

describe('O2: what is known about a call', () => {
  it.each<[readonly string[], unknown]>([
    [['abc', 'def'], { a: 'abc', b: ['def'] }],
    [['abc'], 'abc'],
    [[], 'ab'],
    [[], 'x'.repeat(4096)],
    [['4711'], { id: 4711, page: 471 }],
    [['abc'], { a: { b: { c: 'abc' } } }],
    [[], { a: { b: { c: { d: 'abc' } } } }],
    [[], null],
    [[], { a: true }],
  ])('O2: the strings %j of %j', (wanted, input) => expect(callOf({ input }).quoted).toEqual(wanted));

  it('O2: of large arguments 32 keys and 32 strings are read', () => {
    const wide = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`k${index}`, `value${index}`]));
    expect(callOf({ input: wide }).quoted).toHaveLength(32);
    expect(callOf({ input: { a: wide, b: wide } }).quoted).toHaveLength(32);
    expect(callOf({ input: Array(50).fill(1).concat(['late']) }).quoted).toEqual([]);
  });

  it.each<[string | undefined, unknown]>([
    ['https://a.example/x', { page: 'https://a.example/x' }],
    ['wss://a.example/x', 'WSS://a.example/x'],
    [undefined, { page: 'see https://a.example/x' }],
    [undefined, { page: 'https://' }],
    [undefined, { page: 'view:https://a.example' }],
    ['ws://a.example/', { page: 'ws://a.example' }],
    [undefined, { host: 'me@a.example' }],
    ['https://b.example/', { a: 'https://', b: 'https://b.example' }],
    ['tcp://a.example', { host: 'a.example' }],
    ['tcp://A.example:80', { hostname: 'A.example:80' }],
    ['tcp://a.example', { domain: 'a.example' }],
    ['tcp://a.example', { server: 'a.example' }],
    ['tcp://10.0.0.1', { ip: '10.0.0.1' }],
    ['tcp://localhost:99', { host: 'localhost:99' }],
    ['tcp://a-b.c-d.example', { host: 'a-b.c-d.example' }],
    [undefined, { host: 'localhosts' }],
    [undefined, { host: 'my localhost' }],
    [undefined, { host: 'a.example/x' }],
    [undefined, { host: 'x a.example' }],
    [undefined, { host: 'a.example:' }],
    [undefined, { host: 'a.example:123456' }],
    [undefined, { host: 'a.example:99999' }],
    [undefined, { host: `a.${'x'.repeat(64)}` }],
    [undefined, { site: 'a.example' }],
    ['tcp://a.example/x?y=1', { url: 'a.example/x?y=1' }],
    ['tcp://a.example?y', { uri: 'a.example?y' }],
    ['tcp://a.example#z', { website: 'a.example#z' }],
    ['tcp://a.example:8080', { url: 'a.example:8080', host: 'b.example' }],
    ['tcp://localhost:80/x', { url: 'localhost:80/x' }],
    ['tcp://b.example', { url: '/x', host: 'b.example' }],
    [undefined, { url: 'mailto:me@a.example' }],
    [undefined, { url: 'see a.example' }],
    [undefined, { url: 'readme' }],
    [undefined, { url: `a.${'b'.repeat(60)}.${'c.'.repeat(100)}example/x` }],
  ])('O2b: the target %s of %j', (wanted, input) => expect(targetIn(input)?.href).toBe(wanted));

  it.each<[readonly string[], unknown, string?]>([
    [['Oslo'], { city: 'Oslo' }],
    [['where is PROJ-9 now', 'PROJ-9'], { q: 'where is PROJ-9 now' }],
    [['ask sara_doe', 'sara_doe'], { q: 'ask sara_doe' }],
    [['mail a@b.example', 'a@b.example'], { q: 'mail a@b.example' }],
    [['in Oslo,Rome;Graz', 'Oslo', 'Rome', 'Graz'], { q: 'in Oslo,Rome;Graz' }],
    [['read a/b.txt', 'a/b.txt'], { q: 'read a/b.txt' }],
    [['my iPhone', 'iPhone'], { q: 'my iPhone' }],
    [['no 4711 here', '4711'], { q: 'no 4711 here' }],
    [['one two three four five Sixth seven'], { q: 'one two three four five Sixth seven' }],
    [['a b c d e Sixth', 'Sixth'], { q: 'a b c d e Sixth' }],
    [['a  b  c  d  Fifth', 'Fifth'], { q: 'a  b  c  d  Fifth' }],
    [[], { a: 'abc', b: 'x'.repeat(256) }],
    [['x'.repeat(255)], { b: 'x'.repeat(255) }],
    [[], { a: 'server', b: 'Errors', c: 'timed out', d: 'status' }],
    [['my servers'], { a: 'my servers' }],
    [[], { a: 'Weather' }, 'get_weather'],
  ])('O2a: the literals %j of %j', (wanted, input, tool = 'find') =>
    expect([...new Set(callOf({ input, tool }).literals)]).toEqual(wanted),
  );

  it.each<[boolean, string, string]>([
    [true, 'Error searching libraries', 'search_libraries'],
    [true, 'cannot list the boxes', 'listBoxes'],
    [true, 'deleting a query', 'delete-queries'],
    [false, 'Error searching', 'search_libraries'],
    [false, 'search it', 'search'],
    [false, 'go up', 'go_up'],
  ])('O2f: %j: %s is said by %s', (wanted, text, tool) => expect(isOfTool(text, callOf({ tool }))).toBe(wanted));

  it.each<[boolean, unknown, string?]>([
    [true, { path: 'x' }],
    [true, { dir_path: 'x' }],
    [true, { fileName: 'x' }],
    [true, { file_name: 'x' }],
    [true, { filePath: 'x' }],
    [true, { sourcePath: 'x' }],
    [true, { fullPath: 'x' }],
    [true, { SQL: 'x' }],
    [true, { filepath: 'x' }],
    [true, { message_id: 'x' }],
    [true, { threadId: 'x' }],
    [true, { note_text: 'x' }],
    [true, { search_query: 'x' }],
    [true, { topic: 'x' }],
    [false, { mysql: 'x' }],
    [false, { queryLimit: 5 }],
    [false, { resourcePath: 'x' }],
    [false, { xpath: 'x' }],
    [false, { pathology: 'x' }],
    [false, { filePaths: 'x' }],
    [true, {}, 'read_notes'],
    [true, {}, 'last_exceptions'],
    [true, {}, 'last_error'],
    [true, {}, 'tail-log'],
    [true, {}, 'get_mail'],
    [true, {}, 'translate'],
    [true, {}, 'make_transcription'],
    [true, {}, 'summarize'],
    [false, {}, 'spread'],
    [false, {}, 'logging'],
  ])('O2f: %j: content comes from %j %s', (wanted, input, tool = 'show') =>
    expect(callOf({ input, tool }).reads).toBe(wanted),
  );

  it.each<[boolean, string, string]>([
    [true, 'file:///etc/hosts', 'show'],
    [true, 'FILE:x', 'show'],
    [false, 'file: x', 'show'],
    [false, 'file:///a b', 'show'],
    [false, 'profile:x', 'show'],
    [false, 'ftp://a.example/x', 'show'],
    [true, 'ftp://a.example/x', 'fetch_page'],
    [false, 'ftp:x', 'fetch_page'],
    [false, 'see ftp://a.example/x', 'fetch_page'],
    [false, 'ftp://a.example/ and so on', 'fetch_page'],
    [false, 'wss://a.example/x', 'fetch_page'],
    [true, 's3+x.y-z://a', 'browser_open'],
    [false, 'x://a', 'fetch_page'],
  ])('O2c: %j: %s cannot be fetched by %s', (wanted, url, tool) =>
    expect(callOf({ input: { url }, tool }).isUnserved).toBe(wanted),
  );

  it.each<[boolean, string, unknown]>([
    [true, 'ping', {}],
    [true, 'nslookup', {}],
    [true, 'traceroute', {}],
    [true, 'trace_route', {}],
    [true, 'reachability', {}],
    [true, 'uptime', {}],
    [true, 'healthCheck', {}],
    [true, 'health_check', {}],
    [true, 'check_open_ports', {}],
    [true, 'scan_port', {}],
    [true, 'port_scanner', {}],
    [true, 'ports_check', {}],
    [true, 'is_the_site_up', {}],
    [true, 'test_connection', {}],
    [true, 'check_urls', {}],
    [true, 'monitor_websites', {}],
    [true, 'probe_endpoint', {}],
    [true, 'check_certificates', {}],
    [true, 'resolve_hostnames', {}],
    [false, 'shipping', {}],
    [false, 'report_check', {}],
    [false, 'check_stock', { id: 1 }],
    [true, 'x', { host: 'a', port: 1 }],
    [true, 'x', { HOST: 'a', timeoutMs: 1 }],
    [true, 'x', { address: 'a', timeout_ms: 1 }],
    [true, 'x', { ip: 'a', recordType: 'A' }],
    [true, 'x', { hostname: 'a', count: 1, protocol: 'icmp', target: 'b', type: 'A' }],
    [false, 'x', { host: 'a' }],
    [false, 'x', { hosts: ['a'], port: 1 }],
    [false, 'x', { port: 1, count: 1 }],
    [false, 'x', { url: 'a', timeout: 1 }],
    [false, 'x', { host: 'a', port: 1, sql: 'x' }],
    [true, 'tls_info', { host: 'a' }],
    [true, 'certificates', { host: 'a' }],
    [true, 'url_checker', { url: 'a' }],
    [true, 'get_cert', { host: 'a' }],
    [false, 'my_tls', { host: 'a' }],
    [false, 'latest', { host: 'a' }],
    [false, 'url_checker', { page: 'a' }],
    [false, 'status', { hosting: 'a' }],
    [false, 'status', { port: 1 }],
    [false, 'x', { host: 'a', myport: 1 }],
    [false, 'x', { host: 'a', ports_open: 1 }],
    [true, 'x', { host: 'a', timeout: 1 }],
    [true, 'scanner', { host: 'a' }],
    [true, 'get_certs', { host: 'a' }],
    [true, 'healthcheck', {}],
    [true, 'scan_tcp_ports', {}],
    [true, 'check_site', {}],
  ])('O2b: %j: to reach the host is the question of %s %j', (wanted, tool, input) =>
    expect(callOf({ tool, input }).asksForHost).toBe(wanted),
  );

  it.each<[boolean, string, unknown]>([
    [true, 'x', { webhook_url: 'a' }],
    [true, 'x', { webHook: 'a', event: 'b' }],
    [true, 'x', { linkUrl: 'a', text: 'b' }],
    [true, 'x', { domain: 'a', limit: 1 }],
    [false, 'preview_link', { url: 'a' }],
    [true, 'create_web_hook', { url: 'a' }],
    [true, 'x', { web_hook: 'a' }],
    [true, 'x', { call_back: 'a' }],
    [true, 'x', { redirect_uri: 'a' }],
    [true, 'bookmark', {}],
    [true, 'unsubscribe', {}],
    [false, 'x', { url: 'a' }],
    [false, 'fetch_page', { link: 'a' }],
  ])('O2b: %j: the URL is passed on by %s %j', (wanted, tool, input) =>
    expect(callOf({ tool, input }).passesOn).toBe(wanted),
  );
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
    for (const result of [text, one, { type: 'error', message: text }]) {
      expect(readReturned(result, { tool: 'show', input })).toBeUndefined();
    }
    const isFile = !('query' in input || 'sql' in input);
    for (const result of [JSON.stringify({ error: text }), '<html><title>502 Bad Gateway</title></html>']) {
      expect(readReturned(result, { tool: 'show', input }) === undefined).toBe(isFile);
    }
    expect(readReturned({ ...one, isError: true }, { tool: 'show', input })?.category).toBe('network');
    expect(thrown(text, input, 'show').category).toBe('network');
  });

  it('O9: a search that has an error and no data has failed, as an object and as JSON text', () => {
    const read = (result: unknown, input: unknown = { query: 'a dead star' }) =>
      [result, JSON.stringify(result)].map((one) => readReturned(one, { tool: 'web_search', input })?.category);
    const bare = { success: false, query: 'a dead star', results: [], total: 0, error: text };
    expect(read(bare)).toEqual(['network', 'network']);
    expect(read({ results: [], query: 'a dead star', error: text })).toEqual(['network', 'network']);
    expect(read({ ...bare, query: 'another' })).toEqual([undefined, undefined]);
    expect(read({ ...bare, results: [{ title: 'x' }] })).toEqual([undefined, undefined]);
    expect(read({ ...bare, message: 'The search failed', status: 'error', errors: [] })).toEqual([
      'network',
      'network',
    ]);
    for (const denied of [{ success: false }, { ok: false }, { successful: false }])
      expect(read({ ...denied, message: text, query: 'a dead star' })).toEqual(['network', 'network']);
    expect(read({ errors: ['x'], message: text, query: 'a dead star' })).toEqual([undefined, undefined]);
    expect(read({ status: 'failed', message: text })).toEqual([undefined, undefined]); // A row of a table of jobs.
    expect(read({ status: 'failed', message: text, query: 'a dead star' })).toEqual([undefined, undefined]);
    const refused = { status: 'REQUEST_DENIED', query: 'a dead star', error_message: 'Use a key' };
    expect(read(refused)).toEqual(['permission', 'permission']);
    expect(read({ id: 7, status: 'failed', error: text })).toEqual([undefined, undefined]);
    expect(read({ ...bare, path: 'x.json' }, { path: 'x.json', query: 'a dead star' })).toEqual([undefined, undefined]);
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

describe('O2: whether credentials are right is the question', () => {
  it.each([
    ['tool_error', 'verify_otp', 'Token expired'],
    ['tool_error', 'verify_password', 'Token expired'],
    ['tool_error', 'login_user', 'Invalid credentials'],
    ['tool_error', 'log_in', 'Authentication failed'],
    ['tool_error', 'signin', 'Authentication failed'],
    ['tool_error', 'checkPassword', 'Authentication failed'],
    ['tool_error', 'try_password', 'Invalid credentials'],
    ['tool_error', 'verify_webhook_signature', 'Invalid token'],
    ['tool_error', 'validate_access_token', 'jwt expired'],
    ['tool_error', 'authenticate', 'TokenExpiredError: it was'],
    ['permission', 'verify_token', 'Invalid API key'],
    ['permission', 'verify_token', 'HTTP 401: invalid token'],
    ['permission', 'verify_token', 'Unauthorized'],
    ['permission', 'verify_address', 'Invalid token'],
    ['permission', 'check_weather', 'Invalid credentials'],
    ['permission', 'read_mail', 'Token expired'],
  ])('O2: %s: %s: %s', (wanted, tool, text) => expect(readThrown(new Error(text), { tool }).category).toBe(wanted));
});

describe('O2d: tools that handle code do not run it, by their names', () => {
  const kindBy = (tool: string) => callOf({ tool, input: { code: 'print(1)\nx = [2]' } }).kind;
  it.each(['format', 'formatter', 'analyze_code', 'analyse_code', 'create_pastebin', 'paste_bin', 'get_user_code'])(
    'O2d: %s is no runner',
    (tool) => expect(kindBy(tool)).toBeUndefined(),
  );
  it.each(['refactor_and_run', 'exec_prettier', 'evaluate_my_own_code'])('O2d: %s is a runner', (tool) =>
    expect(kindBy(tool)).toBe('runner'),
  );

  it.each([
    ['make_video', { script: 'Scene one;\nBob walks in;\n' }],
    ['create_lead', { source: 'utm_source=google' }],
    ['render_diagram', { code: 'graph TD; A-->B;' }],
    ['validate_code', { code: 'const a = 1;' }],
    ['deploy_function', { source: 'export default () => {}' }],
  ])('O2d: the program in the input of %s is data: a line of a service counts', (tool, input) => {
    const read = (text: string) =>
      readReturned({ isError: true, content: [{ type: 'text', text }] }, { tool, input })?.category;
    expect(
      ['HTTP 503 Service Unavailable', 'Invalid API key', 'connect ECONNREFUSED 203.0.113.9:8123'].map(read),
    ).toEqual(['server', 'permission', 'network']);
    const printed = [
      'ConnectError: connection refused',
      'curl: (7) connection refused',
      'Ran 2 tests\nrequest timed out',
    ];
    expect(printed.map(read)).toEqual(Array(3).fill('tool_error'));
    expect(readReturned('Error: connect ECONNREFUSED 203.0.113.9:8123', { tool, input })).toBeUndefined();
    expect(readThrown(new Error('It is what it is'), { tool, input }).unexplained).toBeUndefined(); // O8
  });

  class MCPClientError extends Error {}
  class SdkError extends Error {
    code = 'REQUEST_TIMEOUT';
    data = { timeout: 9 };
  }
  it.each<[string, Error]>([
    ['network', new Error('MCP error -32000: Connection closed')],
    ['timeout', new Error('MCP error -32001: Request timed out')],
    ['network', new Error('Error calling tool bash: McpError: MCP error -32000: Connection closed')],
    ['network', new Error('Error calling tool bash: Error: Not connected')],
    ['server', new Error('Request failed with status code 503')],
    ['network', new MCPClientError('Attempted to send a request from a closed client')],
    ['timeout', new SdkError('Request timed out')],
    ['tool_error', Object.assign(new MCPClientError('connection refused'), { code: -32603 })],
    ['tool_error', new Error('MCP error -32603: connection refused')],
    ['tool_error', new Error('AxiosError: Request failed with status code 503\n    at settle (a.js:1:1)')],
    ['tool_error', new Error('connection refused')],
  ])('O2d: the transport to a runner has failed, and not its program: %s: %s', (wanted, error) => {
    const context = { tool: 'bash', input: { command: 'ls -la' } };
    expect(readThrown(error, context).category).toBe(wanted);
    const marked = { isError: true, content: [{ type: 'text', text: error.message }] };
    expect(readReturned(marked, context)?.category).toBe('tool_error');
  });
});
