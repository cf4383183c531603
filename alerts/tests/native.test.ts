/** Durations as native histograms, which OTLP sends for exponential ones, in a Prometheus that stores them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { METRIC } from '@breakerbox/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uvarint } from '../../bench/bundle/chunks.ts';
import { field, labelsOf, sent } from '../../bench/bundle/remote-write.ts';
import { type Server, startServer } from '../../bench/bundle/server.ts';
import { builtDashboards } from '../../dashboards/src/dashboards.ts';
import { dashboardQueries, substitute } from '../../dashboards/src/queries.ts';
import { prometheusClient } from '../../test/prometheus.ts';
import { inlined } from '../src/grafana.ts';
import { resolved } from '../src/rules.ts';

const LABELS = [
  ['__name__', METRIC.duration.prometheus],
  ['gen_ai_agent_name', 'a'],
  ['gen_ai_tool_name', 't'],
  ['instance', 'i'],
  ['job', 'j'],
] as const;

const varint = (number: number, value: number): Buffer => Buffer.concat([uvarint(number << 3), uvarint(value)]);
const double = (number: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([uvarint((number << 3) | 1), bytes]);
};
const zigzag = (value: number): number => (value < 0 ? -value * 2 - 1 : value * 2);

/** So many calls of more than 2 s and at most 4 s: in schema 0, the bucket 2 ends at 2 to the power of 2. */
const calls = (count: number, atMs: number): Buffer =>
  field(
    4,
    Buffer.concat([
      varint(1, count),
      double(3, count * 3),
      varint(4, zigzag(0)),
      double(5, 1e-9),
      field(11, Buffer.concat([varint(1, zigzag(2)), varint(2, 1)])),
      field(12, uvarint(zigzag(count))),
      varint(15, atMs),
    ]),
  );

let folder = '';
let server: Server;
const nowMs = Date.now();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-native-'));
  server = await startServer(folder, ['--enable-feature=native-histograms']);
  const points = Array.from({ length: 61 }, (_, index) => calls(index * 10, nowMs - (60 - index) * 15_000));
  await sent(server.url, field(1, Buffer.concat([labelsOf(LABELS), ...points])));
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const answer = async (expr: string): Promise<number> => {
  const [series] = await prometheusClient(server.url).instant(expr);
  return series?.values[0]?.[1] ?? Number.NaN;
};

describe('a native histogram', () => {
  it('gives the alert on slow tools its p95', async () => {
    const { read } = inlined(resolved({}));
    for (const key of ['p95', 'p95Short'] as const) {
      const p95 = await answer(read.now(key));
      expect(p95).toBeGreaterThan(3.5);
      expect(p95).toBeLessThanOrEqual(4);
    }
  });

  it.each(['p95 5m', 'Latency percentiles'])('is drawn by the panel %s', async (panel) => {
    const queries = builtDashboards().flatMap(({ json }) => dashboardQueries(json));
    const expr = queries.find((one) => one.panel === panel && one.expr.includes('0.95'))?.expr ?? '';
    const p95 = await answer(substitute(expr, { rateInterval: '5m', range: '15m' }));
    expect(p95).toBeGreaterThan(3.5);
    expect(p95).toBeLessThanOrEqual(4);
  });
});
