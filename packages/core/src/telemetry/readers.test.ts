import { metrics } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bench, failOnce, manualClock, succeedOnce } from '../test-support.ts';
import { agentSeries } from './otel-binding.ts';
import { processState } from './process-state.ts';
import { AGENT_READINGS, openSeries, type SeriesReader, TOOL_READINGS } from './readers.ts';
import { METRIC } from './semconv.ts';
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

test('every metric of the contract but the histogram has its series', () => {
  const known = [...Object.keys(AGENT_READINGS), ...Object.keys(TOOL_READINGS), 'duration'];
  expect(known.sort()).toEqual(Object.keys(METRIC).sort());
});

test('E5: a clock that throws keeps nobody else in the gauges, and its session leaves them too', () => {
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
  test('are measured while somebody reads them, with no SDK at all', () => {
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

  test('each reader keeps them alive; closing twice is closing once', () => {
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

  test("are the SDK's too, beside a reader", async () => {
    expect(await recorded(false)).toEqual({ sdk: 1, series: 1 });
  });

  test("are not the SDK's where a reader stands in for it", async () => {
    expect(await recorded(true)).toEqual({ sdk: 0, series: 1 });
  });

  test("are the SDK's again once it has let go", async () => {
    read(true).close();
    expect(await recorded(false)).toEqual({ sdk: 1, series: 1 });
  });
});

describe('exemplars', () => {
  test('are kept for a reader that wants them, and no longer', () => {
    const spans = registerTraces();
    const series = read(false, true);
    const { session } = bench({ agent, tools: { a: {} } });
    failOnce(session, 'a', 'server');
    const { traceId, spanId } = spans()[0]?.spanContext() ?? {};
    const [duration] = durationsOf(series);
    if (duration === undefined) throw new Error('no duration');
    expect(series.exemplars(duration)).toMatchObject([{ traceId, spanId, value: 0 }]);
    const failed = [...series.numbers(METRIC.outcomes)].filter((one) => series.exemplar(one) !== undefined);
    expect(failed).toMatchObject([
      { attributes: { 'gen_ai.agent.name': agent, 'breakerbox.outcome': 'failure', 'error.type': 'server' } },
    ]);
    expect(read().exemplars(duration)).toEqual([]);
    series.close();
    expect(read(false, true).exemplars(duration)).toEqual([]);
  });
});

test('idle sessions leave when somebody says so', () => {
  const series = read();
  const { session, clock } = bench({ agent, tools: { a: {} } });
  succeedOnce(session, 'a');
  clock.advance(30 * 60_000);
  expect(agentSeries(agent).sessions.active.value).toBe(1);
  series.retireIdle();
  expect(agentSeries(agent).sessions.active.value).toBe(0);
});
