import { execFileSync } from 'node:child_process';
import { createBreakerbox, METRIC, type Session } from '@breakerbox/core';
import { context, metrics, trace } from '@opentelemetry/api';
import {
  AggregatorRegistry,
  Counter,
  type OpenMetricsContentType,
  openMetricsContentType,
  Registry,
  type RegistryContentType,
} from 'prom-client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { registerBreakerboxMetrics } from './prom-client.ts';
import { startTelemetry } from './start.ts';

let agent = '';
let agents = 0;
let unregister: (() => void)[] = [];
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) vi.stubEnv(name, undefined);
  agents += 1;
  agent = `bridged-${agents}`;
});
afterEach(() => {
  for (const one of unregister) one();
  unregister = [];
  trace.disable();
  metrics.disable();
  context.disable();
  vi.unstubAllEnvs();
});

const register = (registry: Registry<RegistryContentType>): (() => void) => {
  const off = registerBreakerboxMetrics(registry);
  unregister.push(off);
  return off;
};

const openMetrics = (): Registry<OpenMetricsContentType> => {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(openMetricsContentType);
  return registry;
};

const box = (tools = {}) => createBreakerbox({ agent, tools: { search: {}, fetch: {}, ...tools } });

const call = (session: Session, tool: string, seconds: number): void =>
  void session.acquire(tool).settle({ outcome: 'success', durationMs: seconds * 1000 });

const fail = (session: Session, tool: string, status = 503): void =>
  void session.acquire(tool).settle({ error: Object.assign(new Error('down'), { status }), durationMs: 20 });

const scrape = async (registry: Registry<RegistryContentType>): Promise<string[]> =>
  (await registry.metrics()).split('\n');

/** Series of this test's agent as `name{labels} value`, labels in order. */
const seriesOf = (lines: readonly string[]): string[] =>
  lines
    .filter((line) => line.includes(`"${agent}"`))
    .map((line) =>
      line
        .replace(/,?otel_scope_\w+="[^"]*"/g, '')
        .replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`),
    )
    .sort();

describe('on a registry', () => {
  test('has each metric of the contract, with its name, type and help', async () => {
    const registry = new Registry();
    register(registry);
    const lines = await scrape(registry);
    for (const { prometheus, kind, description } of Object.values(METRIC)) {
      expect(lines).toContain(`# TYPE ${prometheus} ${kind === 'updowncounter' ? 'gauge' : kind}`);
      expect(lines).toContain(`# HELP ${prometheus} ${description}`);
    }
  });

  test("has the same series and values as startTelemetry's endpoint, zeros included", async () => {
    const registry = new Registry();
    register(registry);
    const telemetry = startTelemetry({ prometheus: { port: 0 } });
    await telemetry.ready;
    const session = box({ search: { alternatives: [{ tool: 'fetch', degradation: 'low' }] } }).session();
    for (const seconds of [0, 0.01, 3, 100]) call(session, 'fetch', seconds);
    for (let n = 0; n < 5; n += 1) fail(session, 'search');
    const scraped = seriesOf((await (await fetch(telemetry.metricsUrl ?? '')).text()).split('\n'));
    expect(scraped.length).toBeGreaterThan(60);
    expect(seriesOf(await scrape(registry))).toEqual(scraped);
    await telemetry.shutdown();
  });

  test('passes promtool, whatever the name of an agent', async () => {
    const registry = new Registry();
    register(registry);
    const session = createBreakerbox({ agent: 'a "b"\\\n{ü}', tools: { 'web search': {} } }).session();
    call(session, 'web search', 1);
    const input = await registry.metrics();
    expect(execFileSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8', stdio: 'pipe' })).toBe('');
  });

  test('has the default labels on each series', async () => {
    const registry = new Registry();
    registry.setDefaultLabels({ region: 'north' });
    register(registry);
    call(box().session(), 'search', 1);
    const ours = seriesOf(await scrape(registry));
    expect(ours.length).toBeGreaterThan(0);
    expect(ours.filter((line) => !line.includes('region="north"'))).toEqual([]);
  });

  test('drops idle sessions from the gauges until they are used again', async () => {
    const registry = new Registry();
    register(registry);
    let nowMs = 0;
    const clock = { now: () => nowMs, unixNow: () => nowMs };
    const session = createBreakerbox({ agent, tools: { search: {} }, clock }).session();
    call(session, 'search', 1);
    const active = async () =>
      seriesOf(await scrape(registry)).filter((line) =>
        /^breakerbox_(sessions|circuits|budget_limit|budget_remaining)\{.* [1-9]\d*$/.test(line),
      );
    expect(await active()).toHaveLength(4);
    nowMs = 30 * 60_000;
    expect(await active()).toEqual([]);
    call(session, 'search', 1);
    expect(await active()).toHaveLength(4);
  });

  test('keeps our values when prom-client resets its own', async () => {
    const registry = new Registry();
    register(registry);
    const requests = new Counter({ name: 'requests_total', help: 'Requests', registers: [registry] });
    requests.inc();
    call(box().session(), 'search', 1);
    registry.resetMetrics();
    const lines = await scrape(registry);
    expect(lines).toContain('requests_total 0');
    expect(lines).toContain(
      `breakerbox_outcomes_total{gen_ai_agent_name="${agent}",gen_ai_tool_name="search",breakerbox_outcome="success"} 1`,
    );
  });

  test('has them in one metric alone, in merged registries and in JSON', async () => {
    const registry = new Registry();
    register(registry);
    call(box().session(), 'search', 1);
    const line = `gen_ai_execute_tool_duration_seconds_sum{gen_ai_agent_name="${agent}",gen_ai_tool_name="search"} 1`;
    expect(await registry.getSingleMetricAsString(METRIC.duration.prometheus)).toContain(line);
    expect(await scrape(Registry.merge([registry, new Registry()]))).toContain(line);
    const json = await registry.getMetricsAsJSON();
    expect(json.find(({ name }) => name === METRIC.outcomes.prometheus)?.values).toContainEqual({
      labels: { gen_ai_agent_name: agent, gen_ai_tool_name: 'search', breakerbox_outcome: 'success' },
      value: 1,
    });
  });
});

