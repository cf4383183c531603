import { logs, metrics, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { registerLogs } from '../rules/test-support.rules.ts';
import { bench, failOnce, succeedOnce, trip } from '../test-support.ts';
import { ATTR } from './semconv.ts';
import { registerTraces } from './test-support.telemetry.ts';

const agent = 'logged';

afterEach(() => {
  metrics.disable();
  trace.disable();
  logs.disable();
});

describe('log events', () => {
  test('transitions, systemic events and budgets are log events', () => {
    const logged = registerLogs();
    const { session } = bench({ agent });
    trip(session, 'a');
    trip(session, 'b');
    session.confirmRecovered();
    for (const tool of ['made_up_1', 'made_up_2', 'made_up_3', 'made_up_4']) failOnce(session, tool, 'server');
    session.resume();
    const records = logged();
    expect(records.map(({ eventName, severityText }) => `${eventName} ${severityText}`)).toEqual([
      'breakerbox.circuit.transition WARN',
      'breakerbox.circuit.transition WARN',
      'breakerbox.systemic.detected ERROR',
      'breakerbox.systemic.resolved INFO',
      'breakerbox.budget.exhausted ERROR',
      'breakerbox.budget.resumed INFO',
    ]);
    expect(records.map(({ body }) => body)).toEqual([
      'Circuit of a: closed to open (network)',
      'Circuit of b: closed to open (network)',
      'Several tools failed together: a, b (network; suspected: network)',
      'Tools that failed together recovered: a, b (network; suspected: network); ended by operator',
      'The failure budget of 5 is used up, and the session is paused',
      'The session was resumed with a failure budget of 5',
    ]);
    expect(records[2]?.attributes).toEqual({
      [ATTR.agent]: agent,
      [ATTR.conversation]: 'run-1',
      [ATTR.errorType]: 'network',
      [ATTR.layer]: 'network',
      [ATTR.suspect]: 'network',
      [ATTR.tools]: ['a', 'b'],
    });
  });

  test('an event has the trace of the call that caused it, also if the call is settled outside of its context', () => {
    const logged = registerLogs();
    const spans = registerTraces();
    const { session } = bench({ agent });
    trip(session, 'a');
    const [record] = logged();
    expect(record?.spanContext).toMatchObject(spans()[2]?.spanContext() ?? { spanId: 'of the third call' });
  });

  test('C1: a change by an operator is logged like any other; a change of an observed circuit is INFO, and marked as observed', () => {
    const logged = registerLogs();
    const { session } = bench({ agent });
    session.control('a', 'observe_only');
    trip(session, 'a');
    session.control('a', 'forced_open');
    const records = logged().map(({ severityText, attributes }) => [
      severityText,
      attributes[ATTR.stateFrom],
      attributes[ATTR.stateTo],
      attributes[ATTR.state],
    ]);
    expect(records).toEqual([
      ['INFO', 'closed', 'observe_only', undefined],
      ['INFO', 'closed', 'open', 'observe_only'],
      ['WARN', 'observe_only', 'forced_open', undefined],
    ]);
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
