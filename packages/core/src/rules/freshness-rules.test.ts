import { context, metrics, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import type { FreshnessHint } from '../outcome.ts';
import { formatReport } from '../report/format.ts';
import { report } from '../report/report.ts';
import { planScope } from '../scope/scope.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { newAgent, registerMetrics, registerTraces, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, trip, UNIX_START } from '../test-support.ts';
import { callWith, hear, hearAll, inAnotherProcess } from './test-support.rules.ts';

afterEach(() => {
  metrics.disable();
  trace.disable();
  context.disable();
});

const labelling = { tools: { a: { labelFreshness: true }, b: {} } } as const;

/** A success with a hint, and the label that it got. */
const labelOfCall = (session: ReturnType<typeof bench>['session'], freshness?: FreshnessHint, tool = 'a') => {
  const permit = session.acquire(tool);
  expect(permit.freshness).toBeUndefined();
  permit.settle({ outcome: 'success', freshness });
  return permit.freshness;
};

describe('F1: labels', () => {
  test('F1: a fresh result has no label, nor has a failure, nor a result of a tool without labelFreshness', () => {
    const { session, clock } = bench(labelling);
    const retrievedUnixMs = clock.unixNow() - 5_000;
    expect(labelOfCall(session)).toBeUndefined();
    expect(labelOfCall(session, { retrievedUnixMs }, 'b')).toBeUndefined();
    const failed = session.acquire('a');
    failed.settle({ outcome: 'failure', freshness: { retrievedUnixMs } });
    expect(failed.freshness).toBeUndefined();
  });

  test('F1: a result is stale if it was retrieved before the session or the last beginTask()', () => {
    const { session, clock } = bench(labelling);
    clock.advance(10_000);
    const retrievedUnixMs = clock.unixNow() - 5_000;
    expect(labelOfCall(session, { retrievedUnixMs })).toBeUndefined();
    session.beginTask();
    expect(labelOfCall(session, { retrievedUnixMs })).toEqual({ kind: 'stale', retrievedUnixMs });
    expect(labelOfCall(session)).toBeUndefined();
  });

  test('F1: the executor marks results as unverified and freshness_unknown', () => {
    const { session, clock } = bench(labelling);
    const retrievedUnixMs = clock.unixNow();
    expect(labelOfCall(session, { verified: false })).toEqual({ kind: 'unverified', retrievedUnixMs });
    expect(labelOfCall(session, { retrievedUnixMs: null })).toEqual({
      kind: 'freshness_unknown',
      retrievedUnixMs: undefined,
    });
    expect(labelOfCall(session, { verified: true })).toBeUndefined();
  });

  test('F1: a result is cached if the same input gives the same result in consecutive calls', () => {
    const { session } = bench(labelling);
    const ask = (input: unknown, result: unknown) => {
      const permit = session.acquire('a', { input });
      permit.settle({ result });
      return permit.freshness?.kind;
    };
    expect(ask({ q: 1 }, { hits: [1, 2] })).toBeUndefined();
    expect(ask({ q: 2 }, { hits: [1, 2] })).toBeUndefined();
    expect(ask({ q: 1 }, { hits: [1, 2] })).toBe('cached');
    expect(ask({ q: 1 }, { hits: [] })).toBeUndefined();
    expect(ask(undefined, { hits: [] })).toBeUndefined();
    expect(ask(undefined, { hits: [] })).toBeUndefined(); // The call that it belongs to is unknown.
  });

  test('F1: each label is in the metric, the event and the report', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, box } = bench({ agent, tools: { a: { labelFreshness: true } } });
    const outcomes = hear(box, 'outcome');
    labelOfCall(session, { verified: false });
    labelOfCall(session);
    expect(outcomes.map(({ freshness }) => freshness?.kind)).toEqual(['unverified', undefined]);
    expect(report(session).tools[0]?.labels).toMatchObject({ unverified: 1 });
    expect(seriesOf(agent, await scrape(), 'breakerbox_freshness_total')).toEqual([
      'breakerbox_freshness_total{gen_ai_tool_name="a",breakerbox_freshness_label="unverified"} 1',
    ]);
  });

  test('F1: hints that cannot be read mean that the time is not known', () => {
    const { session } = bench(labelling);
    for (const retrievedUnixMs of [Number.NaN, Number.NEGATIVE_INFINITY, 'yesterday', {}]) {
      expect(labelOfCall(session, { retrievedUnixMs } as never)?.kind).toBe('freshness_unknown');
    }
    for (const freshness of [null, 7, 'new', []]) expect(labelOfCall(session, freshness as never)).toBeUndefined();
  });
});

