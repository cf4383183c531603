import { expect, test } from 'vitest';
import { countDrops } from './drops.ts';
import { type ExportQueue, exportQueue } from './export-queue.ts';
import { unsentText } from './sdk-queues.ts';

type Result = { code: number; error?: Error };

const setUp = () => {
  const sent: number[] = [];
  const answers: ((result: Result) => void)[] = [];
  const stop = new AbortController();
  const exporter = {
    export(items: readonly unknown[], done: (result: Result) => void) {
      sent.push(items.length);
      answers.push(done);
    },
    shutdown: async () => {},
  };
  const dropped: [number, string | undefined][] = [];
  const drops = {
    ...countDrops('spans'),
    add: (count: number, error?: Error) => void dropped.push([count, error?.message]),
  };
  const queue = exportQueue(exporter, 'spans', stop.signal, drops);
  const accepted: number[] = [];
  const put = (count: number): void => queue.export(Array(count).fill('span'), ({ code }) => void accepted.push(code));
  const answer = async (result: Result): Promise<void> => {
    answers.shift()?.(result);
    await new Promise(setImmediate);
  };
  return { sent, stop, dropped, queue, accepted, put, answer };
};

test('takes batches at once, and sends them one after the other', async () => {
  const { sent, accepted, queue, put, answer } = setUp();
  for (const size of [3, 2, 1]) put(size);
  expect([accepted, sent, queue.pending()]).toEqual([[0, 0, 0], [3], 6]);
  const flushed = queue.forceFlush();
  for (const _ of sent.concat(0, 0)) await answer({ code: 0 });
  await flushed;
  expect([sent, queue.pending()]).toEqual([[3, 2, 1], 0]);
});

test('a batch that the backend refuses is dropped with the reason, and the next one is sent', async () => {
  const { sent, dropped, put, answer } = setUp();
  put(3);
  put(2);
  await answer({ code: 1, error: new Error('no') });
  expect([sent, dropped]).toEqual([[3, 2], [[3, 'no']]]);
});

test('holds 2,048 items, and a larger batch if it is alone', () => {
  const { dropped, queue, put } = setUp();
  put(5_000);
  put(1);
  expect([queue.pending(), dropped]).toEqual([5_000, [[1, undefined]]]);
});

test('after a stop, no batch is sent', async () => {
  const { sent, stop, put, answer } = setUp();
  put(1);
  put(2);
  stop.abort();
  await answer({ code: 1 });
  put(3);
  expect(sent).toEqual([1]);
});

test('one span is a span, not "1 spans"', () => {
  const queue = (kind: string, pending: number) =>
    ({ kind, pending: () => pending, takeDropped: () => 0 }) as ExportQueue;
  expect(unsentText([queue('spans', 1), queue('log records', 1)])).toBe('1 span and 1 log record');
  expect(unsentText([queue('spans', 2), queue('log records', 0)])).toBe('2 spans');
});
