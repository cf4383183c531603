import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { expect, test } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

const sumOf = (sum: number): ResourceMetrics => ({ resource: { sum }, scopeMetrics: [] }) as never;

const setUp = () => {
  const sent: ResourceMetrics[] = [];
  const open: (() => void)[] = [];
  const calls: string[] = [];
  const inner: PushMetricExporter = {
    export(metrics, done) {
      sent.push(metrics);
      open.push(() => done({ code: 0 }));
    },
    forceFlush: async () => void calls.push('forceFlush'),
    shutdown: async () => void calls.push('shutdown'),
  };
  const exporter = oneAtATime(inner);
  const reported: number[] = [];
  const push = (sum: number): void => exporter.export(sumOf(sum), () => void reported.push(sum));
  return { exporter, sent, open, calls, reported, push };
};

test('an export that starts during another is skipped, and the next one includes its data', () => {
  const { sent, open, reported, push } = setUp();
  push(1);
  push(2);
  push(3);
  expect([sent, reported]).toEqual([[sumOf(1)], [2, 3]]);
  open[0]?.();
  push(4);
  expect(sent).toEqual([sumOf(1), sumOf(4)]);
});

test('a flush waits, and sends the skipped data last', async () => {
  const { exporter, sent, open, calls, push } = setUp();
  push(1);
  push(2);
  push(3);
  const flushed = exporter.forceFlush();
  open[0]?.();
  await expect.poll(() => sent).toEqual([sumOf(1), sumOf(3)]);
  expect(calls).toEqual([]);
  open[1]?.();
  await flushed;
  expect(calls).toEqual(['forceFlush']);
});

/** An exporter that ends each export at once, one way after the other. */
const atOnce = (...ways: PushMetricExporter['export'][]) => {
  const inner: PushMetricExporter = {
    export: (metrics, done) => ways.shift()?.(metrics, done),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const results: unknown[] = [];
  const exporter = oneAtATime(inner);
  return { exporter, results, push: () => exporter.export(sumOf(1), (result) => void results.push(result)) };
};
const refuse = (): never => {
  throw new RangeError('cannot be written');
};

test('an export that throws has failed, and the next one is sent', async () => {
  const error = new RangeError('cannot be written');
  const { exporter, results, push } = atOnce(refuse, (_, done) => done({ code: 0 }), refuse);
  for (let count = 0; count < 3; count += 1) push();
  expect(results).toEqual([{ code: 1, error }, { code: 0 }, { code: 1, error }]);
  await exporter.forceFlush();
});

test('an export that ends synchronously does not block the next one', () => {
  const { results, push } = atOnce(
    (_, done) => done({ code: 1, error: new Error('1') }),
    (_, done) => done({ code: 1, error: new Error('2') }),
  );
  push();
  push();
  expect(results).toEqual([
    { code: 1, error: new Error('1') },
    { code: 1, error: new Error('2') },
  ]);
});

test('the end of an export is reported once, even if the callback throws', () => {
  const { exporter } = atOnce((_, done) => {
    done({ code: 0 });
    refuse();
  });
  const codes: number[] = [];
  exporter.export(sumOf(1), ({ code }) => {
    codes.push(code);
    refuse();
  });
  expect(codes).toEqual([0]);
});
