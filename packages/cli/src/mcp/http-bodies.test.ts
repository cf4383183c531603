import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createBodies } from './http-bodies.ts';

const MB = Buffer.alloc(1024 * 1024, ' ');

/** A body that has no end yet. */
const unfinished = (...parts: Buffer[]) => {
  const body = new Readable({ read() {}, highWaterMark: 100 * MB.length });
  for (const part of parts) body.push(part);
  return body;
};

const answer = () => Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse;

test('M10: of bodies that do not end, no more than a bound is kept, and small ones are read', async () => {
  let nowMs = 0;
  const bodies = createBodies(4 * MB.length, () => nowMs);
  const slow = bodies.read(unfinished(MB), answer());
  const ended = expect(slow).rejects.toThrow();
  nowMs = 4_000;
  const first = unfinished(MB, MB, MB);
  const reading = bodies.read(first, answer());
  await expect(bodies.read(unfinished(MB), answer())).rejects.toThrow('Too many large bodies');
  const small = Readable.from([Buffer.from('{}')]);
  expect((await bodies.read(small, answer())).bytes.toString()).toBe('{}');
  nowMs = 5_000;
  const last = await bodies.read(Readable.from([MB]), answer()); // The slow one gives way.
  await ended;
  first.push(null);
  expect([last.bytes.length, (await reading).bytes.length]).toEqual([MB.length, 3 * MB.length]);
});

test('M10: of bodies that wait for an answer, no more than a bound is kept, and small ones are read', async () => {
  const bodies = createBodies(4 * MB.length);
  const read = (parts: Buffer[], waiting = answer()) => bodies.read(Readable.from(parts), waiting);
  const first = answer();
  await read([MB, MB, MB], first);
  await expect(read([MB, MB])).rejects.toThrow('Too many large bodies');
  expect((await read([Buffer.from('{}')])).bytes.toString()).toBe('{}');
  first.emit('close');
  const last = await read([MB, MB, MB]);
  expect([last.bytes.length, last.whole]).toEqual([3 * MB.length, true]);
});

test('M10: a body in chunks of one byte is refused', async () => {
  const socket = { bytesRead: 100 };
  const tiny = async function* () {
    for (;;) {
      socket.bytesRead += 6_000;
      yield Buffer.alloc(1_000, ' ');
    }
  };
  await expect(createBodies().read(Object.assign(Readable.from(tiny()), { socket }), answer())).rejects.toThrow(
    'tiny chunks',
  );
});
