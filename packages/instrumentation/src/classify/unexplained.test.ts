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
    'The search tool is not configured',
    "Cannot read properties of undefined (reading 'launch')",
    'This feature is not implemented',
    'No such tool available: Browser',
    'Did not find serpapi_api_key, please add an environment variable `SERPAPI_API_KEY` which contains it',
    'Tool execution failed',
    'The driver was not found',
    'Environment variable X is missing',
    'No such plugin',
    'unknown failure',
    'It could be found',
    'It exists',
    'Item(s) failed',
    'The environment has no display',
    'No database is configured',
    'Unknown reason',
    '',
  ])('O8: %j is unexplained, thrown or marked as an error', (text) => {
    expect(digestOf(text)).toMatch(/^[0-9a-f]{32}$/);
    expect(readThrown(new Error(text), { tool: 'search' }).unexplained?.digest).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each([
    'Order not found',
    'Kunde nicht gefunden',
    'Kein Ergebnis',
    'No se encontró el pedido',
    'Pedido no encontrado',
    'Aucun résultat',
    'Commande introuvable',
    'Ordine non trovato',
    'Pedido não encontrado',
    'Заказ не найден',
    '見つかりません',
    '未找到订单',
    '找不到订单',
    '주문을 찾을 수 없습니다',
    'Item out of stock',
    'Tests failed',
    'Build failed',
    'Compilation failed',
    'Assertion failed',
    'Assertions failed',
    'Typecheck failed',
    'No results for this query',
    'Nothing matched',
    'I could not find that city',
    'Order already refunded',
    'Not allowed for this customer',
    'Only pending orders can be cancelled',
    'Read the file first',
    'The balance is not enough',
    'No rooms available',
    'The city has not been found',
    'No such city',
    'no more seats available',
    'no matching hotel was found',
    'No commits between main and feat',
    'no records',
    'no entries here',
    'It does not exist',
    "That doesn't match",
    "I can't locate it",
    'unable to find the page',
    '0 hits',
    'zero orders here',
    'The list is empty',
    'unknown city',
    'This cannot be changed',
    'it may not be changed',
    'insufficient balance',
    'it exceeds the budget',
    'limits apply',
    'at least 2 nights',
    'at most 2 nights',
    'later than the departure',
    'too late',
    'refunds take 5 days',
    'sold out',
    'not available in this shop',
    'seat in use',
    'conflicts with another booking',
    'it violates a rule',
    'our policies',
    'it belongs to another customer',
    'not part of the plan',
    'the warranty does not cover it',
    "the warranty doesn't cover it",
    'unsupported format',
    'a date that cannot be parsed',
    'failed while parsing',
    'a parse failure',
    'log in again',
    'please select a seat',
    'please check the date',
    'please try another date',
    'not a part of it',
    'It cannot find the city',
    'I could not locate it',
    "It didn't match",
    'failed to identify it',
    'a log in is needed',
    'please login',
    'not be found',
    'no seats left for two',
    'no new free seats available',
    "this can't be changed",
    'unavailable',
    'channel_is_archived',
  ])('O8: %j speaks about the request', (text) => {
    expect(digestOf(text)).toBeUndefined();
    expect(readThrown(new Error(text), { tool: 'search' }).unexplained).toBeUndefined();
  });

  test('O8: an error with evidence, one that names a literal of the arguments, and the output of a program are explained', () => {
    expect(readThrown(new Error('connect ECONNREFUSED 127.0.0.1:1')).unexplained).toBeUndefined();
    expect(readThrown(Object.assign(new Error('it failed'), { status: 500 })).unexplained).toBeUndefined();
    expect(digestOf('zebra: it failed', { input: { q: 'zebra' } })).toBeUndefined();
    expect(digestOf('it failed', { input: { q: 'zebra' } })).toBeDefined();
    expect(digestOf('ZEBRA: it failed', { input: { q: 'zebra' } })).toBeUndefined();
    expect(digestOf('the it failed', { input: { q: 'the' } })).toBeDefined();
    expect(digestOf('HTTP 503')).toBeUndefined();
    expect(readThrown(Object.assign(new Error('it failed'), { code: 'ENOENT' })).unexplained).toBeUndefined();
    expect(readThrown(new Error('the arguments are invalid json')).unexplained).toBeUndefined();
    expect(readThrown(new Error('it is required')).unexplained).toBeUndefined();
    expect(digestOf('it failed', { tool: 'run_python_code' })).toBeUndefined();
  });

  test.each([
    ['The search tool is not configured', true],
    ['Did not find serpapi_api_key, please add an environment variable', true],
    ["Cannot read properties of undefined (reading 'launch')", true],
    ['This feature is not implemented', true],
    ['No such tool available: Browser', true],
    ['The search module failed', true],
    ['Unknown error', true],
    ['', true],
    ['...', true],
    ['The key has vanished', true],
    ['Two keys have vanished', true],
    ['The client is disconnected', true],
    ['The client is not initialised', true],
    ['The client is uninitialized', true],
    ['The index is not yet enabled', true],
    ['The keyboard has vanished', false],
    ['Order shipped', false],
    ['Ineligible', false],
    ['Payment failed', false],
    ['exit code 1', false],
    ['Flight segments do not connect', false],
  ])('O8: %j is about the tool itself: %j', (text, ofTool) => {
    expect(readReturned(marked(text), { tool: 'search' })?.unexplained?.ofTool).toBe(ofTool);
  });

  test('O8: the digest of a text is the same in each process', () => {
    expect(digestOf('It failed: "Oslo" of /tmp/x,  7 times\n')).toBe('4a373c373280c3b7828474cec8a55b9d');
  });

  test('O8: a result that no framework marks as an error is explained by its tool', () => {
    expect(readReturned({ error: 'it failed' })).toMatchObject({ category: 'tool_error', unexplained: undefined });
    expect(readReturned('Error: it failed')).toBeUndefined();
  });

  test.each([
    ['Failure 17 of "Oslo" in /tmp/a1/b.txt', 'Failure 4 of "Rome" in /tmp/c2/d.txt', true],
    ['Cannot use the display :99', 'Cannot use the display :1', true],
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
    expect(digestOf(one) === digestOf(other)).toBe(same);
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
