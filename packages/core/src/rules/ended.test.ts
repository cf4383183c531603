import { context, diag, metrics, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { report } from '../report/report.ts';
import { planScope } from '../scope/scope.ts';
import { ATTR } from '../telemetry/semconv.ts';
import {
  circuitsOf,
  newAgent,
  registerMetrics,
  registerTraces,
  seriesOf,
} from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, FIVE_STRAY, hear, heardWarnings, inAnotherProcess } from './test-support.rules.ts';

afterEach(() => {
  diag.disable();
  metrics.disable();
  trace.disable();
  context.disable();
});

describe('E7: a session that is used after end()', () => {
  test('E7: decides and protects as before, with the real reasons', () => {
    const { session, box } = bench();
    const transitions = hear(box, 'circuit.transition');
    trip(session, 'a');
    session.end();
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open', route: { kind: 'defer' } });
    steps(session, 3);
    expect(succeedOnce(session, 'a')).toBe('probe');
    bringDown(session, 'b', 'c');
    expect(session.acquire('a')).toMatchObject({ decision: 'pause', reason: 'systemic' });
    expect(transitions).toHaveLength(5);
    session.confirmRecovered();
    expect(session.acquire('a').reason).toBe('closed');
  });

  test('E7, B1: failures are charged as before, and the budget pauses', () => {
    const { session } = bench({ budget: 'strict' });
    session.end();
    for (const [tool, category] of FIVE_STRAY) failOnce(session, tool, category);
    expect(session.acquire('b').reason).toBe('budget_exhausted');
    session.resume();
    expect(session.acquire('b').reason).toBe('closed');
  });

  test('E7: calls under way when it ended count as before', () => {
    const { session, box } = bench();
    const outcomes = hear(box, 'outcome');
    const permits = [1, 2, 3].map(() => session.acquire('a'));
    session.end();
    for (const permit of permits) permit.settle({ outcome: 'failure', category: 'server' });
    expect(outcomes.map(({ late }) => late)).toEqual([false, false, false]);
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'server' });
    expect(report(session).tools[0]).toMatchObject({ calls: { failed: 3 } });
  });

  test('E7: diag gets one warning when the session decides again', () => {
    const warnings = heardWarnings();
    const { session } = bench();
    const permit = session.acquire('a');
    session.end();
    permit.settle({ outcome: 'success' });
    session.step();
    session.view();
    expect(warnings()).toEqual([]);
    for (let i = 0; i < 5; i += 1) session.acquire('a');
    session.end();
    session.acquire('a');
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain("session 'run-1' of agent 'tester' is used after end()");
  });

  test('E7: spans of its decisions say so, earlier spans do not', () => {
    const finished = registerTraces();
    const { session } = bench();
    session.acquire('a').settle({ outcome: 'success' });
    session.end();
    session.acquire('a').settle({ outcome: 'success' });
    expect(finished().map(({ attributes }) => attributes[ATTR.sessionEnded])).toEqual([undefined, true]);
    expect(ATTR.sessionEnded).toBe('breakerbox.session.ended');
  });

  test('E7: from its next decision the session and its circuits count as live again, until the next end', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session } = bench({ agent });
    const live = async () => {
      const lines = await scrape();
      const sessions = seriesOf(agent, lines, 'breakerbox_sessions').filter((line) => line.endsWith(' 1'));
      return [sessions.length, circuitsOf(agent, lines)];
    };
    succeedOnce(session, 'a');
    expect(await live()).toEqual([1, { closed: 1 }]);
    session.end();
    expect(await live()).toEqual([0, {}]);
    trip(session, 'a');
    expect(await live()).toEqual([1, { open: 1 }]);
    session.end();
    expect(await live()).toEqual([0, {}]);
  });

  test('E7: other uses do not return it to the gauges, and the idle limit removes it too', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, clock } = bench({ agent, sessionIdleMs: 1_000 });
    const isLive = async () =>
      seriesOf(agent, await scrape(), 'breakerbox_sessions').some((line) => line.endsWith(' 1'));
    const permit = session.acquire('a');
    session.end();
    permit.settle({ outcome: 'failure', category: 'network' });
    session.step();
    session.resume();
    session.declare('late');
    session.control('a', 'forced_open');
    planScope(session, []);
    report(session);
    expect(await isLive()).toBe(false);
    session.acquire('b');
    expect(await isLive()).toBe(true);
    clock.advance(1_000);
    expect(await isLive()).toBe(false);
  });

  test('C8, E7: end() returns no slot: the probe under way closes the circuit, or fails with its lease', () => {
    const { session, clock } = bench();
    trip(session, 'a');
    steps(session, 3);
    const probe = session.acquire('a');
    session.end();
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'probe_in_flight' });
    probe.settle({ outcome: 'success' });
    expect(session.acquire('a').reason).toBe('closed');
    trip(session, 'a', 'server');
    steps(session, 3);
    session.acquire('a');
    session.end();
    clock.advance(60_000);
    expect(session.acquire('a').reason).toBe('open');
    expect(session.peek('a')).toMatchObject({ category: 'timeout', trip: 'probe' });
  });

  test('C11, E7: it can be stored, and continues in another process as a session that has not ended', () => {
    const warnings = heardWarnings();
    const { session, box } = bench();
    trip(session, 'a');
    session.end();
    const restored = inAnotherProcess(session, box);
    expect(restored.acquire('a').reason).toBe('open');
    expect(warnings()).toEqual([]);
  });
});
