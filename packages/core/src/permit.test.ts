import { inspect } from 'node:util';
import { context, createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, describe, expect, test } from 'vitest';
import { bench, failOnce, trip } from './test-support.ts';

afterEach(() => {
  context.disable();
  trace.disable();
});

describe('the decision in a permit', () => {
  test('E3: a permit does not change after the decision', () => {
    const { session } = bench({ budget: { failures: 4 } });
    const call = session.acquire('a');
    trip(session, 'a');
    for (const category of ['server', 'rate_limit'] as const) failOnce(session, 'b', category);
    const skip = session.acquire('a');
    session.control('a', 'disabled');
    session.resume();
    expect([call.decision, call.state, call.caution, call.budgetRemaining]).toEqual(['call', 'closed', false, 4]);
    expect([skip.decision, skip.state, skip.caution, skip.budgetRemaining]).toEqual(['skip', 'open', true, 1]);
    expect([call.message, skip.message]).toEqual(['', expect.stringContaining("Tool 'a' is unavailable")]);
  });

  test('E3: a copy keeps the decision, so that a rejection is never mistaken for a call', () => {
    const { session } = bench();
    trip(session, 'a');
    expect({ ...session.acquire('a') }.decision).toBe('skip');
    expect(Object.assign({}, session.acquire('a'))).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(session.acquire('a').toJSON()).toMatchObject({ tool: 'a', decision: 'skip', state: 'open' });
  });

  test('Q2: logs show the public fields of a permit, and no internal state', () => {
    const { session } = bench();
    trip(session, 'a');
    const shown = {
      tool: 'a',
      decision: 'skip',
      reason: 'open',
      caution: false,
      state: 'open',
      budgetRemaining: 4,
      message: expect.stringContaining("Tool 'a' is unavailable"),
      note: '',
      route: { kind: 'defer' },
    };
    const skip = session.acquire('a', { input: 'secret' });
    expect(JSON.parse(JSON.stringify(skip))).toEqual(shown);
    expect(inspect(skip)).toContain("decision: 'skip'");
    expect(inspect(skip, { depth: 9, showHidden: true })).not.toContain('secret');
  });
});

describe('the context in which a tool runs', () => {
  test('E1: it derives from the context that was active at the decision, and is always the same', () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const spans = new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() });
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [spans] }));
    const { session } = bench();
    const key = createContextKey('who');
    const permit = context.with(ROOT_CONTEXT.setValue(key, 'caller'), () => session.acquire('a'));
    const within = permit.context; // Read elsewhere.
    expect(within.getValue(key)).toBe('caller');
    expect(trace.getSpan(within)?.isRecording()).toBe(true);
    expect(permit.context).toBe(within);
  });

  test('E1: without a tracer it is the active context', () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const permit = bench().session.acquire('a');
    const other = ROOT_CONTEXT.setValue(createContextKey('x'), 1);
    expect(context.with(other, () => permit.context)).toBe(other);
  });
});
