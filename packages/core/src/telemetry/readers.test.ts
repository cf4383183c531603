import { metrics, type Span, TraceFlags, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bench, failOnce, manualClock, succeedOnce } from '../test-support.ts';
import { agentSeries } from './otel-binding.ts';
import { openSeries, processState, type SeriesReader } from './readers.ts';
import { DURATION_BUCKETS, METRIC } from './semconv.ts';
import {
  addDuration,
  countOf,
  createDurationSeries,
  type Exemplars,
  keepExemplars,
  seriesOf as ownSeries,
  type Series,
} from './series.ts';
import { newAgent, registerMetrics, registerTraces, seriesOf } from './test-support.telemetry.ts';

let agent = '';
let open: SeriesReader[] = [];
beforeEach(() => {
  agent = newAgent();
});
afterEach(() => {
  for (const one of open) one.close();
  open = [];
  metrics.disable();
});

const read = (insteadOfSdk = false, exemplars = false): SeriesReader => {
  const series = openSeries({ insteadOfSdk, exemplars });
  open.push(series);
  return series;
};

const isMeasuring = (): boolean => processState().keepsDurations || processState().feedsSdk;

const durationsOf = (series: SeriesReader) =>
  [...series.histograms(METRIC.duration)].filter(({ attributes }) => attributes['gen_ai.agent.name'] === agent);

test('E5: a clock that throws keeps no other session in the gauges, and its own session leaves them', () => {
  let broken = false;
  const clock = manualClock();
  const now = () => {
    if (broken) throw new Error('no time');
    return clock.now();
  };
  const sessions = (name: string) =>
    [...series.numbers(METRIC.sessions)]
      .filter(({ attributes }) => attributes['gen_ai.agent.name'] === name)
      .reduce((sum, { value }) => sum + value, 0);
  const series = read(true);
  const other = newAgent();
  bench({ agent, clock: { ...clock, now } });
  const { box } = bench({ agent: other, clock });
  for (let n = 0; n < 5; n += 1) box.session();
  expect([sessions(agent), sessions(other)]).toEqual([1, 6]);
  broken = true;
  clock.advance(1e9);
  series.retireIdle();
  expect([sessions(agent), sessions(other)]).toEqual([0, 0]);
});

describe('durations', () => {
  test('they are measured while there is a reader, even without an SDK', () => {
    const { session, clock } = bench({ agent, tools: { a: {} } });
    const call = (ms: number) => {
      const permit = session.acquire('a');
      clock.advance(ms);
      permit.settle({ outcome: 'success' });
    };
    call(1_000);
    expect(isMeasuring()).toBe(false);
    const series = read();
    expect(isMeasuring()).toBe(true);
    call(3_000);
    expect(durationsOf(series)).toMatchObject([{ sum: 3, min: 3, max: 3 }]);
    series.close();
    expect(isMeasuring()).toBe(false);
    call(5_000);
    expect(durationsOf(series)).toMatchObject([{ sum: 3 }]);
  });

  test('each reader keeps them alive; closing a reader twice counts once', () => {
    const [first, second] = [read(), read()];
    first.close();
    first.close();
    expect(isMeasuring()).toBe(true);
    second.close();
    expect(isMeasuring()).toBe(false);
  });

  const recorded = async (insteadOfSdk: boolean) => {
    const { scrape } = registerMetrics();
    const series = read(insteadOfSdk);
    succeedOnce(bench({ agent, tools: { a: {} } }).session, 'a');
    const sdk = seriesOf(agent, await scrape(), 'gen_ai_execute_tool_duration_count');
    return { sdk: sdk.length, series: durationsOf(series).length };
  };

  test('the SDK has them too beside a reader, unless the reader replaces the SDK', async () => {
    expect(await recorded(false)).toEqual({ sdk: 1, series: 1 });
    metrics.disable();
    agent = newAgent();
    expect(await recorded(true)).toEqual({ sdk: 0, series: 1 });
    open.pop()?.close();
    metrics.disable();
    agent = newAgent();
    expect(await recorded(false)).toEqual({ sdk: 1, series: 1 });
  });
});

describe('exemplars', () => {
  test('they are kept only while a reader wants them', () => {
    const spans = registerTraces();
    const series = read(false, true);
    const { session } = bench({ agent, tools: { a: {} } });
    failOnce(session, 'a', 'server');
    const { traceId, spanId } = spans()[0]?.spanContext() ?? {};
    const [duration] = durationsOf(series);
    if (duration === undefined) throw new Error('no duration');
    expect(series.exemplars(duration)).toMatchObject([{ traceId, spanId, value: 0 }]);
    const failed = [...series.numbers(METRIC.errors)].filter((one) => series.exemplar(one) !== undefined);
    expect(failed).toMatchObject([
      { attributes: { 'gen_ai.agent.name': agent, 'breakerbox.outcome': 'failure', 'error.type': 'server' } },
    ]);
    expect(read().exemplars(duration)).toEqual([]);
    series.close();
    expect(read(false, true).exemplars(duration)).toEqual([]);
  });
});

test('idle sessions leave at the request of a reader', () => {
  const series = read();
  const { session, clock } = bench({ agent, tools: { a: {} } });
  succeedOnce(session, 'a');
  clock.advance(30 * 60_000);
  expect(ownSeries(agentSeries(agent), 'sessions', 'active').value).toBe(1);
  series.retireIdle();
  expect(ownSeries(agentSeries(agent), 'sessions', 'active').value).toBe(0);
});

const spanOf = (traceFlags: number) =>
  trace.wrapSpanContext({ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags });

test('a bound belongs to the bucket below it, and a value above all bounds to the last', () => {
  const series = createDurationSeries({});
  for (const seconds of [0, ...DURATION_BUCKETS, 1e6]) addDuration(series, seconds);
  expect(series).toMatchObject({ counts: [2, ...DURATION_BUCKETS.slice(1).map(() => 1), 1], min: 0, max: 1e6 });
  expect(countOf(series)).toBe(DURATION_BUCKETS.length + 2);
});

test('E5: exemplars are the last recorded call of each bucket and of a failure; a span that throws gives none', () => {
  const exemplars: Exemplars = { durations: new Map(), failures: new Map() };
  const failed: Series = { attributes: {}, value: 1 };
  const series = createDurationSeries({});
  const keep = (seconds: number, span: Span) => keepExemplars(exemplars, series, seconds, span, failed);
  keep(1, spanOf(TraceFlags.NONE));
  keep(1, {} as Span);
  expect(exemplars.durations.size + exemplars.failures.size).toBe(0);
  for (const seconds of [0.015, 0.02]) keep(seconds, spanOf(TraceFlags.SAMPLED));
  const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  const last = { ...ids, value: 0.02, unixSeconds: expect.any(Number) };
  expect(exemplars.durations.get(series)).toEqual([undefined, last]);
  expect(exemplars.failures.get(failed)).toEqual({ ...last, value: 1 });
});
