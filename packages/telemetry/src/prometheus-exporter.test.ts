import type { Attributes } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { expect, test } from 'vitest';
import { BreakerboxPrometheusExporter } from './index.ts';

async function scrapedName(
  name: string,
  unit: string,
  kind: 'Counter' | 'UpDownCounter' = 'UpDownCounter',
): Promise<string> {
  const exporter = new BreakerboxPrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [exporter] });
  const instrument: { add(value: number, attributes?: Attributes): void } = provider
    .getMeter('m')
    [`create${kind}`](name, {
      unit,
    });
  instrument.add(1);
  const { resourceMetrics } = await exporter.collect();
  await provider.shutdown();
  const text = new PrometheusSerializer('', false, undefined, true, true).serialize(resourceMetrics);
  return text.trim().split('\n').at(-1)?.split(' ')[0] ?? '';
}

test.each([
  ['work.time', 's', 'work_time_seconds'],
  ['work.seconds', 's', 'work_seconds'],
  ['work_seconds', 's', 'work_seconds'],
  ['work.time', 'ms', 'work_time'],
  ['work.items', '{item}', 'work_items'],
])('%s in %s is %s, as OTLP into Prometheus has it', async (name, unit, expected) => {
  expect(await scrapedName(name, unit)).toBe(expected);
});

test.each([
  ['busy.time', 'busy_time_seconds_total'],
  ['busy.time.total', 'busy_time_seconds_total'],
  ['busy.seconds.total', 'busy_seconds_total'],
])('the counter %s in seconds is %s', async (name, expected) => {
  expect(await scrapedName(name, 's', 'Counter')).toBe(expected);
});