describe('registering and unregistering', () => {
  test('a second registration, such as after a hot reload, replaces the first', async () => {
    const registry = new Registry();
    const first = register(registry);
    register(registry);
    first();
    call(box().session(), 'search', 0.3);
    const lines = await scrape(registry);
    const counts = lines.filter(
      (line) => line.includes(`"${agent}"`) && line.startsWith(`${METRIC.duration.prometheus}_count`),
    );
    expect(counts.map((line) => line.split(' ').at(-1))).toEqual(['1']);
    expect(registry.getMetricsAsArray()).toHaveLength(Object.keys(METRIC).length);
  });

  test('other metrics with our names are kept, and nothing is registered beside them', async () => {
    const registry = new Registry();
    new Counter({ name: METRIC.routes.prometheus, help: 'Routes of the post', registers: [registry] });
    expect(() => register(registry)).toThrow(/breakerbox_routes_total\. .*Rename/);
    expect(registry.getMetricsAsArray()).toHaveLength(1);
  });

  test.each([undefined, null, {}, 'register'])('%j is not a registry, and the error names the fix', (wrong) => {
    expect(() => registerBreakerboxMetrics(wrong as never)).toThrow(/is not a registry of prom-client/);
  });

  test.each([
    ['text', () => new Registry()],
    ['OpenMetrics', openMetrics],
  ])('metrics can be removed from a registry of %s, and registered again', async (_, make) => {
    const registry: Registry<RegistryContentType> = make();
    new Counter({ name: 'requests_total', help: 'Requests', registers: [registry] });
    const off = register(registry);
    await registry.metrics();
    off();
    off();
    expect(registry.getMetricsAsArray()).toHaveLength(1);
    register(registry);
    expect(registry.getMetricsAsArray()).toHaveLength(1 + Object.keys(METRIC).length);
  });

  test('a registry that was cleared can take them again', () => {
    const registry = new Registry();
    const first = register(registry);
    registry.clear();
    register(registry);
    first();
    expect(registry.getMetricsAsArray()).toHaveLength(Object.keys(METRIC).length);
  });
});

