import { createBreakerbox } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { guard } from '../guard.ts';
import { type ReadContext, readReturned, readThrown } from './classify.ts';

const marked = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });
const digestOf = (text: string, context: ReadContext = { tool: 'search' }) =>
  readReturned(marked(text), context)?.unexplained?.digest;

describe('O8: errors that nothing explains', () => {
  test.each([
    'Unknown error',
    'unknown failure',
    'Unknown reason',
    'The search tool is not configured',
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
    'Please sign in to continue',
    'Please login',
    '',
    '...',
  ])('O8: %j is about the tool itself, thrown or marked as an error', (text) => {
    const unexplained = { digest: expect.stringMatching(/^[0-9a-f]{32}$/), ofTool: true };
    expect(readReturned(marked(text), { tool: 'search' })?.unexplained).toEqual(unexplained);
    expect(readThrown(new Error(text), { tool: 'search' }).unexplained).toEqual(unexplained);
  });

  test.each([
    'An error occurred while executing the operation',
    'It has failed with an unhandled exception',
    'Search failed',
    'Searching failed',
    'error_querying',
    'Failed fetching',
    'The request to call in this process was an unexpected failure',
    'Please try your query again',
    'null',
    '[object Object]',
  ])('O8: %j gives no reason', (text) => {
    expect(readReturned(marked(text), { tool: 'find' })?.unexplained?.ofTool).toBe(false);
  });

  test.each([
    'It exists',
    'Item(s) failed',
    'Order shipped',
    'Payment failed',
    'exit code 1',
    'Flight segments do not connect',
    'Assertion failed',
    'The patch does not apply',
    'No one speaks in this recording',
    'No speech was heard',
    'The film has no subtitles',
    'The scan has no text layer',
    'This group is private',
    'The parcel has left the depot',
    'The keyboard has vanished',
    'The foreign_key has vanished',
    'A nursing home is near',
    'This skiing season is over',
    'The library opens at noon',
    'No driver is near',
    'Server Anna has gone home',
    'Kunde nicht gefunden',
    'Rechnung bereits beglichen',
    'Der Dienst ist nicht erreichbar',
    'Aucun résultat',
    'El cliente no existe',
    'Geen treffers',
    'Заказов нет',
    '見つかりません',
    '注文はありません',
    '没有订单',
    '주문이 없습니다',
    'لا توجد طلبات',
    'Δεν υπάρχουν αποτελέσματα',
  ])('O8: %j is about neither, so it says nothing about the tool', (text) => {
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
  ])('O8: a text that says that something %s speaks about the request, if that is nothing of the tool', (text) => {
    expect(digestOf(`The backend ${text}`)).toBeUndefined();
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
    'exceeds the budget',
    'has limits',
    'conflicts with it',
    'violates a rule',
    'has policies',
    'has a mismatch',
    'belongs to another customer',
  ])('O8: a text that says that something %s rejects the request', (text) => {
    for (const thing of ['The backend', 'The extension'])
      expect(readReturned(marked(`${thing} ${text}`), { tool: 'search' })?.unexplained).toBeUndefined();
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
    expect(readThrown(new Error('the plugin is required')).unexplained).toBeUndefined();
    expect(digestOf('it failed', { tool: 'run_python_code' })).toBeUndefined();
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
