import { expect, it } from 'vitest';
import { isSlip, meant, nearestFirst } from './nearest.ts';

it('begins with what was probably meant', () => {
  expect(nearestFirst('circutOpenFor', ['burnFast', 'circuitOpenFor', 'gap'])[0]).toBe('circuitOpenFor');
  expect(nearestFirst('GAP', ['burnFast', 'gap'])).toEqual(['gap', 'burnFast']);
  expect(nearestFirst('', ['b', 'aa'])).toEqual(['b', 'aa']);
});

it.each([
  ['failureTreshold', 'failureThreshold'],
  ['coolDownMs', 'cooldownMs'],
  ['bugdet', 'budget'],
  ['retries', undefined],
  ['', undefined],
])('says of %j that %s was meant', (written, name) => {
  expect(meant(written, ['budget', 'failureRate', 'failureThreshold', 'cooldownMs', 'mode'])).toBe(name);
});

it('guesses nothing where there is nothing, and reads no book', () => {
  expect(meant('budget', [])).toBeUndefined();
  expect(meant(`${'b'.repeat(1e6)}`, ['budget'])).toBeUndefined();
});

it.each([
  ['web_search', 'webSearch'],
  ['Web Search', 'web-search'],
  ['web_serach', 'web_search'],
  ['web_seach', 'web_search'],
  ['wether_report', 'weather_report'],
  ['github.search', 'search'],
  ['mcp__github__search', 'search'],
])('%s is %s, written in another way', (one, other) => {
  expect([isSlip(one, other), isSlip(other, one)]).toEqual([true, true]);
});

it.each([
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
