import { expect, test } from 'vitest';
import { annotated, isPlain } from './freshness.ts';

const part = { type: 'text', text: 'found' };
const words = { type: 'text', text: '[words]' };

test.each<[string, unknown, unknown]>([
  ['a text', 'found', '[words]\nfound'],
  ['nothing', undefined, { result: undefined, note: 'words' }],
  ['null', null, { result: null, note: 'words' }],
  ['a number', 0, { result: 0, note: 'words' }],
  ['a list', [1], { result: [1], note: 'words' }],
  ['an object', { hits: 1 }, { hits: 1, note: 'words' }],
  ['an object that has the key', { note: 'high' }, { result: { note: 'high' }, note: 'words' }],
  ['an instance', new Date(0), { result: new Date(0), note: 'words' }],
  ['an MCP result', { content: [part], structuredContent: {} }, { content: [words, part], structuredContent: {} }],
  ['content of another kind', { content: ['found'] }, { content: ['found'], note: 'words' }],
])('R4, F1: %s gets a note, and does not change', (_, result, expected) => {
  const before = structuredClone(result);
  expect(annotated(result, 'note', 'words')).toEqual(expected);
  expect(result).toEqual(before);
});

test('R4, F1, E5: an object that throws when it is read gets a note too', () => {
  const trap = () => {
    throw new Error('do not look at me');
  };
  const hostile = new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap });
  const { result, note } = annotated(hostile, 'note', 'words') as { result: unknown; note: string };
  expect([result === hostile, note]).toEqual([true, 'words']);
});

const withoutPrototype = <T extends object>(value: T): T => Object.setPrototypeOf(value, null);

test.each<[string, unknown, boolean]>([
  ['an object', {}, true],
  ['an object without prototype', withoutPrototype({ a: 1 }), true],
  ['null', null, false],
  ['undefined', undefined, false],
  ['a text', 'found', false],
  ['a list', [], false],
  ['a list without prototype', withoutPrototype([1]), false],
  ['a function without prototype', withoutPrototype(() => 1), false],
  ['an instance', new Date(0), false],
])('R4, F1: a plain object is one that JSON writes in braces: %s: %j', (_, value, plain) => {
  expect(isPlain(value)).toBe(plain);
});
