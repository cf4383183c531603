import { expect, test } from 'vitest';
import { SseReader } from './sse-reader.ts';

const BYTE_ORDER_MARK = '\uFEFF';

const eventsOf = (stream: string, size: number) => {
  const reader = new SseReader();
  const bytes = Buffer.from(stream);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, piece) =>
    bytes.subarray(piece * size, (piece + 1) * size),
  );
  const events = pieces.flatMap((piece) => reader.push(piece));
  return events.map(({ data, type, lastEventId }) => [
    type,
    data.toString().replaceAll('\r\n', '\n').trimEnd(),
    lastEventId,
  ]);
};

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('M1: events whose lines end with %s, in pieces of any size', (_, end) => {
  const lines = ['id: 1', 'data: {"a":', 'data: 1}', '', '', 'event: other', 'data: [2]', '', 'data: cut off'];
  for (const size of [1, 2, 3, 5, 1_000])
    expect(eventsOf(lines.join(end), size)).toEqual([
      ['message', '{"a":\n1}', '1'],
      ['message', '', '1'],
      ['other', '[2]', '1'],
    ]);
});

test('M1: an event is complete at the carriage return that ends it, without the next byte', () => {
  expect(eventsOf('data: {}\r\r', 1_000)).toEqual([['message', '{}', undefined]]);
});

test.each([1, 1_000])('M1: a byte order mark may begin the stream, in pieces of %i bytes', (size) => {
  expect(eventsOf(`${BYTE_ORDER_MARK}data: {}\n\n${BYTE_ORDER_MARK}data: {}\n\n`, size)).toEqual([
    ['message', '{}', undefined],
    ['message', '', undefined], // Later, the mark belongs to the name of a field.
  ]);
});

test('M2: the bytes that were read do not change', () => {
  const bytes = Buffer.from('data: {}\r\rdata: {}\r\n\r\n');
  const before = bytes.toString();
  new SseReader().push(bytes);
  expect(bytes.toString()).toBe(before);
});
