import { createBreakerbox } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { guard } from '../guard.ts';
import { type ReadContext, readReturned, readThrown } from './classify.ts';

const marked = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });
const digestOf = (text: string, context: ReadContext = { tool: 'search' }) =>
  readReturned(marked(text), context)?.unexplained?.digest;

describe('O8: errors that nothing explains', () => {
  test.each([
    'The search tool is not configured',
    'The tool has vanished, and nothing is left of it',
    'The secret key has nothing in it',
    "Cannot read properties of undefined (reading 'launch')",
    "'NoneType' failed",
    'x is not a function',
    'This feature is not implemented',
    'That is not yet defined',
    'No such tool available: Browser',
    'Did not find serpapi_api_key, please add an environment variable `SERPAPI_API_KEY` which contains it',
    'JAVA_HOME is not there',
    'GITHUB_TOKEN has vanished',
    'CLIENT_SECRET has vanished',
    'The license key has vanished',
    'The credentials have vanished',
    'Tool execution failed',
    'The interpreter was not found',
    'No executable',
    'No webdriver',
    'Environment variable X is missing',
    'Missing required environment variable: GITHUB_TOKEN',
    'The env var has vanished',
    'No such plugin',
    'The browser extension is asleep',
    'No database is configured',
    'Configuration failed',
    'The package is not installed',
    'It is uninstalled',
    'A dependency failed',
    'The backend failed',
    'The client is not initialised',
    'The client is uninitialized',
    'You are not logged in. Run `gh auth login`',
    'You are not signed in',
    'Run az auth login',
    'Unable to obtain driver for chrome',
    "'Context' object has no attribute 'session'",
    'called `Result::unwrap()` on an `Err` value: NotPresent',
    'runtime error: invalid memory address or nil pointer dereference',
    'java.lang.NullPointerException',
    "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found",
    'Your plan does not include access to this endpoint',
    'Your free trial has ended. Please upgrade.',
    'Your current active account [] does not have any valid credentials',
    'Subscription inactive',
    'This API version has been sunset',
    'Account suspended',
    'An error occurred while executing the operation',
    'SERPAPI_KEY is not set',
    'Search failed',
    'error_querying',
    'null',
    '[object Object]',
    'Order shipped',
    '',
    '...',
  ])('O8: %j is about the tool itself or says nothing about the request, thrown or marked as an error', (text) => {
    const unexplained = { digest: expect.stringMatching(/^[0-9a-f]{32}$/), ofTool: true };
    expect(readReturned(marked(text), { tool: 'search' })?.unexplained).toEqual(unexplained);
    expect(readThrown(new Error(text), { tool: 'search' }).unexplained).toEqual(unexplained);
  });

  test('O8: an outage that names a literal of the arguments is unexplained, and the literal is not in its digest', () => {
    const weather = (city: string, text = `Error getting weather for ${city}: backend is down`) =>
      readReturned(marked(text), { tool: 'get_weather', input: { city } })?.unexplained;
    expect(weather('Berlin')).toEqual({ digest: expect.any(String), ofTool: false });
    expect(weather('Berlin')).toEqual(weather('Oslo'));
    expect(weather('Berlin', 'Berlin is not in the list')).toBeUndefined();
    expect(weather('payments', 'payments is unavailable')).toBeUndefined();
  });

  test.each([
    'Unknown error',
    'unknown failure',
    'Unknown reason',
    'Please sign in to continue',
    'No connection to browser extension. You must first connect a tab',
    'No Android devices are attached',
    'No tab is attached. Please click the icon',
    'Search error: x-api-key header is invalid',
    'Local REST API plugin is disabled',
    'Event loop is closed',
    'Converting circular structure to JSON',
    'Could not perform the search',
    'License expired',
    'The patch does not apply',
    'This group is private',
  ])('O8: %j has words that may be about the request', (text) => {
    expect(readReturned(marked(text), { tool: 'find' })?.unexplained?.ofTool).toBe(false);
  });

  test.each([
    'Kunde nicht gefunden',
    'Rechnung bereits beglichen',
    'Der Dienst ist nicht erreichbar',
    'Aucun résultat',
    'El cliente no existe',
    'Geen treffers',
    'Kein Tisch frei',
    'Keiner frei',
    'Aucun vol',
    'Aucune chambre',
    'Nessun volo',
    'Nessuna stanza',
    'Camera disponibile',
    'Заказов нет',
    '見つかりません',
    '注文はありません',
    '没有订单',
    '주문이 없습니다',
    'لا توجد طلبات',
    'Δεν υπάρχουν αποτελέσματα',
  ])('O8: %j may be an answer in another language', (text) => {
    expect(digestOf(text)).toBeUndefined();
    expect(readThrown(new Error(text), { tool: 'search' }).unexplained).toBeUndefined();
  });

  test.each([
    'is not found',
    'has not been found',
    'could not be found',
    'of no city found',
    'has no rooms available',
    'has no rooms for two',
    'has no train between them',
    'has no such city',
    'has no data',
    'does not exist',
    "didn't exist",
    'could not find it',
    "couldn't locate it",
    'cannot find it',
    "can't locate it",
    'is unable to find the page',
    'failed to locate it',
    'is missing',
    'has never been found',
    "hasn't returned any of it",
    'has nothing',
    'has none',
    'has no match',
    'has zero seats for it',
    'has no users',
    'has no users  ',
    'has no match there',
    'has no matching one',
    'has no result there',
    'does not match',
    "doesn't contain it",
    'do not have it',
    'could not be located',
    'is unable to identify it',
    'failed to resolve it',
    'is empty',
    'has an unknown place',
  ])('O8: a text that says that something %s speaks about the request, if that is nothing of the tool', (text) => {
    expect(digestOf(`The order ${text}`)).toBeUndefined();
    expect(digestOf(`The plugin ${text}`)).toBeDefined();
  });

  test.each([
    'has already paid',
    'is allowed for others',
    'is permitted for others',
    'must wait',
    'has only two',
    'should wait',
    'cannot be changed',
    "can't be changed",
    'may not be changed',
    'has insufficient balance',
    'has not enough of it',
    'has a maximum of 2',
    'has a minimum of 2',
    'has at least 2',
    'has at most 2',
    'is too late',
    'is denied that',
    'is refused that',
    'is expired',
    'is closed',
    'is busy',
    'is locked',
    'is pending',
    'is full',
    'is not available in this shop',
    'is unavailable in this shop',
    'is in use',
    'is a duplicate',
    'is different',
    'comes first',
    'comes before that',
    'waits until noon',
    'waits unless paid',
    'is invalid',
    'is incorrect',
    'is wrong',
    'is malformed',
    'is unsupported',
    'is not supported',
    'is forbidden',
    'is archived',
    'is not in it',
    'is sold out',
    'Time slot taken',
    'exceeds the budget',
    'has limits',
    'conflicts with it',
    'violates a rule',
    'has policies',
    'has a mismatch',
    'belongs to another customer',
    'is out of stock',
    'has a syntax error',
    'was rejected',
    'was declined',
    'needs your permission',
    'is not authorized',
    'is blocked',
    'is protected',
    'is disabled',
    'is in the past',
    'is ambiguous',
    'is not a file',
    'does not parse',
    'has a constraint',
    'divides by zero',
  ])('O8: a text that says that something %s rejects the request, and takes longer if it is of the tool', (text) => {
    expect(digestOf(`The order ${text}`)).toBeUndefined();
    expect(readReturned(marked(`The extension ${text}`), { tool: 'search' })?.unexplained?.ofTool).toBe(false);
  });

  test('O8: an error with evidence, one that names a literal of the arguments, and the output of a program are explained', () => {
    expect(readThrown(new Error('connect ECONNREFUSED 127.0.0.1:1')).unexplained).toBeUndefined();
    expect(readThrown(Object.assign(new Error('it failed'), { status: 500 })).unexplained).toBeUndefined();
    expect(digestOf('the zebra plugin failed', { input: { q: 'zebra' } })).toBeUndefined();
    expect(digestOf('the plugin failed', { input: { q: 'zebra' } })).toBeDefined();
    expect(digestOf('The ZEBRA plugin failed', { input: { q: 'zebra' } })).toBeUndefined();
    expect(digestOf('the plugin failed', { input: { q: 'the' } })).toBeDefined();
    expect(digestOf('HTTP 503')).toBeUndefined();
    expect(readThrown(Object.assign(new Error('it failed'), { code: 'ENOENT' })).unexplained).toBeUndefined();
    expect(readThrown(new Error('the arguments are invalid json')).unexplained).toBeUndefined();
    expect(digestOf('it failed', { tool: 'run_python_code' })).toBeUndefined();
  });

  const missing = { code: -32601, message: 'Method not found' };
  test.each<[string, unknown]>([
    ['thrown by a client', Object.assign(new Error('MCP error -32601: Method not found'), { code: -32601 })],
    ['thrown', new Error('MCP error -32601: Method not found')],
    ['as JSON-RPC', { jsonrpc: '2.0', id: 1, error: missing }],
    ['as JSON-RPC that was thrown', missing],
    ['as a result', marked('MCP error -32601: Method not found')],
  ])('O8: a server without the method has no such tool, whatever the input: %s', (_, error) => {
    const read = (input: object) =>
      (error instanceof Error || error === missing ? readThrown : readReturned)(error, { tool: 'book', input });
    expect(read({ city: 'Oslo' })).toMatchObject({ category: 'invalid_input', unexplained: { ofTool: true } });
    expect(read({ method: 'method' })?.unexplained).toBeUndefined();
  });

  test.each([
    ['JSON object requested, multiple (or no) rows returned', 'The result contains 0 rows'],
    ['Cannot coerce the result to a single JSON object', 'The result contains 0 rows'],
    ['It failed', 'The order is not found'],
    ['It failed', 'The zebra has a flaw'],
  ])('O8: what an error says in its details is read too: %s: %s', (message, said) => {
    const read = (key: string) =>
      readThrown({ code: 'PGRST116', hint: null, message, [key]: said }, { input: { q: 'zebra' } }).unexplained;
    expect([read('details'), read('detail')]).toEqual([undefined, undefined]);
    expect(readThrown({ message: 'It failed', details: 'Everything is lost' }).unexplained).toBeDefined();
  });

  test('O8: the digest of a text is the same in each process', () => {
    expect(digestOf('The plugin failed: "Oslo" of /tmp/x,  7 times\n')).toBe('08a04aba364dd728e981672caab63f0f');
  });

  test('O8: a result that no framework marks as an error is explained by its tool', () => {
    expect(readReturned({ error: 'it failed' })).toMatchObject({ category: 'tool_error', unexplained: undefined });
    expect(readReturned('Error: it failed')).toBeUndefined();
  });

  test.each([
    ['Failure 17 of "Oslo" in /tmp/a1/b.txt', 'Failure 4 of "Rome" in /tmp/c2/d.txt', true],
    ['Display :99 is gone', 'Display :1 is gone', true],
    ['trace 7f3a21bc: it failed', 'trace 09aa11ee: it failed', true],
    ['It   failed\n', 'it failed', true],
    ["Failure of 'Oslo'", 'Failure of `Rome`', true],
    ['Failure of a@b.example', 'Failure of c@d.example', true],
    ['Failure of @a b', 'Failure of c/ b', true],
    ['Failure 7a', 'Failure b8', true],
    ['Failure at C:\\x', 'Failure at C:\\y\\z', true],
    ["Don't fail, it's Oslo", "Don't fail, it's Rome", false],
    [`Failure of "${'x'.repeat(201)}"`, `Failure of "${'y'.repeat(201)}"`, false],
    ['It failed', 'It has failed', false],
  ])('O8: the digests of %j and %j are the same: %j', (one, other, same) => {
    const digest = (text: string) => digestOf(`The plugin failed. ${text}`) ?? 'none';
    expect(digest(one)).not.toBe('none');
    expect(digest(one) === digest(other)).toBe(same);
  });
});

