import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { planScope } from '../scope/scope.ts';
import { newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, failAll, hear, reasonsOf, two } from './test-support.rules.ts';

afterEach(() => metrics.disable());

describe('C12, S2: a systemic event of sessions that share circuits skips the affected tools', () => {
  test('C12, S2: circuits that open in different sessions make one event; its tools are skipped in all sessions, others are called', () => {
    const { session, other, box } = two();
    trip(session, 'a');
    trip(other, 'b');
    for (const one of [session, other, box.session()]) {
      expect(one.acquire('a')).toMatchObject({ decision: 'skip', reason: 'systemic', route: { kind: 'defer' } });
      expect(one.acquire('b').reason).toBe('systemic');
      expect(one.acquire('c')).toMatchObject({ decision: 'call', reason: 'closed' });
      expect(one.view()).toMatchObject({ state: 'active', systemic: { category: 'network' } });
    }
  });

  test('S2: a false event costs no call of the tools outside it', () => {
    const { session, other } = two();
    trip(session, 'a');
    trip(other, 'b'); // By chance.
    const calls = Array.from({ length: 50 }, () => [succeedOnce(session, 'c'), succeedOnce(other, 'd')]).flat();
    expect(new Set(calls)).toEqual(new Set(['call']));
    expect(planScope(session, [{ name: 'x', tools: ['c', 'd'] }]).decision).toBe('proceed');
    expect(session.unavailable()).toEqual(['a', 'b']);
  });

  test('S2: a tool that depends on a tool of the event is affected, over several links', () => {
    const tools = { a: {}, b: {}, ui: { dependsOn: ['api'] }, api: { dependsOn: ['a'] }, c: {} };
    const { session } = two({ tools });
    bringDown(session);
    expect(reasonsOf(session, 'ui', 'api', 'c')).toEqual(['systemic', 'systemic', 'closed']);
    expect(session.acquire('ui')).toMatchObject({ decision: 'skip', state: 'closed' });
  });

  test('C13, S2: all members of a group of the event are affected; a tool of the event does not affect its group', () => {
    const group = { g: ['a', 'b', 'c'], h: ['x', 'y'] };
    const of = (name: 'g' | 'h') => Object.fromEntries(group[name].map((tool) => [tool, { group: name }]));
    const config = { tools: { ...of('g'), ...of('h'), d: {}, viaC: { dependsOn: ['c'] } } };
    const whole = two(config).session;
    failAll(whole, ['a', 'b', 'a']);
    trip(whole, 'd');
    expect(whole.view().systemic?.openings.map(({ tool }) => tool)).toEqual(['group:g', 'd']);
    expect(reasonsOf(whole, 'a', 'b', 'c', 'viaC', 'd', 'x')).toEqual([...Array(5).fill('systemic'), 'closed']);
    const single = two(config).session;
    trip(single, 'x');
    trip(single, 'd');
    expect(reasonsOf(single, 'x', 'd', 'y')).toEqual(['systemic', 'systemic', 'closed']);
  });

  test('S2: a tool that is declared during the event is affected if it depends on one of its tools', () => {
    const { session, box } = two();
    bringDown(session);
    expect(session.acquire('c').reason).toBe('closed');
    box.declare('late', { dependsOn: ['a'] });
    expect(session.acquire('late').reason).toBe('systemic');
  });

  test('R2, S2: an affected alternative is not usable, another one is', () => {
    const tools = { x: { alternatives: [{ tool: 'a' }, { tool: 'c' }] }, a: {}, b: {}, c: {} };
    const { session } = two({ tools });
    session.control('x', 'forced_open');
    expect(session.acquire('x').route).toMatchObject({ tool: 'a' });
    bringDown(session);
    expect(session.acquire('x').route).toMatchObject({ kind: 'alternative', tool: 'c' });
  });

  test('S2: pause all pauses every decision of every session instead', () => {
    const { session, other } = two({ systemic: { pause: 'all' } });
    bringDown(session);
    for (const one of [session, other]) {
      expect(one.acquire('c')).toMatchObject({ decision: 'pause', reason: 'systemic' });
      expect(one.view().state).toBe('paused_systemic');
    }
    session.confirmRecovered();
    expect(other.acquire('c').decision).toBe('call');
  });

  test('C12, S2: an event is emitted and counted once, by the session that detected it', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, other, box } = two({ agent });
    const detected = hear(box, 'systemic.detected');
    const resolved = hear(box, 'systemic.resolved');
    bringDown(session);
    for (const tool of ['a', 'c']) other.acquire(tool);
    other.confirmRecovered();
    for (const tool of ['a', 'c']) session.acquire(tool);
    expect(detected.map(({ session: id }) => id)).toEqual(['run-1']);
    expect(resolved.map(({ session: id, by }) => `${id} ${by}`)).toEqual(['run-2 operator']);
    expect(seriesOf(agent, await scrape(), 'breakerbox_systemic_events_total')).toContain(
      'breakerbox_systemic_events_total{error_type="network",breakerbox_systemic_suspect="network"} 1',
    );
  });
});

