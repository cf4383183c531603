import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cut, visible, widthOf, wrap } from './width.ts';

const text = fc.string({ unit: 'binary' });

describe('Q1: room on a terminal', () => {
  test.each([
    ['plain', 5],
    ['', 0],
    ['検索', 4],
    ['한국', 4],
    ['ｆｕｌｌ', 8],
    ['🚀', 2],
    ['👩‍💻', 2],
    ['🇫🇷', 2],
    ['é', 1],
    ['e\u0301', 1],
    ['…', 1],
  ])('Q1: %s takes %i columns', (one, width) => expect(widthOf(one)).toBe(width));

  test.each([
    ['a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['\u001b[31m\u0000', '\\x1b[31m\\x00'],
    ['\u202eexe\u2028', '\\u202eexe\\u2028'],
    ['\ud800', '\\ud800'],
    ['\u{e0061}', '\\u{e0061}'],
    ['👩‍💻 检', '👩‍💻 检'],
  ])('Q1: %j is shown as %s', (hidden, shown) => expect(visible(hidden)).toBe(shown));

  test('Q1: what is visible stays as it is', () => {
    fc.assert(fc.property(text, (one) => visible(visible(one)) === visible(one)));
  });

  test('Q1: a long name is cut inside, for those of one server differ at the end', () => {
    expect(cut('mcp__server__find_by_email', 16)).toBe('mcp__serve…email');
    expect(cut('検索ツール', 6)).toBe('検索…');
    expect(['', '…', 'a…'].map((_, width) => cut('abc', width))).toEqual(['', '…', 'a…']);
    expect(cut('fits', 4)).toBe('fits');
  });

  test('Q1: what is cut fits', () => {
    fc.assert(
      fc.property(
        text.map(visible),
        fc.integer({ min: 0, max: 30 }),
        (one, width) => widthOf(cut(one, width)) <= width,
      ),
    );
  });

  test('Q1: wraps on words, with a hanging indent', () => {
    expect(wrap('one two three four', 9, 2)).toEqual(['one two', '  three', '  four']);
    expect(wrap('', 9)).toEqual(['']);
  });

  test('Q1: a word that no line can hold is broken at a joint, if there is one', () => {
    expect(wrap('mcp__acme__find_customer', 14)).toEqual(['mcp__acme__', 'find_customer']);
    expect(wrap('abcdefgh', 3)).toEqual(['abc', 'def', 'gh']);
  });

  test('Q1: what is wrapped fits, and loses nothing but blanks', () => {
    fc.assert(
      fc.property(
        text.map(visible),
        fc.integer({ min: 8, max: 30 }),
        fc.integer({ min: 0, max: 4 }),
        (one, width, indent) => {
          const lines = wrap(one, width, indent);
          expect(lines.map((line) => widthOf(line) <= width)).not.toContain(false);
          expect(lines.join('').replaceAll(' ', '')).toBe(one.replaceAll(' ', ''));
        },
      ),
    );
  });
});
