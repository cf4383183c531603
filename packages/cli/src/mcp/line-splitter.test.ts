import { expect, test } from 'vitest';
import { type Line, LineSplitter } from './line-splitter.ts';
import { rawItems, rawMember } from './raw-json.ts';

const TEXT = '{"a":1}\n\n{"b":"ä€"}\r\nlast';

test.each([1, 2, 3, 7, 100])('M2: pieces of %i bytes give the same lines, and all bytes', (size) => {
  const splitter = new LineSplitter();
  const bytes = Buffer.from(TEXT);
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.push(bytes.subarray(at, at + size)));
  const rest = splitter.rest();
  expect(rest?.bytes.toString()).toBe('last');
  expect(lines.map((line) => line.bytes.toString())).toEqual(['{"a":1}\n', '\n', '{"b":"ä€"}\r\n']);
});

test('M2: a line that is too long goes on in pieces, and is not looked at', () => {
  const splitter = new LineSplitter(4);
  const lines = ['abcdef', 'gh\nok\n'].flatMap((one) => [...splitter.push(Buffer.from(one))]);
  expect(lines.map(({ bytes, whole }) => [bytes.toString(), whole])).toEqual([
    ['abcdef', false],
    ['gh\n', false],
    ['ok\n', true],
  ]);
});

test('M4: parts of a JSON text as they are written', () => {
  const text = '{ "x":{"id":"}\\"{"}, "i\\u0064" : 1.0 , "l":[ 1,[2], "],"] }';
  expect(rawMember(text, 'id')).toBe('1.0');
  expect(rawItems(rawMember(text, 'l') ?? '')).toEqual(['1', '[2]', '"],"']);
  expect(rawMember('{}', 'id')).toBeUndefined();
});
