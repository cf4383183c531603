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

test('M10: of bodies that do not end, no more than a bound is kept, and small ones are read', async () => {
  const bodies = createBodies(4 * MB.length);
  const first = unfinished(MB, MB, MB);
  const reading = bodies.read(first);
  await expect(bodies.read(unfinished(MB, MB, MB))).rejects.toThrow('Too many large bodies');
  expect((await bodies.read(Readable.from([Buffer.from('{}')]))).bytes.toString()).toBe('{}');
  first.push(null);
  expect((await reading).bytes.length).toBe(3 * MB.length);
  const last = await bodies.read(Readable.from([MB, MB, MB]));
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
  await expect(createBodies().read(Object.assign(Readable.from(tiny()), { socket }))).rejects.toThrow('tiny chunks');
});
