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

test.each([1, 3, 1_000])('M2: the same of each message of a batch, in pieces of %i bytes', (size) => {
  const long =
    ' [ {"id":1,"method":"tools/call","params":{"id":9,"l":[{"id":8}]}},{"x":[]}, {"id":"a","result":{}},[{"id":2}] ]';
  const splitter = new LineSplitter(10);
  const bytes = Buffer.from(long);
  for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
  expect(splitter.rest()?.bytes.toString()).toBe('[{"id":1,"method":"tools/call"},{"id":"a"}]\n');
});

test('M2: of a batch of very many messages, the first are left', () => {
  const splitter = new LineSplitter(10);
  splitter.push(Buffer.from(`[${Array.from({ length: 300_000 }, (_, id) => `{"id":${id}}`).join(',')}]`));
  const { length } = splitter.rest()?.bytes ?? [];
  expect(length).toBeGreaterThan(128 * 1024);
  expect(length).toBeLessThan(150 * 1024);
});

test('M4: parts of a JSON text as they are written', () => {
  const text = '{ "x":{"id":"}\\"{"}, "i\\u0064" : 1.0 , "l":[ 1,[2], "],"] }';
  expect(rawMember(text, 'id')).toBe('1.0');
  expect(rawItems(rawMember(text, 'l') ?? '')).toEqual(['1', '[2]', '"],"']);
  expect(rawMember('{}', 'id')).toBeUndefined();
});
