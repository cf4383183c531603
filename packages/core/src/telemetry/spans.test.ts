import { type Attributes, context, logs, metrics, SpanStatusCode, trace } from '@opentelemetry/api';
import { type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, describe, expect, test } from 'vitest';
import { registerLogs } from '../rules/test-support.rules.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { ATTR, SCHEMA_URL, SCOPE_NAME, SCOPE_VERSION } from './semconv.ts';
import { registerMetrics, registerTraces } from './test-support.telemetry.ts';

const agent = 'traced';

afterEach(() => {
  trace.disable();
  logs.disable();
  metrics.disable();
  context.disable();
});

describe('spans', () => {
  test('each decision has one span, with its reason', () => {
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
      [ATTR.step]: 0,
      [ATTR.outcome]: 'success',
    });
  });

  test('a span shows what a replay needs: step, outcome, wait and cost', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {} } });
    session.step();
    session.acquire('a').settle({ outcome: 'failure', category: 'rate_limit', retryAfterMs: 1500, tokens: 40 });
    expect(finished()[0]?.attributes).toMatchObject({
      [ATTR.step]: 1,
      [ATTR.outcome]: 'failure',
      [ATTR.errorType]: 'rate_limit',
      [ATTR.retryAfter]: 1.5,
      [ATTR.tokens]: 40,
    });
  });

  test('T8: a pause that code or a person ended has a span; resume() without a failure has none', () => {
    const finished = registerTraces();
    const { session } = bench({ agent });
    session.resume();
    session.confirmRecovered();
    trip(session, 'a');
    trip(session, 'b');
    session.confirmRecovered();
    session.resume();
    expect(finished().slice(6)).toMatchObject(
      ['confirm', 'resume'].map((action) => ({
        name: `breakerbox.${action}`,
        attributes: { [ATTR.agent]: agent, [ATTR.conversation]: 'run-1', [ATTR.action]: action },
      })),
    );
    expect(finished()).toHaveLength(8);
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

  test('C11: a restored session links to the span in the process that failed', () => {
    const finished = registerTraces();
    const { session, box } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    restore(box, JSON.parse(JSON.stringify(snapshot(session)))).acquire('a');
    const [, , opening, skip] = finished();
    const { traceId, spanId } = opening?.spanContext() ?? {};
    expect(skip?.links.map(({ context }) => context)).toMatchObject([{ traceId, spanId, isRemote: true }]);
  });

  test('C1: the span of an observed tool has the decision that would have been made, with the link', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: { mode: 'observe_only' } } });
    trip(session, 'a');
    succeedOnce(session, 'a');
    const spans = finished();
    expect(spans[3]?.name).toBe('execute_tool a');
    expect(spans[3]?.attributes).toMatchObject({
      [ATTR.decision]: 'call',
      [ATTR.reason]: 'would_skip',
      [ATTR.state]: 'observe_only',
    });
    expect(spans[3]?.links.map((link) => link.context)).toEqual([spans[2]?.spanContext()]);
  });

  test('C1: a tool that an operator switched off links to no earlier failure', () => {
    const finished = registerTraces();
    const { session } = bench({ agent });
    trip(session, 'a');
    session.control('a', 'forced_open');
    session.acquire('a');
    expect(finished()[3]).toMatchObject({ name: 'breakerbox.skip a', links: [] });
  });

  test('R3: the span of a rejected call says why, without the text that the model reads', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {}, b: {} } });
    trip(session, 'a');
    session.acquire('a');
    session.control('b', 'forced_open');
    session.acquire('b');
    expect(
      finished()
        .slice(3)
        .map(({ status }) => status),
    ).toEqual([
      { code: SpanStatusCode.ERROR, message: 'Tool unavailable: a. Reason: its circuit is open.' },
      { code: SpanStatusCode.ERROR, message: 'Tool unavailable: b. Reason: it is switched off.' },
    ]);
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

  test.each([
    ['the layer', { a: {}, b: {} }, 'network', 'network'],
    ['the dependency', { a: { dependsOn: ['proxy'] }, b: { dependsOn: ['proxy'] } }, 'timeout', 'dependency proxy'],
  ] as const)('S4: a systemic pause names %s that is suspected', async (_, tools, category, suspect) => {
    const finished = registerTraces();
    const logged = registerLogs();
    const { scrape } = registerMetrics();
    const { session } = bench({ agent: `suspects ${suspect}`, tools });
    trip(session, 'a', category);
    trip(session, 'b', category);
    session.acquire('c');
    const pause = finished().at(-1);
    expect(pause?.attributes[ATTR.suspect]).toBe(suspect);
    expect(pause?.status.message).toBe(
      `Tool unavailable: c. Reason: several tools failed from one cause (${category}; suspected: ${suspect}).`,
    );
    const event = logged().find(({ eventName }) => eventName === 'breakerbox.systemic.detected');
    expect(event?.attributes[ATTR.suspect]).toBe(suspect);
    expect(event?.body).toBe(`Several tools failed together: a, b (${category}; suspected: ${suspect})`);
    expect((await scrape()).join('\n')).toMatch(
      new RegExp(`systemic_events_total.*error_type="${category}".*systemic_suspect="${suspect}".* 1$`, 'm'),
    );
  });

  test('the scope of spans has the version and the schema of the conventions', () => {
    const finished = registerTraces();
    bench({ agent }).session.acquire('a').settle({ outcome: 'success' });
    expect(finished()[0]?.instrumentationScope).toEqual({
      name: SCOPE_NAME,
      version: SCOPE_VERSION,
      schemaUrl: SCHEMA_URL,
    });
  });

  test('S1: a pause for failures of several tools links to those failures, though no circuit is open', () => {
    const finished = registerTraces();
    const { session } = bench({ agent });
    for (const tool of ['a', 'b', 'c', 'a', 'b']) failOnce(session, tool, 'network');
    expect(session.acquire('d').reason).toBe('systemic');
    const spans = finished();
    expect(new Set(spans[5]?.links.map(({ context }) => context.spanId))).toEqual(
      new Set([2, 3, 4].map((index) => spans[index]?.spanContext().spanId)),
    );
  });

  test('C14: skips and probes for a key link to the latest failure of that key', () => {
    const finished = registerTraces();
    const { session, clock } = bench({ agent, tools: { a: { key: (input) => (input as { host: string }).host } } });
    const call = (host: string) => session.acquire('a', { input: { host } });
    for (let n = 0; n < 3; n += 1) call('dead').settle({ outcome: 'failure', category: 'network', blames: 'key' });
    call('well').settle({ outcome: 'success' });
    expect(call('dead').reason).toBe('key_open');
    clock.advance(3_600_000);
    call('dead').settle({ outcome: 'success' });
    const spans = finished();
    expect(spans.slice(4).map(({ attributes }) => attributes[ATTR.reason])).toEqual(['key_open', 'key_probe_due']);
    for (const span of spans.slice(4))
      expect(span.links.map(({ context }) => context)).toEqual([spans[2]?.spanContext()]);
  });

  test('C13, C14: the state is that of the circuit that decided, such as that of the group or of the key', () => {
    const finished = registerTraces();
    const grouped = { group: 'mcp' };
    const { session, clock } = bench({
      agent,
      tools: { a: { key: (input) => (input as { host: string }).host }, b: grouped, c: grouped },
    });
    const call = (host: string) => session.acquire('a', { input: { host } });
    for (let n = 0; n < 3; n += 1) call('dead').settle({ outcome: 'failure', category: 'network', blames: 'key' });
    for (let n = 0; n < 3; n += 1) session.acquire('b').settle({ outcome: 'failure', blames: 'group' });
    expect([call('dead'), session.acquire('c')].map(({ reason, state }) => [reason, state])).toEqual([
      ['key_open', 'closed'],
      ['group_open', 'closed'],
    ]);
    clock.advance(3_600_000);
    for (const probe of [call('dead'), session.acquire('c')]) probe.settle({ outcome: 'success' });
    const states = finished().map(({ attributes }) => [attributes[ATTR.reason], attributes[ATTR.state]]);
    expect(states.slice(-4)).toEqual([
      ['key_open', 'open'],
      ['group_open', 'open'],
      ['key_probe_due', 'half_open'],
      ['group_probe_due', 'half_open'],
    ]);
  });

  test('a sampler sees which decision it is, and only executed calls are tool executions', () => {
    const seen: Attributes[] = [];
    const processor: SpanProcessor = {
      onStart: (span) => void seen.push({ ...span.attributes }),
      onEnd: () => {},
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    session.acquire('a');
    const common = { [ATTR.agent]: agent, [ATTR.tool]: 'a' };
    expect([seen[0], seen[3]]).toEqual([
      { ...common, [ATTR.decision]: 'call', [ATTR.operation]: 'execute_tool' },
      { ...common, [ATTR.decision]: 'skip' },
    ]);
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

  test("beneath a framework’s own execute_tool span, Breakerbox's span has another name", () => {
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

  test('beneath a span of Breakerbox, a tool that calls itself has a separate call', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {} } });
    const outer = session.acquire('a');
    context.with(outer.context, () => succeedOnce(session, 'a'));
    outer.settle({ outcome: 'success' });
    expect(finished().map(({ name }) => name)).toEqual(['execute_tool a', 'execute_tool a']);
  });

  test('after a failed probe, the next one still links to the failure that opened the circuit', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    steps(session, 3);
    failOnce(session, 'a');
    steps(session, 3);
    succeedOnce(session, 'a');
    const spans = finished();
    expect(spans[4]?.links.map((link) => link.context)).toEqual([spans[2]?.spanContext()]);
  });

  test('arguments, results and error messages are not recorded', () => {
    const finished = registerTraces();
    const { session } = bench({ agent, tools: { a: {} } });
    session.acquire('a').settle({ error: new Error('token sk-secret refused') });
    session.acquire('a').settle({ result: { isError: true, content: [{ type: 'text', text: 'sk-secret' }] } });
    const spans = finished().map(({ attributes, events, status, links }) => ({ attributes, events, status, links }));
    expect(spans).toHaveLength(2);
    expect(JSON.stringify(spans)).not.toContain('sk-secret');
  });

  test('a tracer registered late is used from then on, and a removed one no longer', () => {
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