describe('O8: a guarded tool', () => {
  const box = () => createBreakerbox({ agent: 'research-agent', tools: { search: {}, shell: {} } });

  test('O8: a tool that its server does not have is not called for a fifth', async () => {
    const session = box().session();
    const search = guard(session, 'search', async (_: { city: string }) => {
      throw Object.assign(new Error('MCP error -32601: Method not found'), { code: -32601 });
    });
    for (const city of ['Oslo', 'Rome', 'Graz', 'Bonn']) await search({ city }).catch(() => {});
    expect(session.explain('search')).toMatchObject({ decision: 'skip', circuits: [{ category: 'unusable' }] });
  });

  test('O8: a tool that has failed with 4 different queries is not called for a fifth', async () => {
    const session = box().session();
    let calls = 0;
    const search = guard(session, 'search', async (_: { query: string }) => {
      calls += 1;
      throw new Error('The search backend is not configured');
    });
    for (const query of ['one', 'two', 'three', 'four', 'five']) await search({ query }).catch(() => {});
    expect(calls).toBe(4);
    expect(session.explain('search')).toMatchObject({ decision: 'skip', circuits: [{ category: 'unusable' }] });
    expect(session.explain('search').text).toContain('it has failed with every input so far');
  });

  test('O8: runners never are, and a tool that has worked once is not', async () => {
    const session = box().session();
    const shell = guard(session, 'shell', async (_: { command: string }) => marked('it failed'));
    let works = true;
    const search = guard(session, 'search', async (_: { command: string }) => (works ? 'found' : marked('it failed')));
    for (const command of ['one', 'two', 'three', 'four', 'five']) {
      await shell({ command });
      await search({ command });
      works = false;
    }
    expect(session.view().circuits.map(({ state }) => state)).toEqual(['closed', 'closed']);
  });
});
