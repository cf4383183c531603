import { once } from 'node:events';
import { Socket } from 'node:net';
import { createShares } from '@breakerbox/listen';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Change, createChanges } from './changes.ts';
import { changeStream, takeStream } from './stream.ts';

const admitted = async (): Promise<boolean> => true;

const change = (agent: string): Change => ({ kind: 'action', agent, unixMs: 0 });

test('A2: a client that does not read is dropped once, and no longer told', () => {
  const changes = createChanges();
  let drops = 0;
  const stream = changeStream(changes, admitted, () => {
    drops += 1;
  });
  for (let count = 0; count < 5_000; count += 1) changes.add(change('a'.repeat(256)));
  expect(drops).toBe(1);
  expect(stream.locked).toBe(false);
});

test('A2: long names do not drop a client that connects: it gets the newest changes', async () => {
  const changes = createChanges();
  for (let count = 0; count < 500; count += 1) changes.add(change(`${count} ${'a'.repeat(1_000)}`));
  let drops = 0;
  const reader = changeStream(changes, admitted, () => {
    drops += 1;
  }).getReader();
  const { value } = await reader.read();
  const text = new TextDecoder().decode(value);
  expect(drops).toBe(0);
  expect(text).toContain('"499 aaa');
  expect(text).not.toContain('"0 aaa');
  await reader.cancel();
});

test('A5: a client whose token is revoked is dropped at the next sign of life', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isAdmitted = true;
  let drops = 0;
  const reader = changeStream(
    createChanges(),
    async () => isAdmitted,
    () => {
      drops += 1;
    },
  ).getReader();
  await reader.read();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(new TextDecoder().decode((await reader.read()).value)).toBe(': alive\n\n');
  isAdmitted = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(drops).toBe(1);
});

test('A2, A5: a stream gives its share back when its connection has closed, also if that was before it began', async () => {
  const streams = createShares(1, 1);
  const gone = new Socket().destroy();
  expect(takeStream(streams, 'eve', gone)).toBeDefined();
  const socket = new Socket();
  const drop = takeStream(streams, 'eve', socket);
  expect(takeStream(streams, 'eve', new Socket())).toBeUndefined();
  drop?.();
  await once(socket, 'close');
  expect(takeStream(streams, 'eve', new Socket())).toBeDefined();
});
