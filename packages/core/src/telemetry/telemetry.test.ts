import { context, logs, metrics, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { type ReadableSpan, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bench, failOnce, steps, succeedOnce, trip, UNIX_START } from '../test-support.ts';
import { ATTR, METRIC } from './semconv.ts';

class PullReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const registerMetrics = () => {
  const reader = new PullReader();
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  const serializer = new PrometheusSerializer();
  /** The lines of the scrape text, without scope labels. */
  const scrape = async (): Promise<string[]> => {
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    return serializer
      .serialize(resourceMetrics)
      .split('\n')
      .map((line) => line.replaceAll(/,?otel_scope_\w+="[^"]*"/g, ''));
  };
  return { provider, scrape };
};

/** Spans as they end: the SDK's own exporters are a tick later. */
const registerTraces = () => {
  const finished: ReadableSpan[] = [];
  const processor: SpanProcessor = {
    onStart() {},
    onEnd: (span) => void finished.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
  return () => finished;
};

/** A new agent for each test: cells outlive boxes, as counters must. */
let agent = '';
let count = 0;
beforeEach(() => {
  count += 1;
  agent = `agent-${count}`;
});
afterEach(() => {
  metrics.disable();
  trace.disable();
  context.disable();
  logs.disable();
});

const ours = (lines: string[], prefix: string): string[] =>
  lines
    .filter((line) => line.startsWith(`${prefix}{`) && line.includes(`gen_ai_agent_name="${agent}"`))
    .map((line) => line.replace(`gen_ai_agent_name="${agent}",`, '').replace(`gen_ai_agent_name="${agent}"`, ''));

describe('metrics', () => {
  test('zeros are exported from the declaration on, before any call', async () => {
    const { scrape } = registerMetrics();
    bench({ agent, tools: { a: {} } });
    const lines = await scrape();
    expect(ours(lines, 'breakerbox_decisions_total')).toContain(
      'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="skip",breakerbox_reason="open"} 0',
    );
    expect(ours(lines, 'breakerbox_outcomes_total')).toEqual(
      expect.arrayContaining([
        'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 0',
        'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="failure",error_type="network"} 0',
        'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="ignored",error_type="tool_error"} 0',
      ]),
    );
    expect(ours(lines, 'breakerbox_circuits')).toEqual(
      ['closed', 'open', 'half_open'].map(
        (state) => `breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="${state}"} 0`,
      ),
    );
    expect(ours(lines, 'breakerbox_systemic_events_total')).toContain(
      'breakerbox_systemic_events_total{error_type="network"} 0',
    );
    expect(ours(lines, 'breakerbox_budget_exhaustions_total')).toEqual(['breakerbox_budget_exhaustions_total{} 0']);
  });

  test('an SDK that comes after the box sees everything from the start', async () => {
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    const { scrape } = registerMetrics();
    session.acquire('a');
    const lines = await scrape();
    expect(ours(lines, 'breakerbox_decisions_total')).toEqual(
      expect.arrayContaining([
        'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="call",breakerbox_reason="closed"} 3',
        'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="skip",breakerbox_reason="open"} 1',
      ]),
    );
    expect(ours(lines, 'breakerbox_transitions_total')).toContain(
      'breakerbox_transitions_total{gen_ai_tool_name="a",breakerbox_state_from="closed",breakerbox_state_to="open"} 1',
    );
  });

  test('a second SDK after the first was shut down is followed too', async () => {
    const first = registerMetrics();
    const { session } = bench({ agent, tools: { a: {} } });
    await first.provider.shutdown();
    succeedOnce(session, 'a');
    metrics.disable();
    succeedOnce(session, 'a');
    const { scrape } = registerMetrics();
    succeedOnce(session, 'a');
    const lines = await scrape();
    expect(ours(lines, 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 3',
    );
    expect(ours(lines, 'gen_ai_execute_tool_duration_count')).toEqual([
      'gen_ai_execute_tool_duration_count{gen_ai_tool_name="a"} 1',
    ]);
  });

  test('names, units and kinds are those of the contract', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    const types = (await scrape()).filter((line) => line.startsWith('# TYPE '));
    const kinds = { counter: 'counter', updowncounter: 'gauge', gauge: 'gauge', histogram: 'histogram' };
    for (const { prometheus, kind, unit } of Object.values(METRIC)) {
      // OpenTelemetry's JS exporter adds no unit; @breakerbox/telemetry does.
      const name = unit === 's' ? prometheus.replace('_seconds', '') : prometheus;
      expect(types).toContain(`# TYPE ${name} ${kinds[kind]}`);
    }
  });

  test('the last opening is the Unix time at which the circuit left closed', async () => {
    const { scrape } = registerMetrics();
    const { session, clock } = bench({ agent, tools: { a: {} } });
    clock.advance(4_000);
    trip(session, 'a', 'timeout');
    clock.advance(60_000);
    steps(session, 3);
    failOnce(session, 'a');
    expect(ours(await scrape(), 'breakerbox_circuit_opened_time')).toEqual([
      `breakerbox_circuit_opened_time{gen_ai_tool_name="a",error_type="timeout"} ${(UNIX_START + 5_000) / 1000}`,
    ]);
  });

  test('budget and sessions say what the engine says', async () => {
    const { scrape } = registerMetrics();
    const { session, box } = bench({ agent });
    trip(session, 'a');
    trip(session, 'b');
    const { granted, consumed, remaining } = session.view().budget;
    const lines = await scrape();
    expect(ours(lines, 'breakerbox_budget_granted_total')).toEqual([`breakerbox_budget_granted_total{} ${granted}`]);
    expect(ours(lines, 'breakerbox_budget_consumed_total')).toEqual([`breakerbox_budget_consumed_total{} ${consumed}`]);
    expect(granted - consumed).toBe(remaining);
    expect(ours(lines, 'breakerbox_sessions')).toEqual([
      'breakerbox_sessions{breakerbox_session_state="active"} 0',
      'breakerbox_sessions{breakerbox_session_state="paused_budget"} 0',
      'breakerbox_sessions{breakerbox_session_state="paused_systemic"} 1',
    ]);
    expect(ours(lines, 'breakerbox_systemic_events_total')).toContain(
      'breakerbox_systemic_events_total{error_type="network"} 1',
    );
    const exhausted = box.session();
    for (const tool of ['a', 'b', 'c', 'd', 'a']) failOnce(exhausted, tool, 'server');
    expect(ours(await scrape(), 'breakerbox_budget_exhaustions_total')).toEqual([
      'breakerbox_budget_exhaustions_total{} 1',
    ]);
  });

  const circuitsOf = (lines: string[]) =>
    ours(lines, 'breakerbox_circuits').map((line) => Number(line.slice(line.lastIndexOf(' '))));

  test('a session that ends takes its circuits out of the gauges', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    expect(circuitsOf(await scrape())).toEqual([0, 1, 0]);
    session.end();
    const lines = await scrape();
    expect(circuitsOf(lines)).toEqual([0, 0, 0]);
    expect(ours(lines, 'breakerbox_sessions').every((line) => line.endsWith(' 0'))).toBe(true);
  });

  test('a session that idles for 30 minutes does too, and comes back when it is used', async () => {
    const { scrape } = registerMetrics();
    const { session, clock } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    clock.advance(30 * 60_000 - 1);
    expect(circuitsOf(await scrape())).toEqual([0, 1, 0]);
    clock.advance(1);
    expect(circuitsOf(await scrape())).toEqual([0, 0, 0]);
    session.acquire('a');
    expect(circuitsOf(await scrape())).toEqual([0, 0, 1]);
    session.end();
    expect(circuitsOf(await scrape())).toEqual([0, 0, 0]);
  });

  test('beyond maxTools, and for made-up names, series are shared', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: {}, b: {}, c: {} }, maxTools: 2 });
    for (const tool of ['a', 'b', 'c', 'made_up_1', 'made_up_2']) succeedOnce(session, tool);
    const successes = ours(await scrape(), 'breakerbox_outcomes_total').filter((line) => line.includes('"success"'));
    expect(successes).toEqual([
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 1',
      'breakerbox_outcomes_total{gen_ai_tool_name="b",breakerbox_outcome="success"} 1',
      'breakerbox_outcomes_total{gen_ai_tool_name="_OTHER",breakerbox_outcome="success"} 3',
    ]);
    expect(session.peek('c')?.state).toBe('closed'); // Declared: it has a circuit all the same.
  });

  test('two boxes of one agent share their series', async () => {
    const { scrape } = registerMetrics();
    succeedOnce(bench({ agent, tools: { a: {} } }).session, 'a');
    succeedOnce(bench({ agent, tools: { a: {} } }).session, 'a');
    expect(ours(await scrape(), 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 2',
    );
  });

  test('durations are those of executed calls alone, by category', async () => {
    const { scrape } = registerMetrics();
    const { session, clock } = bench({ agent, tools: { a: {} } });
    const permit = session.acquire('a');
    clock.advance(1_500);
    permit.settle({ outcome: 'success' });
    trip(session, 'a');
    session.acquire('a');
    const lines = await scrape();
    expect(ours(lines, 'gen_ai_execute_tool_duration_sum')).toEqual([
      'gen_ai_execute_tool_duration_sum{gen_ai_tool_name="a"} 1.5',
      'gen_ai_execute_tool_duration_sum{gen_ai_tool_name="a",error_type="network"} 0',
    ]);
    expect(ours(lines, 'gen_ai_execute_tool_duration_bucket')).toContain(
      'gen_ai_execute_tool_duration_bucket{gen_ai_tool_name="a",le="81.92"} 1',
    );
  });
});

