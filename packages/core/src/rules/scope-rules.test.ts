import { logs, metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { report } from '../report/report.ts';
import { planScope } from '../scope/scope.ts';
import { newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, callWith, hear, registerLogs } from './test-support.rules.ts';

afterEach(() => {
  logs.disable();
  metrics.disable();
});

const tools = {
  web: { alternatives: [{ tool: 'news', degradation: 'low', note: 'recent items only' }] },
  news: {},
  orders: { fallback: 'ask the shop' },
  mail: {},
} as const;

const tasks = [
  { name: 'prices', tools: ['web'] },
  { name: 'refund', tools: ['orders', 'mail', 'orders'] },
  { name: 'thanks', tools: ['mail'] },
  { name: 'think', tools: [] },
];

describe('W1: tasks that can be done now', () => {
  test('W1: all tasks are achievable while no tool is unavailable', () => {
    const { session, box } = bench({ tools });
    const reduced = hear(box, 'scope.reduced');
    const plan = planScope(session, tasks);
    expect(plan).toMatchObject({ decision: 'proceed', deferred: [] });
    expect(plan.achievable.map(({ task }) => task)).toEqual(['prices', 'refund', 'thanks', 'think']);
    expect(reduced).toEqual([]);
  });

  test('W1: a task uses an alternative if there is one; a deferred task has its reason, and what would unblock it', () => {
    const { session } = bench({ tools });
    trip(session, 'web');
    session.control('orders', 'forced_open');
    const plan = planScope(session, tasks);
    expect(plan).toMatchObject({
      decision: 'reduce',
      achievable: [
        {
          task: 'prices',
          degraded: [{ tool: 'web', route: { kind: 'alternative', tool: 'news', degradation: 'low' } }],
        },
        { task: 'thanks', degraded: [] },
        { task: 'think', degraded: [] },
      ],
      deferred: [
        {
          task: 'refund',
          blockers: [
            {
              tool: 'orders',
              reason: 'forced_open',
              route: { kind: 'manual', fallback: 'ask the shop' },
              unblock: "an operator switches 'orders' on again",
            },
          ],
        },
      ],
    });
  });

  test('W1: each reason has its own way to unblock a tool', () => {
    const { session } = bench({
      tools: { a: {}, b: { precheck: () => 'unavailable' }, c: {} },
      allowedTools: ['a', 'b'],
    });
    trip(session, 'a');
    const unblocks = () =>
      planScope(session, [{ name: 'all', tools: ['a', 'b', 'c'] }]).deferred.flatMap(({ blockers }) =>
        blockers.map(({ reason, unblock }) => `${reason}: ${unblock}`),
      );
    expect(unblocks()).toEqual([
      "open: a probe of 'a' succeeds (due in about 60 s)",
      "unavailable: the pre-call check of 'b' passes",
      "not_allowed: 'c' is added to allowedTools",
    ]);
    steps(session, 3);
    session.acquire('a');
    expect(unblocks()[0]).toBe("probe_in_flight: the probe for 'a' that is under way succeeds");
  });

  test('W1: a tool that is due for a probe blocks no task, nor does an undeclared one', () => {
    const { session } = bench({ tools });
    trip(session, 'mail');
    steps(session, 3);
    expect(planScope(session, [{ name: 'thanks', tools: ['mail', 'made_up'] }]).decision).toBe('proceed');
    expect(session.acquire('mail').decision).toBe('probe'); // Planning took no probe's place.
  });

  test('W1: a plan without an achievable task is a pause, and a pause of the session defers all tasks', () => {
    const { session } = bench({ tools });
    session.control('orders', 'forced_open');
    expect(planScope(session, [{ name: 'refund', tools: ['orders'] }]).decision).toBe('pause');
    bringDown(session, 'web', 'mail');
    const plan = planScope(session, tasks.slice(0, 3));
    expect(plan).toMatchObject({ decision: 'pause', achievable: [] });
    expect(plan.deferred.map(({ blockers }) => blockers[0]?.unblock)).toEqual(
      tasks.slice(0, 3).map(() => 'a person confirms the recovery: session.confirmRecovered()'),
    );
  });

  test('W1: the loop guard blocks no task, because its arguments are not known', () => {
    const { session } = bench({ tools });
    for (let i = 0; i < 3; i += 1) callWith(session, 'mail', 1, { outcome: 'ignored', category: 'tool_error' });
    expect(planScope(session, [{ name: 'thanks', tools: ['mail'] }]).decision).toBe('proceed');
  });
});

describe('W2: no task is dropped silently', () => {
  test('W2: tasks are counted by their result', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session } = bench({ agent, tools });
    const counted = async () => seriesOf(agent, await scrape(), 'breakerbox_tasks_total');
    expect(await counted()).toEqual([]);
    session.control('orders', 'forced_open');
    planScope(session, tasks);
    planScope(session, tasks);
    expect(await counted()).toEqual([
      'breakerbox_tasks_total{breakerbox_disposition="achievable"} 6',
      'breakerbox_tasks_total{breakerbox_disposition="deferred"} 2',
    ]);
  });

  test('W2: a plan that leaves out a task, or uses a lesser tool, is an event and a log record', () => {
    const records = registerLogs();
    const { session, box } = bench({ tools });
    const reduced = hear(box, 'scope.reduced');
    session.control('orders', 'forced_open');
    const plan = planScope(session, tasks);
    session.control('orders', 'automatic');
    session.control('web', 'forced_open');
    planScope(session, [{ name: 'prices', tools: ['web'] }]);
    expect(reduced.map(({ plan: one }) => one.decision)).toEqual(['reduce', 'proceed']);
    expect(reduced[0]?.plan).toBe(plan);
    const [first, second] = records().filter(({ eventName }) => eventName === 'breakerbox.scope.reduced');
    expect(first).toMatchObject({
      severityText: 'WARN',
      attributes: {
        'breakerbox.scope': 'reduce',
        'breakerbox.tasks': ['refund'],
        'breakerbox.tools': ['orders'],
        'gen_ai.conversation.id': 'run-1',
      },
    });
    expect(second).toMatchObject({ attributes: { 'breakerbox.scope': 'proceed', 'breakerbox.tasks': [] } });
  });

  test('W2: a plan without any achievable task is an error', () => {
    const records = registerLogs();
    const { session } = bench({ tools });
    session.control('orders', 'forced_open');
    planScope(session, [{ name: 'refund', tools: ['orders'] }]);
    expect(records().at(-1)).toMatchObject({ eventName: 'breakerbox.scope.reduced', severityText: 'ERROR' });
  });

  test('W2: each skip, deferral, degradation and label is in the report', () => {
    const { session } = bench({ tools: { ...tools, mail: { labelFreshness: true } } });
    trip(session, 'web');
    session.acquire('web');
    session.control('orders', 'forced_open');
    session.acquire('orders');
    session.acquire('mail').settle({ outcome: 'success', freshness: { verified: false } });
    planScope(session, tasks);
    const { leftOut } = report(session);
    expect(leftOut).toMatchObject([
      { kind: 'deferred', task: 'refund', blockers: [{ tool: 'orders', reason: 'forced_open' }] },
      { kind: 'degraded', task: 'prices', tool: 'web' },
      { kind: 'rejected', tool: 'web', skipped: 1, category: 'network' },
      { kind: 'rejected', tool: 'orders', skipped: 1 },
      { kind: 'label', tool: 'mail', label: 'unverified', times: 1 },
    ]);
  });

  test('W2: each decision of a run is in the report once', () => {
    const { session, box } = bench({ tools });
    const decisions = hear(box, 'decision');
    bringDown(session, 'web', 'mail');
    for (const tool of ['web', 'news', 'made_up']) failOnce(session, tool);
    session.confirmRecovered();
    for (const tool of ['web', 'mail', 'news', 'orders']) succeedOnce(session, tool);
    const told = report(session).tools.reduce(
      (sum, { calls, rejected }) => sum + calls.made + rejected.skipped + rejected.paused,
      0,
    );
    expect(told).toBe(decisions.length);
  });
});