describe('OpenMetrics', () => {
  const TRACE = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  const traced = (traceFlags: number): void => {
    const tracer = { startSpan: () => trace.wrapSpanContext({ ...TRACE, traceFlags }) };
    trace.setGlobalTracerProvider({ getTracer: () => tracer as never });
  };
  const LINK = `# {trace_id="${TRACE.traceId}",span_id="${TRACE.spanId}"}`;

  test('has its own names, and an end mark', async () => {
    const registry = openMetrics();
    register(registry);
    const session = box().session();
    fail(session, 'search');
    for (let n = 0; n < 2; n += 1) {
      const lines = await scrape(registry);
      expect(lines).toContain('# TYPE breakerbox_decisions counter');
      expect(lines).toContain(`breakerbox_sessions_started_total{gen_ai_agent_name="${agent}"} 1`);
      expect(lines).toContain(`breakerbox_budget_remaining{gen_ai_agent_name="${agent}"} 4`);
      expect(lines.filter((line) => line.includes('_total_total'))).toEqual([]);
      expect(lines.slice(-2)).toEqual(['# EOF', '']);
    }
  });

  test('links buckets and failures to sampled traces', async () => {
    traced(1);
    const registry = openMetrics();
    register(registry);
    const session = box().session();
    call(session, 'search', 0.3);
    fail(session, 'fetch');
    const linked = (await scrape(registry)).filter((line) => line.includes(`"${agent}"`) && line.includes(' # '));
    const labels = `gen_ai_agent_name="${agent}",gen_ai_tool_name=`;
    expect(linked.map((line) => line.replace(/ [\d.]+$/, ''))).toEqual([
      `breakerbox_errors_total{${labels}"fetch",breakerbox_outcome="failure",error_type="server"} 1 ${LINK} 1`,
      `gen_ai_execute_tool_duration_seconds_bucket{le="0.32",${labels}"search"} 1 ${LINK} 0.3`,
      `gen_ai_execute_tool_duration_seconds_bucket{le="0.02",${labels}"fetch",error_type="_OTHER"} 1 ${LINK} 0.02`,
    ]);
    for (const line of linked) expect(Number(line.split(' ').at(-1))).toBeCloseTo(Date.now() / 1000, -2);
  });

  test('does not link to a trace that is not sampled', async () => {
    traced(0);
    const registry = openMetrics();
    register(registry);
    call(box().session(), 'search', 0.3);
    expect((await scrape(registry)).filter((line) => line.includes(' # {'))).toEqual([]);
  });
});

describe('workers of a cluster', () => {
  test('are aggregated: sums of all, and the latest opening', async () => {
    const registry = new Registry();
    register(registry);
    const session = box().session();
    call(session, 'search', 0.3);
    for (let n = 0; n < 3; n += 1) fail(session, 'fetch');
    // As it goes from a worker to the primary: by JSON.
    const sent = JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()));
    const whole = await scrape(AggregatorRegistry.aggregate([sent, structuredClone(sent)]));
    const opened = /^breakerbox_circuit_opened_time_seconds\{.*\} ([\d.]+)$/;
    const openings = (lines: readonly string[]) =>
      seriesOf(lines).flatMap((line) => Number(opened.exec(line)?.[1] ?? Number.NaN) || []);
    expect(openings(whole)).toEqual(openings(await scrape(registry)));
    expect(openings(whole)).toHaveLength(1);
    expect(seriesOf(whole)).toEqual(
      expect.arrayContaining([
        `breakerbox_outcomes_total{breakerbox_outcome="success",gen_ai_agent_name="${agent}",gen_ai_tool_name="search"} 2`,
        `breakerbox_circuits{breakerbox_state="open",gen_ai_agent_name="${agent}",gen_ai_tool_name="fetch"} 2`,
        `gen_ai_execute_tool_duration_seconds_bucket{gen_ai_agent_name="${agent}",gen_ai_tool_name="search",le="0.32"} 2`,
        `gen_ai_execute_tool_duration_seconds_bucket{gen_ai_agent_name="${agent}",gen_ai_tool_name="search",le="0.16"} 0`,
      ]),
    );
  });
});
