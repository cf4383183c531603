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

test.each([1, 3, 1_000])(
  'M2: of a line that is too long, in pieces of %i bytes, the id and the method are left',
  (size) => {
    const long = '{"params":{"id":7,"x":"\\"}{"},"m\\u0065thod" : "tools/call", "l":[1,{"id":2}],"id": 1.0}';
    const splitter = new LineSplitter(10);
    const bytes = Buffer.from(`ok\n${long}\n${'x'.repeat(20)}\nok\n${long}`);
    const lines: Line[] = [];
    for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.push(bytes.subarray(at, at + size)));
    const outline = '{"method":"tools/call","id":1.0}\n';
    const found = [...lines, splitter.rest() as Line];
    expect(found.map((line) => [line.bytes.toString(), line.whole])).toEqual([
      ['ok\n', true],
      [outline, false],
      ['{}\n', false],
      ['ok\n', true],
      [outline, false],
    ]);
  },
);

test('M4: parts of a JSON text as they are written', () => {
  const text = '{ "x":{"id":"}\\"{"}, "i\\u0064" : 1.0 , "l":[ 1,[2], "],"] }';
  expect(rawMember(text, 'id')).toBe('1.0');
  expect(rawItems(rawMember(text, 'l') ?? '')).toEqual(['1', '[2]', '"],"']);
  expect(rawMember('{}', 'id')).toBeUndefined();
});
