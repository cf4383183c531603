import { logs, metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { report } from '../report/report.ts';
import { newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, succeedOnce, trip, UNIX_START } from '../test-support.ts';
import { bringDown, hear, registerLogs } from './test-support.rules.ts';

afterEach(() => {
  logs.disable();
  metrics.disable();
});

const onGateway = {
  a: { dependsOn: ['gateway'] },
  b: { dependsOn: ['proxy'] },
  proxy: { dependsOn: ['gateway'] },
  c: {},
};

describe('S4: content of a systemic event', () => {
  test('S4: event, message, report and log record have the shared dependency of the tools', () => {
    const records = registerLogs();
    const { session, box } = bench({ tools: onGateway });
    const detected = hear(box, 'systemic.detected');
    bringDown(session);
    expect(detected.map(({ event }) => event)).toMatchObject([
      {
        category: 'network',
        layer: 'dependency',
        dependency: 'gateway',
        openings: [
          { tool: 'a', category: 'network', unixMs: UNIX_START + 1_000 },
          { tool: 'b', category: 'network', unixMs: UNIX_START + 1_000 },
        ],
      },
    ]);
    expect(session.acquire('c').message).toContain(
      "'a' and 'b' failed in the same way (network); the cause is probably 'gateway', the dependency that they share.",
    );
    expect(report(session).systemic).toMatchObject({
      category: 'network',
      layer: 'dependency',
      dependency: 'gateway',
    });
    const record = records().find(({ eventName }) => eventName === 'breakerbox.systemic.detected');
    expect(record?.attributes).toMatchObject({
      'breakerbox.systemic.layer': 'dependency',
      'breakerbox.systemic.dependency': 'gateway',
      'breakerbox.tools': ['a', 'b'],
    });
  });

  test('S4: a tool that the others depend on is itself named', () => {
    const { session } = bench({ tools: onGateway });
    bringDown(session, 'b', 'proxy');
    expect(session.view().systemic).toMatchObject({ layer: 'dependency', dependency: 'proxy' });
  });

  test('S4: without a shared dependency the category suggests a layer; three different categories suggest no layer', () => {
    const { session } = bench({ budget: { failures: 50 } });
    bringDown(session);
    expect(session.view().systemic).toMatchObject({ layer: 'network', dependency: undefined });
    const mixed = bench({ budget: { failures: 50 } }).session;
    for (const [tool, category] of [
      ['a', 'network'],
      ['b', 'server'],
      ['c', 'permission'],
    ] as const) {
      trip(mixed, tool, category);
    }
    expect(mixed.view().systemic).toMatchObject({ category: undefined, layer: 'unknown' });
  });
});

describe('S5: end of an event', () => {
  test('S5: an event ends when a person confirms it, once, and only if there is one', () => {
    const records = registerLogs();
    const { session, box } = bench();
    const resolved = hear(box, 'systemic.resolved');
    session.confirmRecovered();
    bringDown(session);
    session.confirmRecovered();
    session.confirmRecovered();
    expect(resolved.map(({ by }) => by)).toEqual(['operator']);
    expect(records().at(-1)?.attributes).toMatchObject({ 'breakerbox.systemic.resolved_by': 'operator' });
  });

  test('S5: it ends some time after the last circuit that joined, at the next use of the session', () => {
    const records = registerLogs();
    const { session, box, clock } = bench({ systemic: { recovery: { afterMs: 600_000 } } });
    const resolved = hear(box, 'systemic.resolved');
    const late = [session.acquire('c'), session.acquire('c'), session.acquire('c')];
    bringDown(session);
    clock.advance(500_000);
    for (const one of late) one.settle({ outcome: 'failure', category: 'network' });
    expect(session.view().systemic?.openings.map(({ tool }) => tool)).toEqual(['a', 'b', 'c']);
    clock.advance(599_999);
    expect(session.acquire('d').decision).toBe('pause');
    clock.advance(1);
    expect(session.view().state).toBe('active'); // What the next decision will find; looking tells no listener (C11).
    expect(resolved).toEqual([]);
    expect(session.acquire('d').decision).toBe('call');
    expect(session.acquire('a').decision).toBe('skip');
    expect(resolved.map(({ by }) => by)).toEqual(['time']);
    expect(records().at(-1)?.attributes).toMatchObject({ 'breakerbox.systemic.resolved_by': 'time' });
  });

  test('B1, S5: the use that ends it finds the charges that have left the window', () => {
    const { session, clock } = bench({
      systemic: { recovery: { afterMs: 50_000 } },
      tools: { a: {}, b: {}, c: {}, d: {}, e: {} },
    });
    for (const tool of ['c', 'd', 'e']) {
      failOnce(session, tool, 'server');
      succeedOnce(session, tool);
    }
    bringDown(session);
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 1 } });
    clock.advance(900_000);
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 5 } });
    expect(session.acquire('d')).toMatchObject({ decision: 'call', budgetRemaining: 5, caution: false });
  });

  test('S5: it ends when a health check passes, which runs no more often than allowed', () => {
    const healthCheck = vi.fn<() => boolean>(() => false);
    const { session, box, clock } = bench({ systemic: { recovery: { healthCheck, everyMs: 5_000 } } });
    const resolved = hear(box, 'systemic.resolved');
    bringDown(session);
    for (let i = 0; i < 10; i += 1) session.acquire('c');
    expect(healthCheck).toHaveBeenCalledTimes(1);
    healthCheck.mockReturnValue(true);
    clock.advance(4_999);
    expect(session.acquire('c').decision).toBe('pause');
    clock.advance(1);
    expect(session.acquire('c').decision).toBe('call');
    expect(healthCheck).toHaveBeenCalledTimes(2);
    expect(resolved.map(({ by }) => by)).toEqual(['health_check']);
  });

  test('S5: a check that takes time counts from the next use on; one that fails or throws does not end the event', async () => {
    const answers: ((healthy: boolean) => void)[] = [];
    const { session, clock } = bench({
      systemic: { recovery: { healthCheck: () => new Promise((resolve) => answers.push(resolve)), everyMs: 1 } },
    });
    bringDown(session);
    expect(session.acquire('c').decision).toBe('pause');
    answers[0]?.(false);
    await Promise.resolve();
    clock.advance(1);
    expect(session.acquire('c').decision).toBe('pause');
    answers[1]?.(true);
    await Promise.resolve();
    await Promise.resolve();
    expect(session.acquire('c').decision).toBe('call');
  });

  test('S5, P3: after the end probing begins again, and scores of pre-call checks are forgotten', () => {
    const precheck = vi.fn(() => 'available' as const);
    const { session } = bench({ tools: { a: {}, b: {}, c: { precheck } } });
    session.acquire('c');
    expect(precheck).toHaveBeenCalledTimes(1);
    steps(session, 2);
    bringDown(session);
    session.acquire('c');
    expect(precheck).toHaveBeenCalledTimes(1); // A pause runs no check.
    session.confirmRecovered();
    session.acquire('c');
    expect(precheck).toHaveBeenCalledTimes(2);
    expect(session.view().circuits.map(({ nextProbe }) => nextProbe?.steps)).toEqual([undefined, 3, 4]);
  });

  test('S5: a spent budget still needs its own resume()', () => {
    const { session } = bench({ budget: { failures: 1 } });
    const calls = ['a', 'a', 'a', 'b', 'b', 'b'].map((tool) => session.acquire(tool));
    for (const call of calls) call.settle({ outcome: 'failure', category: 'network' });
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 0 } });
    expect(report(session).next.join(' ')).toContain('Then call session.resume() too');
    session.confirmRecovered();
    expect(session.acquire('c').reason).toBe('budget_exhausted');
    session.resume();
    expect(session.acquire('c').decision).toBe('call');
  });

  test('S5: an end by time is counted once, and a new event may follow', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, clock } = bench({ agent, systemic: { recovery: { afterMs: 1_000 } }, budget: { failures: 50 } });
    bringDown(session);
    clock.advance(1_000);
    trip(session, 'c');
    trip(session, 'd');
    expect(session.view().state).toBe('paused_systemic');
    failOnce(session, 'a');
    const events = seriesOf(agent, await scrape(), 'breakerbox_systemic_events_total');
    expect(events).toContain(
      'breakerbox_systemic_events_total{error_type="network",breakerbox_systemic_suspect="network"} 2',
    );
  });
});
