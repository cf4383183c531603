import { expect, test } from 'vitest';
import { isShort, isSlip, meant, nearestFirst, safeJson, shortened } from './names.ts';

test('E6: a name of 256 characters stays as it is, a longer one is cut to that many', () => {
  const longest = 'x'.repeat(256);
  expect([isShort(longest), shortened(longest)]).toEqual([true, longest]);
  expect([isShort(`${longest}y`), shortened(`${longest}y`)]).toEqual([false, `${'x'.repeat(255)}…`]);
});

test('E6: no character is split', () => {
  const cut = shortened(`${'x'.repeat(254)}${'😀'.repeat(5)}`);
  expect(cut).toBe(`${'x'.repeat(254)}…`);
  expect(encodeURIComponent(cut)).toContain('%E2%80%A6'); // Throws for half a character.
});

test('E6: half a character becomes the replacement character, and a configured name may not contain one', () => {
  for (const name of ['a\ud800b', 'a\udfffb']) {
    expect([isShort(name), shortened(name)]).toEqual([false, 'a\ufffdb']);
  }
  expect([isShort('😀'), shortened('😀'), isShort('\ufffd')]).toEqual([true, '😀', true]);
  expect(shortened(`\udc00${'x'.repeat(300)}`)).toBe(`\ufffd${'x'.repeat(254)}…`);
});

test('the hint starts with the closest name', () => {
  expect(nearestFirst('circutOpenFor', ['burnFast', 'circuitOpenFor', 'gap'])[0]).toBe('circuitOpenFor');
  expect(nearestFirst('GAP', ['burnFast', 'gap'])).toEqual(['gap', 'burnFast']);
  expect(nearestFirst('', ['b', 'aa'])).toEqual(['b', 'aa']);
});

test.each([
  ['failureTreshold', 'failureThreshold'],
  ['coolDownMs', 'cooldownMs'],
  ['bugdet', 'budget'],
  ['retries', undefined],
  ['', undefined],
])('for %j the hint is %s', (written, name) => {
  expect(meant(written, ['budget', 'failureRate', 'failureThreshold', 'cooldownMs', 'mode'])).toBe(name);
});

test('without names there is no hint, and at most 60 characters are compared', () => {
  expect(meant('budget', [])).toBeUndefined();
  expect(meant(`${'b'.repeat(1e6)}`, ['budget'])).toBeUndefined();
});

test.each([
  ['web_search', 'webSearch'],
  ['Web Search', 'web-search'],
  ['web_serach', 'web_search'],
  ['web_seach', 'web_search'],
  ['wether_report', 'weather_report'],
  ['github.search', 'search'],
  ['mcp__github__search', 'search'],
])('%s is %s in another spelling', (one, other) => {
  expect([isSlip(one, other), isSlip(other, one)]).toEqual([true, true]);
});

test.each([
  ['search', 'search'],
  ['read_file', 'read_files'],
  ['get_user', 'set_user'],
  ['search_v1', 'search_v2'],
  ['tool_a', 'tool_b'],
  ['translate_en', 'translate_es'],
  ['translateEn', 'translateEs'],
  ['web_search', 'news_search'],
  ['search', 'news_search'],
  ['git_push', 'git_pull'],
  ['import_csv', 'export_csv'],
  ['---', '...'],
  ['', '.'],
  [`${'x'.repeat(1e6)}y`, `${'x'.repeat(1e6)}z`],
])('%.20s and %.20s are two names', (one, other) => {
  expect([isSlip(one, other), isSlip(other, one)]).toEqual([false, false]);
});

test('Q1: JSON with controls, bidi overrides and invisible characters has them as escapes, and is the same value', () => {
  const value = { name: 'a\u009b2J\u202e\u2028\u200b\u{e0001} é 🙂', list: ['\u001b[2J', 1, null] };
  const text = safeJson(value, 2);
  expect(text).toMatch(/^\{\n {2}"name": "a\\u009b2J\\u202e\\u2028\\u200b\\udb40\\udc01 é 🙂",/);
  expect(JSON.parse(text)).toEqual(value);
  expect(safeJson(undefined)).toBe('null');
});