describe('spans', () => {
  test('each decision has one span, with what decided it', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {} } });
    session.acquire('a', { callId: 'call-7' }).settle({ outcome: 'success' });
    const [span, ...rest] = finished();
    expect(rest).toEqual([]);
    expect(span?.name).toBe('execute_tool a');
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
    expect(span?.attributes).toEqual({
      [ATTR.operation]: 'execute_tool',
      [ATTR.tool]: 'a',
      [ATTR.agent]: agent,
      [ATTR.conversation]: 'run-1',
      [ATTR.callId]: 'call-7',
      [ATTR.decision]: 'call',
      [ATTR.reason]: 'closed',
      [ATTR.state]: 'closed',
      [ATTR.generation]: 0,
      [ATTR.budgetRemaining]: 5,
      [ATTR.caution]: false,
    });
  });

  test('skips and probes link to the span whose failure opened the circuit', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    session.acquire('a');
    steps(session, 3);
    succeedOnce(session, 'a');
    const spans = finished();
    expect(spans.map(({ name }) => name)).toEqual([
      'execute_tool a',
      'execute_tool a',
      'execute_tool a',
      'breakerbox.skip a',
      'execute_tool a',
    ]);
    const opening = spans[2];
    expect(opening?.status.code).toBe(SpanStatusCode.ERROR);
    expect(opening?.attributes[ATTR.errorType]).toBe('network');
    for (const span of spans.slice(3)) expect(span.links.map((link) => link.context)).toEqual([opening?.spanContext()]);
    expect(spans[4]?.attributes).toMatchObject({ [ATTR.decision]: 'probe', [ATTR.state]: 'half_open' });
  });

  test('a systemic pause links to every opening of the event', () => {
    const finished = registerTraces();
    const { session } = bench({ agent });
    trip(session, 'a');
    trip(session, 'b');
    session.acquire('c');
    const spans = finished();
    expect(spans[6]?.name).toBe('breakerbox.pause c');
    expect(spans[6]?.links.map((link) => link.context)).toEqual([spans[2]?.spanContext(), spans[5]?.spanContext()]);
  });

  test("the tool runs inside the span's context", async () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {} } });
    const permit = session.acquire('a');
    await context.with(permit.context, async () => {
      await Promise.resolve();
      trace.getTracer('http').startSpan('GET /').end();
    });
    permit.settle({ outcome: 'success' });
    const [child, parent] = finished();
    expect(child?.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId);
  });

  test('beneath a framework’s own execute_tool span, ours has another name', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {}, b: {} } });
    const native = trace.getTracer('framework').startSpan('execute_tool a', {
      attributes: { [ATTR.operation]: 'execute_tool', [ATTR.tool]: 'a' },
    });
    context.with(trace.setSpan(context.active(), native), () => {
      succeedOnce(session, 'a');
      succeedOnce(session, 'b'); // Called from within the other tool: a call of its own.
    });
    native.end();
    expect(finished().map(({ name }) => name)).toEqual(['breakerbox.call a', 'execute_tool b', 'execute_tool a']);
  });

  test('no argument, result or message of an error is recorded', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {} } });
    session.acquire('a').settle({ error: new Error('token sk-secret refused') });
    session.acquire('a').settle({ result: { isError: true, content: [{ type: 'text', text: 'sk-secret' }] } });
    const spans = finished().map(({ attributes, events, status, links }) => ({ attributes, events, status, links }));
    expect(spans).toHaveLength(2);
    expect(JSON.stringify(spans)).not.toContain('sk-secret');
  });

  test('a tracer registered late is used from then on, and one that is gone no more', () => {
    const { session } = bench({ agent, tools: { a: {} } });
    succeedOnce(session, 'a');
    const finished = registerTraces();
    succeedOnce(session, 'a');
    trace.disable();
    succeedOnce(session, 'a');
    expect(finished()).toHaveLength(1);
    const later = registerTraces();
    succeedOnce(session, 'a');
    expect([finished().length, later().length]).toEqual([1, 1]);
  });
});

