import { expect, test } from 'vitest';
import { clip, colour, plain, wrap } from './paint.ts';

test('cuts a line at the edge, and does not count colours', () => {
  expect(clip('abcdef', 4)).toBe('abcd');
  expect(clip('abc', 4)).toBe('abc');
  expect(clip(`${colour('red', 'ab')}cd`, 4)).toBe(`${colour('red', 'ab')}cd`);
});

test('ends a colour at the cut', () => {
  expect(clip(colour('red', 'abcdef'), 3)).toBe('\x1b[31mabc\x1b[0m');
});

test('plain paint does not change the text', () => expect(plain('red', 'text')).toBe('text'));

test('wraps a long text', () => {
  expect(wrap('one two three four', 12, '1. ', '   ')).toEqual(['1. one two', '   three', '   four']);
  expect(wrap('unbreakable', 4, '', '')).toEqual(['unbreakable']);
});
