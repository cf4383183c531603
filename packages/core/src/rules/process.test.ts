import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { planScope } from '../scope/scope.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { circuitsOf, newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, journal, steps, succeedOnce, trip } from '../test-support.ts';
import { FIVE_STRAY, hear, inAnotherProcess, two } from './test-support.rules.ts';

afterEach(() => metrics.disable());

describe('C12: circuits of the box', () => {
  test('B3, C12: failures of all sessions count for one circuit, and each session pays for its own', () => {
    const { session, other } = two();
    failOnce(session, 'a');
    failOnce(other, 'a');
    failOnce(session, 'a');
    expect(other.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open', budgetRemaining: 4 });
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', budgetRemaining: 4 }); // Its two are one outage.
    expect(other.peek('a')).toEqual(session.peek('a'));
  });

  test('C12: a new session has the state that the others found', () => {
    const { session, box } = two();
    trip(session, 'a');
    const late = box.session();
    expect(late.acquire('a').decision).toBe('skip');
    expect(late.unavailable()).toEqual(['a']);
    expect(late.note()).toContain("'a'");
    expect(planScope(late, [{ name: 'x', tools: ['a'] }]).decision).toBe('pause');
  });

  test('C12: a spent budget pauses its own session alone', () => {
    const { session, other } = two({ budget: 'strict' });
    for (const [tool, category] of FIVE_STRAY) failOnce(session, tool, category);
    expect(session.acquire('b')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
    expect(other.acquire('b')).toMatchObject({ decision: 'call', budgetRemaining: 5 });
    session.resume();
    expect(other.view().budget.cycle).toBe(1);
  });

  test('C12: probes wait by time, however many steps the sessions make', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    for (const one of [session, other]) steps(one, 50);
    expect(other.acquire('a').decision).toBe('skip');
    expect(other.peek('a')?.nextProbe).toEqual({ ms: 60_000, notBeforeMs: 0 });
    clock.advance(60_000);
    expect(other.acquire('a').decision).toBe('probe');
  });

  test('C12: with probeAfterSteps set, the steps of all sessions count together', () => {
    const { session, other } = two({ defaults: { probeAfterSteps: 4 } });
    trip(session, 'a');
    steps(session, 2);
    other.step();
    expect(other.acquire('a').decision).toBe('skip');
    other.step();
    expect(session.acquire('a').decision).toBe('probe');
  });

  test('C12: the circuit has one mode in all sessions', () => {
    const { session, other, box } = two();
    session.control('a', 'forced_open');
    expect(other.acquire('a').reason).toBe('forced_open');
    other.control('a', 'observe_only');
    for (let i = 0; i < 4; i += 1) failOnce(session, 'a');
    expect(session.acquire('a').reason).toBe('would_skip');
    expect(box.session().acquire('a').reason).toBe('would_skip');
    expect([session.view().budget.consumed, other.view().budget.consumed]).toEqual([0, 0]);
  });

  test('C12: a circuit that an operator controls in one session is not part of an event in any session', () => {
    const { session, other } = two();
    trip(session, 'a');
    other.control('a', 'forced_open');
    trip(session, 'b');
    expect([session.view().systemic, other.view().systemic]).toEqual([undefined, undefined]);
    other.acquire('c');
    expect(other.view().systemic).toBeUndefined();
  });

  test('C7, C12: a call that another session started before the circuit opened is late', () => {
    const { session, other } = two();
    const underWay = other.acquire('a');
    trip(session, 'a');
    underWay.settle({ outcome: 'success' });
    expect(session.peek('a')?.state).toBe('open');
    expect(other.view().budget.consumed).toBe(0);
  });

  test('C11, C12: a snapshot holds no circuits, because they stay with their box', () => {
    const { session, box } = two();
    trip(session, 'a');
    expect(snapshot(session).circuits).toEqual([]);
    const restored = inAnotherProcess(session, box);
    expect(restored.acquire('a')).toMatchObject({ decision: 'skip', budgetRemaining: 4 });
    const elsewhere = inAnotherProcess(session, bench({ scope: 'process' }).box);
    expect(elsewhere.acquire('a')).toMatchObject({ decision: 'call', budgetRemaining: 4 });
  });

  test('C12: gauges count a shared circuit once, and it stays when its sessions end', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, other } = two({ agent });
    for (const one of [session, other]) for (const tool of ['a', 'b']) succeedOnce(one, tool);
    expect(circuitsOf(agent, await scrape())).toEqual({ closed: 2 });
    trip(session, 'a');
    other.acquire('a');
    expect(circuitsOf(agent, await scrape())).toEqual({ closed: 1, open: 1 });
    session.end();
    other.end();
    const lines = await scrape();
    expect(circuitsOf(agent, lines)).toEqual({ closed: 1, open: 1 });
    const sessions = seriesOf(agent, lines, 'breakerbox_sessions');
    expect(sessions.every((line) => line.endsWith(' 0'))).toBe(true);
  });

  test('C12: an idle session leaves the gauges, and the circuits stay', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, other, clock } = two({ agent, sessionIdleMs: 1_000 });
    succeedOnce(session, 'a');
    clock.advance(1_000);
    succeedOnce(other, 'a');
    const lines = await scrape();
    expect(circuitsOf(agent, lines)).toEqual({ closed: 1 });
    expect(seriesOf(agent, lines, 'breakerbox_sessions')).toContain(
      'breakerbox_sessions{breakerbox_session_state="active"} 1',
    );
  });

  test('C12: an opening is counted and emitted once, however many sessions see it', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, other, box } = two({ agent });
    const lines = journal(box);
    trip(session, 'a');
    succeedOnce(other, 'b');
    box.session().acquire('a');
    expect(lines).toEqual(['a closed>open']);
    const counted = seriesOf(agent, await scrape(), 'breakerbox_transitions_total');
    expect(counted.filter((line) => !line.endsWith(' 0'))).toHaveLength(1);
  });

  test('C12, E7: a session that is used after its end shares the circuits as before', () => {
    const { session, other, box } = two();
    const decisions = hear(box, 'decision');
    session.end();
    trip(session, 'a');
    expect(other.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
    trip(other, 'd', 'server');
    expect(session.acquire('d').reason).toBe('open');
    expect(decisions.at(-1)).toMatchObject({ session: 'run-1', reason: 'open' });
  });
});