describe('log events', () => {
  test('transitions, systemic events and budgets are log events', () => {
    const exporter = new InMemoryLogRecordExporter();
    logs.setGlobalLoggerProvider(new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] }));
    const { session } = bench({ agent });
    trip(session, 'a');
    trip(session, 'b');
    session.confirmRecovered();
    for (const tool of ['c', 'd', 'c', 'd']) failOnce(session, tool, 'server');
    session.resume();
    const records = exporter.getFinishedLogRecords();
    expect(records.map(({ eventName, severityText }) => `${eventName} ${severityText}`)).toEqual([
      'breakerbox.circuit.transition WARN',
      'breakerbox.circuit.transition WARN',
      'breakerbox.systemic.detected ERROR',
      'breakerbox.systemic.resolved INFO',
      'breakerbox.budget.exhausted ERROR',
      'breakerbox.budget.resumed INFO',
    ]);
    expect(records[2]?.attributes).toEqual({
      [ATTR.agent]: agent,
      [ATTR.conversation]: 'run-1',
      [ATTR.errorType]: 'network',
      [ATTR.layer]: 'network',
      [ATTR.tools]: ['a', 'b'],
    });
  });
});

describe('E5: telemetry never changes the outcome of a call', () => {
  const broken = () => {
    throw new Error('broken SDK');
  };

  test('E5: a meter, tracer and logger that throw', () => {
    metrics.setGlobalMeterProvider({ getMeter: broken });
    trace.setGlobalTracerProvider({ getTracer: broken });
    logs.setGlobalLoggerProvider({ getLogger: broken });
    const { session } = bench({ agent });
    trip(session, 'a');
    expect(session.acquire('a').decision).toBe('skip');
    expect(succeedOnce(session, 'b')).toBe('call');
  });

  test('E5: a span that throws at everything', () => {
    const span = new Proxy({}, { get: () => broken });
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span }) as never });
    const { session } = bench({ agent });
    expect(succeedOnce(session, 'a')).toBe('call');
    trip(session, 'a');
    expect(session.acquire('a').decision).toBe('skip');
  });
});
