import { expect, test } from 'vitest';
import { PassedEvents } from './passed-events.ts';
import { SseReader } from './sse-reader.ts';

const ENDS = [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const;

const EVENTS = [
  ': hello',
  '',
  'id: 1',
  'data: {"a":1}',
  '',
  'event: other',
  'data: x',
  '',
  'data: {"b":',
  'data: 2}',
  '',
];

/** What the client gets of a stream that comes in pieces of a size. `look` may change messages. */
const passed = (stream: string, size: number, look = (bytes: Buffer): Buffer | undefined => bytes): string => {
  const events = new PassedEvents(({ bytes }) => look(bytes));
  const bytes = Buffer.from(stream);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(events.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...parts, events.rest()]).toString();
};

/** Events with data: the others are nothing for a client. */
const readAll = (stream: string) =>
  new SseReader()
    .push(Buffer.from(stream))
    .filter(({ data }) => data.length > 0)
    .map(({ data, type, lastEventId }) => [type, `${data}`.trim().replaceAll(/\r\n?/g, '\n'), lastEventId]);

const SIZES = [1, 2, 3, 5, 7, 1_000];

test.each(ENDS)('M2: a stream whose lines end with %s passes byte for byte, in pieces of any size', (_, end) => {
  const stream = `${EVENTS.join(end)}${end}data: cut off`;
  for (const size of SIZES) expect(passed(stream, size)).toBe(stream);
});

test.each(ENDS.slice(0, 2))('R5: a message that the relay changes is another one for the client (%s)', (_, end) => {
  const stream = `${EVENTS.join(end)}${end}`;
  const look = (bytes: Buffer) => (bytes.includes('"a"') ? Buffer.from('{"a":"changed €"}\n') : bytes);
  for (const size of SIZES)
    expect(readAll(passed(stream, size, look))).toEqual(readAll(stream.replace('{"a":1}', '{"a":"changed €"}')));
});

test('M2: a message that the relay drops does not reach the client, and its id holds', () => {
  const look = (bytes: Buffer) => (bytes.includes('"a"') ? undefined : bytes);
  const text = passed('id: 1\ndata: {"a":1}\n\ndata: {}\n\n', 3, look);
  expect(readAll(text)).toEqual([['message', '{}', '1']]);
});

test('M2: nothing waits that is complete, and no event fills the memory', () => {
  const events = new PassedEvents(({ bytes }) => bytes);
  for (const whole of [': ping\n', 'data: {}\n\n', ':\n\n', 'data: {}\r\r', 'id: 5\r\n\r\n'])
    expect(`${events.push(Buffer.from(whole))}`).toBe(whole);
  expect(events.push(Buffer.from('data: {"a":"')).length).toBe(0);
  expect(events.push(Buffer.alloc(100_000, 'x')).length).toBeGreaterThan(100_000);
  expect(events.push(Buffer.alloc(70_000, 'y')).length).toBe(70_000);
  expect(`${events.push(Buffer.from('"}\n\n'))}`).toBe('"}\n\n');
});

test('R5: an event whose beginning has gone passes as it is', () => {
  const stream = `data: {"a":"${'x'.repeat(200_000)}"}\n\ndata: {"a":1}\n\n`;
  const text = passed(stream, 1_000, () => Buffer.from('{"a":2}\n'));
  expect(text.startsWith(stream.slice(0, 200_000))).toBe(true);
  expect(readAll(text).at(-1)?.[1]).toBe('{"a":2}');
});