describe('F2: the last good result', () => {
  const serving = {
    tools: { a: { serveStaleMs: 60_000, alternatives: [{ tool: 'b' }], failureThreshold: 1 }, b: {} },
  } as const;
  const good = (session: ReturnType<typeof bench>['session'], input: unknown, result: unknown) =>
    callWith(session, 'a', input, { outcome: 'success', result });

  test('F2: an open circuit answers with it, for the same input, always labelled stale', () => {
    const { session, clock } = bench(serving);
    const result = { hits: [1] };
    good(session, { q: 1 }, result);
    clock.advance(1_000);
    failOnce(session, 'a');
    const permit = session.acquire('a', { input: { q: 1 } });
    const retrievedUnixMs = UNIX_START + 1_000;
    expect(permit.route).toEqual({ kind: 'stale', result, label: { kind: 'stale', retrievedUnixMs } });
    expect(permit).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(permit.message).toContain(
      'Its last good result is given instead (stale: retrieved 2023-11-14 22:13:21 UTC). Say in your answer how old it is.',
    );
    expect(session.acquire('a', { input: { q: 2 } }).route).toMatchObject({ kind: 'alternative', tool: 'b' });
    expect(session.acquire('a').route).toMatchObject({ kind: 'alternative', tool: 'b' });
  });

  test('F2: the result is no older than the tool allows since its retrieval, and is never served on a pause', () => {
    const { session, clock } = bench(serving);
    good(session, 1, 'kept');
    callWith(session, 'a', 2, {
      outcome: 'success',
      result: 'old when it came',
      freshness: { retrievedUnixMs: clock.unixNow() - 59_000 },
    });
    clock.advance(1_000);
    failOnce(session, 'a');
    expect(session.acquire('a', { input: 2 }).route?.kind).toBe('stale');
    clock.advance(1);
    expect(session.acquire('a', { input: 2 }).route?.kind).toBe('alternative');
    clock.advance(58_999);
    session.control('a', 'forced_open');
    expect(session.acquire('a', { input: 1 }).route?.kind).toBe('stale');
    for (const tool of ['b', 'x', 'x', 'x']) failOnce(session, tool, 'server');
    expect(session.acquire('a', { input: 1 })).toMatchObject({ decision: 'pause', route: { kind: 'defer' } });
    session.resume();
    clock.advance(1);
    expect(session.acquire('a', { input: 1 }).route?.kind).toBe('alternative');
  });

  test('F2: an unknown time is left out, and such a result ages from its call', () => {
    const { session } = bench(serving);
    for (const [input, retrievedUnixMs] of [null, Number.NaN].entries()) {
      callWith(session, 'a', input, { outcome: 'success', result: 'r', freshness: { retrievedUnixMs } });
    }
    failOnce(session, 'a');
    for (const input of [0, 1]) {
      const { route, message } = session.acquire('a', { input });
      expect(route).toMatchObject({ kind: 'stale', label: { kind: 'stale', retrievedUnixMs: undefined } });
      expect(message).toContain('(stale: retrieved at an unknown time)');
    }
  });

  test('F2: a failure keeps the last good result, and a newer good one replaces it', () => {
    const { session } = bench({ tools: { a: { serveStaleMs: 60_000 } } });
    good(session, 1, 'first');
    good(session, 1, 'second');
    for (let i = 0; i < 3; i += 1) callWith(session, 'a', 1);
    session.control('a', 'forced_open');
    expect(session.acquire('a', { input: 1 }).route).toMatchObject({ result: 'second' });
  });

  test('F2: falsy results are results; a tool that does not allow it serves no last good result', () => {
    const { session } = bench({ tools: { a: { serveStaleMs: 60_000 }, b: { labelFreshness: true } } });
    for (const [input, result] of [undefined, null, false, 0, ''].entries()) {
      callWith(session, 'a', input, { outcome: 'success', result });
    }
    callWith(session, 'b', 0, { outcome: 'success', result: 'not kept' });
    session.control('a', 'forced_open');
    session.control('b', 'forced_open');
    for (const [input, result] of [undefined, null, false, 0, ''].entries()) {
      expect(session.acquire('a', { input }).route).toMatchObject({ kind: 'stale', result });
    }
    expect(session.acquire('b', { input: 0 }).route).toEqual({ kind: 'defer' });
  });

  test('F2: a last good result that is served is counted, as route and as stale', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session } = bench({ agent, tools: { a: { serveStaleMs: 60_000 } } });
    good(session, 1, 'kept');
    trip(session, 'a');
    session.acquire('a', { input: 1 });
    const lines = await scrape();
    expect(seriesOf(agent, lines, 'breakerbox_routes_total')).toContain(
      'breakerbox_routes_total{gen_ai_tool_name="a",breakerbox_route="stale"} 1',
    );
    expect(seriesOf(agent, lines, 'breakerbox_freshness_total')[0]).toMatch(/"stale"\} 1$/);
    expect(report(session).leftOut).toContainEqual({ kind: 'label', tool: 'a', label: 'stale', times: 1 });
  });

  test('F2, Q2: results are in no snapshot, report, event or span, and another process has no results', () => {
    const finished = registerTraces();
    const { session, box } = bench({ tools: { a: { serveStaleMs: 60_000, labelFreshness: true } } });
    const events = hearAll(box);
    good(session, 'who', 'sk-98765');
    good(session, 'who', 'sk-98765');
    trip(session, 'a');
    expect(session.acquire('a', { input: 'who' }).route?.kind).toBe('stale');
    steps(session, 1);
    planScope(session, [{ name: 'x', tools: ['a'] }]);
    const spans = finished().map(({ attributes, events: own, status }) => JSON.stringify({ attributes, own, status }));
    const said = [JSON.stringify(snapshot(session)), JSON.stringify(report(session)), formatReport(report(session))];
    expect([...said, ...events, ...spans].join('\n')).not.toContain('sk-98765');
    expect(inAnotherProcess(session, box).acquire('a', { input: 'who' }).route).toEqual({ kind: 'defer' });
  });

  test('C12, F2: results stay with their session, even if circuits are shared', () => {
    const { session, box } = bench({ ...serving, scope: 'process' });
    good(session, 1, 'mine');
    failOnce(session, 'a');
    expect(session.acquire('a', { input: 1 }).route?.kind).toBe('stale');
    expect(box.session().acquire('a', { input: 1 }).route?.kind).toBe('alternative');
  });
});
