import { diag } from '@opentelemetry/api';
import { ConsoleMetricExporter } from '@opentelemetry/sdk-metrics';
import { afterEach, expect, test } from 'vitest';
import { pushReaders } from './metric-readers.ts';
import { collectDiag } from './test-support/diag-messages.ts';

afterEach(() => diag.disable());

/** What the reader was made with; it has no public way to ask. */
const timesOf = (interval: string, timeout: string) => {
  const env = { OTEL_METRIC_EXPORT_INTERVAL: interval, OTEL_METRIC_EXPORT_TIMEOUT: timeout };
  const [reader] = pushReaders([new ConsoleMetricExporter()], [], env);
  const { _exportInterval, _exportTimeout } = reader as unknown as { _exportInterval: number; _exportTimeout: number };
  return [_exportInterval, _exportTimeout];
};

test.each([
  ['', '', 60_000, 30_000],
  ['200', '150', 200, 150],
  ['1000', '2000', 1000, 1000],
  ['15000', '', 15_000, 15_000],
  ['1', '1', 1, 1],
  ['2592000000', '2592000000', 2 ** 31 - 1, 2 ** 31 - 1],
])('pushes every "%s" ms, "%s" ms long at most: %i, %i', (interval, timeout, ...expected) => {
  const messages = collectDiag();
  expect(timesOf(interval, timeout)).toEqual(expected);
  expect(messages).toEqual([]);
});

test.each(['0', '-1', '0.001', '0.99', 'Infinity', 'NaN', 'often'])('"%s" is told and passed over', (text) => {
  const messages = collectDiag();
  expect(timesOf(text, text)).toEqual([60_000, 30_000]);
  const told = `is "${text}", and has to be milliseconds, 1 or more; using`;
  expect(messages).toEqual([`OTEL_METRIC_EXPORT_INTERVAL ${told} 60000.`, `OTEL_METRIC_EXPORT_TIMEOUT ${told} 30000.`]);
});