describe('C12, S1, S3: openings and charges of sessions that share circuits', () => {
  test('C12, S3: each session pays for its own failures, once', () => {
    const { session, other, box } = two();
    trip(session, 'a');
    trip(other, 'b');
    const third = box.session();
    for (const one of [session, other, third]) one.acquire('c');
    expect([session, other, third].map((one) => one.view().budget.remaining)).toEqual([4, 4, 5]);
  });

  test("B1, C12, S3: an event that another session detected may charge the last failure of this session's budget", () => {
    const { session, other, box } = two({ budget: { failures: 1 } });
    const exhausted = hear(box, 'budget.exhausted');
    trip(box.session({ budget: { failures: 9 } }), 'a');
    failOnce(other, 'b');
    expect(other.view()).toMatchObject({ state: 'active', budget: { remaining: 0, provisional: 1 } });
    failOnce(session, 'b');
    failOnce(box.session(), 'b'); // The event begins.
    expect(other.acquire('c')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
    expect(other.view().budget).toMatchObject({ remaining: 0, provisional: 0 });
    expect(exhausted.filter(({ session: id }) => id === 'run-2')).toHaveLength(1);
  });

  test('C12, S3: a session that saw the first of two events pays for the second too', () => {
    const { session, other } = two({ tools: { a: {}, b: {}, c: {}, d: {} } });
    failOnce(other, 'a');
    bringDown(session);
    failOnce(other, 'c'); // It sees the first event; this tool is not affected.
    expect(other.view().budget.remaining).toBe(3);
    session.confirmRecovered();
    bringDown(session, 'c', 'd');
    other.acquire('d');
    expect(other.explain('c').charges).toMatchObject([{ standing: 'systemic' }]);
    expect(other.view().budget).toMatchObject({ remaining: 3, provisional: 0 });
  });

  test('C1, S2: observed tools are called, and say what the event would have done; the event is not emitted', () => {
    const { session, other, box } = two({ defaults: { mode: 'observe_only' } });
    const told = [...hear(box, 'systemic.detected'), ...hear(box, 'systemic.resolved')];
    bringDown(session);
    expect(other.acquire('a')).toMatchObject({ decision: 'call', reason: 'would_skip', wouldDecide: 'skip' });
    expect(other.acquire('c')).toMatchObject({ decision: 'call', reason: 'closed' });
    expect([session.view().systemic, session.unavailable(), told]).toEqual([undefined, [], []]);
  });

  test('S3: during the event, failures of affected tools under way are free, and failures of other tools are not', () => {
    const { session } = two({ tools: { a: {}, b: {}, c: {}, ui: { dependsOn: ['a'] } } });
    const [other, affected, late] = ['c', 'ui', 'b'].map((tool) => session.acquire(tool));
    bringDown(session);
    expect(session.view().budget.remaining).toBe(4);
    for (const permit of [affected, late]) permit?.settle({ outcome: 'failure', category: 'server' });
    expect(session.peek('ui')?.failures).toBe(1);
    expect(session.view().budget.remaining).toBe(4);
    other?.settle({ outcome: 'failure', category: 'server' });
    expect(session.view().budget.remaining).toBe(3);
  });

  test('S1: during the event, an opening joins if it has its category and is in its window; else it is only listed', () => {
    const { session, box, clock } = two({ tools: { a: {}, b: {}, c: {}, d: {}, e: {} } });
    const eventTools = () => session.view().systemic?.openings.map(({ tool }) => tool);
    bringDown(session);
    trip(session, 'c', 'server');
    expect(eventTools()).toEqual(['a', 'b']);
    expect(session.acquire('c').reason).toBe('open');
    clock.advance(120_000);
    trip(session, 'd');
    expect(eventTools()).toEqual(['a', 'b', 'd']);
    clock.advance(120_001);
    trip(box.session(), 'e');
    expect(eventTools()).toEqual(['a', 'b', 'd']);
  });

  test('C12, S1: a circuit that has closed again, or that an operator controls, is not evidence', () => {
    const { session, other, clock } = two({ systemic: { windowMs: 3_600_000 } });
    trip(session, 'a');
    clock.advance(60_000);
    expect(succeedOnce(other, 'a')).toBe('probe');
    trip(session, 'b');
    session.control('b', 'forced_open');
    trip(other, 'c');
    expect([session, other].map((one) => one.view().systemic)).toEqual([undefined, undefined]);
  });

  test('C12, S1: the steps of a session do not separate failures of other sessions; time does', () => {
    const { session, other } = two();
    trip(session, 'a');
    for (const one of [session, other]) steps(one, 11);
    trip(session, 'b');
    expect(other.acquire('b').reason).toBe('systemic');
    const late = two();
    trip(late.session, 'a');
    late.clock.advance(120_001);
    trip(late.other, 'b');
    expect(late.session.view().systemic).toBeUndefined();
  });

  test('S1, S2: five failures of three tools in different sessions make an event without an open circuit', () => {
    const { session, other, box } = two();
    for (const one of [session, other]) failAll(one, ['a', 'b'], 'server');
    expect(session.view().systemic).toBeUndefined();
    failOnce(box.session(), 'c', 'server');
    expect(reasonsOf(session, 'a', 'b', 'c', 'd')).toEqual(['systemic', 'systemic', 'systemic', 'closed']);
    expect(session.view().circuits.map(({ state }) => state)).toEqual(['closed', 'closed', 'closed']);
  });

  test('E6, S2: the settings of events are checked', () => {
    expect(() => bench({ systemic: { pause: 'affected' } })).toThrow(
      /systemic\.pause: is 'affected', .*Set scope: 'process'/,
    );
    expect(() => bench({ systemic: { recovery: { probeAfterMs: 1_000 } } })).toThrow(
      /probeAfterMs: .*Set scope: 'process'/,
    );
  });
});
