import { expect, test } from 'vitest';
import { jsonLine } from './json-line.ts';
import { SseReader } from './sse-reader.ts';

test.each([
  ['{"a":1}', '{"a":1}\n'],
  ['{"a":1}\n', '{"a":1}\n'],
  ['[1]\n\n', '[1]\n'],
  ['{"a":1}\r\n', '{"a":1}\r\n'],
  ['{\r\n"a":\n1}\n', '{  "a": 1}\n'],
  ['{\r"a":1}\r', '{ "a":1}\n'],
  ['\uFEFF {}', '\uFEFF {}\n'],
])('M2: the JSON text %j is forwarded as the line %j', (text, line) => {
  expect(jsonLine(Buffer.from(text))?.toString()).toBe(line);
});

test.each(['', '\n', 'null\n', '<p>\n'])('M2: %j is not forwarded', (text) => {
  expect(jsonLine(Buffer.from(text))).toBeUndefined();
});

test.each(['\n', '\r\n'])('M10: a JSON text that an event holds in one line ended by %j is not copied', (end) => {
  const chunk = Buffer.from(`data: {"a":1}${end}${end}`);
  const [event] = new SseReader().push(chunk);
  const line = jsonLine(event?.data ?? Buffer.alloc(0));
  expect(line?.buffer).toBe(chunk.buffer);
  expect(line?.toString()).toBe(`{"a":1}${end}`);
});

test.each(['\n', '\r\n', '\r'])(
  'M2: the line of an event of two lines ended by %j does not change the stream',
  (end) => {
    const stream = `data: {"a":${end}data: 1}${end}${end}`;
    const chunk = Buffer.from(stream);
    const [event] = new SseReader().push(chunk);
    expect(JSON.parse(`${jsonLine(event?.data ?? Buffer.alloc(0))}`)).toEqual({ a: 1 });
    expect(chunk.toString()).toBe(stream);
  },
);
