import { logs } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { operate } from '../control/operator.ts';
import { EVENT_NAMES } from '../events.ts';
import type { Session } from '../index.ts';
import { askForAnswer, beginModelCall } from '../limits/spending.ts';
import { report } from '../report/report.ts';
import { agentSeries } from '../telemetry/otel-binding.ts';
import { ATTR } from '../telemetry/semconv.ts';
import { allSeries } from '../telemetry/series.ts';
import { newAgent } from '../telemetry/test-support.telemetry.ts';
import { bench, succeedOnce, trip } from '../test-support.ts';
import { bringDown, inAnotherProcess, registerLogs } from './test-support.rules.ts';

/** A session with limits, and the events of limits that its box tells. */
const watched = (config: Parameters<typeof bench>[0]) => {
  const agent = newAgent();
  const made = bench({ agent, ...config });
  const told: string[] = [];
  for (const name of EVENT_NAMES) {
    if (!name.startsWith('limit.')) continue;
    made.box.on(name, (event) => {
      if (!('limit' in event) || event.limit === undefined) return;
      const amounts =
        'used' in event ? `${event.used}/${event.size}` : 'from' in event ? `${event.from}>${event.to}` : '';
      const child = 'child' in event && event.child !== undefined ? ` of ${event.child}` : '';
      told.push(`${name} ${event.limit} ${amounts}${child}`);
    });
  }
  const counted = () =>
    Object.fromEntries(
      [...allSeries(agentSeries(agent), 'limits')].map(({ attributes, value }) => [
        `${attributes[ATTR.limit]} ${attributes[ATTR.limitLevel]}`,
        value,
      ]),
    );
  const sessions = () =>
    [...allSeries(agentSeries(agent), 'sessions')].flatMap(({ attributes, value }) =>
      value === 0 ? [] : [`${attributes[ATTR.sessionState]} ${value}`],
    );
  return { ...made, told, counted, sessions };
};

const calls = (session: Session, count: number): void => {
  for (let i = 0; i < count; i += 1) succeedOnce(session, 'a');
};

afterEach(() => logs.disable());

describe('D7: a session that a limit pauses', () => {
  test('D7: view, report and gauge show it, until the limit is extended', () => {
    const { session, sessions } = watched({ limits: { calls: 5 } });
    calls(session, 4);
    expect([session.view().state, sessions()]).toEqual(['active', ['active 1']]);
    calls(session, 1);
    expect([session.view().state, report(session).state]).toEqual(['paused_limit', 'paused_limit']);
    expect(sessions()).toEqual(['paused_limit 1']);
    session.extend('calls', 5);
    expect([session.view().state, sessions()]).toEqual(['active', ['active 1']]);
  });

  test('D7: what failures pause comes first', () => {
    const { session } = watched({ limits: { calls: 6 }, systemic: { pause: 'all' } });
    bringDown(session);
    expect(session.view().state).toBe('paused_systemic');
    session.confirmRecovered();
    expect(session.view().state).toBe('paused_limit');
    const spent = watched({ limits: { calls: 5 }, systemic: false }).session;
    for (const tool of ['a', 'b']) trip(spent, tool);
    expect(spent.view().state).toBe(report(spent).state);
  });

  test('D7: limits that only advise or observe pause nothing', () => {
    const { session, counted, told } = watched({
      limits: { calls: { limit: 5, mode: 'observe' }, steps: { limit: 5, mode: 'advise' } },
    });
    calls(session, 5);
    for (let i = 0; i < 5; i += 1) session.step();
    expect(session.view().state).toBe('active');
    expect(counted()).toEqual({ 'calls observed': 1, 'steps advised': 1, 'steps observed': 1 });
    expect(told).toContain('limit.reached calls 5/5');
  });

  test('D7, C1: while all tools are only observed, a limit pauses nothing, and counts as one that observes', () => {
    const { box, session, counted, told, sessions } = watched({
      limits: { calls: 5 },
      tools: { a: {} },
      defaults: { mode: 'observe_only' },
    });
    const helper = session.child({ id: 'helper', portion: { calls: 1 } });
    calls(helper, 2);
    calls(session, 4);
    expect(session.view()).toMatchObject({ state: 'active', limits: [{ mode: 'observe', level: 'reached' }] });
    expect([helper.view().state, report(session).state]).toEqual(['active', 'active']);
    expect([sessions(), counted()]).toEqual([['active 1'], { 'calls observed': 2 }]);

    session.control('a', 'automatic');
    expect(session.view()).toMatchObject({ state: 'paused_limit', limits: [{ mode: 'pause' }] });
    expect(session.acquire('a').reason).toBe('limit_reached');
    expect(sessions()).toEqual(['paused_limit 1']);
    const { length } = told;
    operate(box).force('a', { mode: 'observe_only', owner: 'operator', reason: 'trial' });
    expect(session.view().state).toBe('active');
    calls(session, 1);
    expect([sessions(), told.slice(length)]).toEqual([['active 1'], ['limit.lifted calls 7/5']]);
  });

  test('D7: the last step is told when it ends, and not lifted', () => {
    const { session, told } = watched({ limits: { steps: 1 } });
    session.step();
    askForAnswer(session);
    calls(session, 2);
    expect([told, session.view().state]).toEqual([[], 'active']);
    session.step();
    expect([told, session.view().state]).toEqual([['limit.reached steps 1/1'], 'paused_limit']);
  });

  test('D7: a limit of a child pauses the child, and not the session above it', () => {
    const { session, told, sessions } = watched({ limits: { calls: 100 } });
    const child = session.child({ id: 'helper', portion: { calls: 2 } });
    calls(child, 2);
    expect([child.view().state, session.view().state]).toEqual(['paused_limit', 'active']);
    expect(sessions()).toEqual(['active 1']);
    expect(told).toEqual(['limit.reached calls 2/2 of helper']);
    child.extend('calls', 1);
    expect(told.slice(1)).toEqual([
      'limit.extended calls 2>3 of helper',
      'limit.extended calls 100>101',
      'limit.lifted calls 2/3 of helper',
    ]);
  });

  test('D7: a restored session shows it, and does not tell it again', () => {
    const { box, session, told, counted, clock } = watched({ limits: { calls: 5 } });
    calls(session, 5);
    const agent = session.agent;
    const later = inAnotherProcess(session, bench({ agent, clock }).box);
    expect(later.view().state).toBe('paused_limit');
    later.acquire('a');
    expect(counted()).toEqual({ 'calls advised': 1, 'calls reached': 1 });
    expect([told.length, box.agent]).toEqual([2, agent]);
  });
});

describe('D7: events of limits', () => {
  test('D7: each level is told once, and is a log record', () => {
    const { session, told, counted } = watched({ limits: { calls: 10 } });
    const records = registerLogs();
    calls(session, 30);
    session.extend('calls', 10);
    calls(session, 30);
    expect(told).toEqual([
      'limit.advised calls 8/10',
      'limit.reached calls 10/10',
      'limit.extended calls 10>20',
      'limit.lifted calls 10/20',
      'limit.advised calls 16/20',
      'limit.reached calls 20/20',
    ]);
    expect(counted()).toEqual({ 'calls advised': 2, 'calls reached': 2 });
    const shown = records().map(({ eventName, severityText, body }) => `${eventName} ${severityText} ${body}`);
    expect(shown.slice(0, 4)).toEqual([
      'breakerbox.limit.advised INFO 80 % of a limit are used: 8 of 10 tool calls',
      'breakerbox.limit.reached WARN A limit of the run is reached: 10 of 10 tool calls, and calls are paused',
      'breakerbox.limit.extended INFO The limit of calls was extended from 10 tool calls to 20 tool calls',
      'breakerbox.limit.lifted INFO A limit of the run is no longer reached: 10 of 20 tool calls',
    ]);
    expect(records()[1]?.attributes).toMatchObject({ [ATTR.limit]: 'calls', [ATTR.limitUsed]: 10 });
  });

  test('D7, D3: what is kept for last answers is told with what is spent', () => {
    const records = registerLogs();
    const { box, session } = bench({ limits: { tokens: 1_000 } });
    const kept: unknown[] = [];
    box.on('limit.reached', (event) => kept.push([event.used, event.kept]));
    const child = session.child();
    beginModelCall(child, 'model:a/b').end({ tokens: 500 }, true);
    session.acquire('a');
    const spent = '500 of 1,000 tokens (500 tokens kept for the last answers of sub-agents)';
    expect(kept).toEqual([[500, 500]]);
    expect(records().map(({ body }) => body)).toContain(
      `A limit of the run is reached: ${spent}, and calls are paused`,
    );
    expect(report(session).headline).toBe(`PAUSED, limit of the run: ${spent}.`);
    child.end();
    expect(session.view().limits?.[0]).not.toHaveProperty('kept');
  });

  test('D7: what calls under way are expected to use is not told, and what was spent is', () => {
    const { session, told, counted, sessions } = watched({ limits: { tokens: 1_000 } });
    beginModelCall(session, 'model:a/b').end({ tokens: 700 }, true);
    const call = beginModelCall(session, 'model:a/b');
    expect(session.acquire('a').reason).toBe('limit_reached');
    expect([told, counted(), sessions()]).toEqual([[], {}, ['active 1']]);
    call.end({ tokens: 150 }, true);
    beginModelCall(session, 'model:a/b');
    expect(told).toEqual(['limit.advised tokens 850/1000']);
    session.spend({ tokens: 150 });
    expect([told.slice(1), sessions()]).toEqual([['limit.reached tokens 1000/1000'], ['paused_limit 1']]);
    expect(counted()).toEqual({ 'tokens advised': 1, 'tokens reached': 1 });
  });

  test('D7: what the program spends is told at once, time at the next use', () => {
    const { session, told, clock } = watched({ limits: { tokens: 100, durationMs: 100_000 } });
    session.spend({ tokens: 80 });
    clock.advance(95_000);
    expect(session.view().state).toBe('paused_limit');
    expect(told).toEqual(['limit.advised tokens 80/100']);
    session.step();
    expect(told).toEqual(['limit.advised tokens 80/100', 'limit.reached durationMs 95000/90000']);
  });

  test('D7: a session without limits has no series and no events of them', () => {
    const { session, told, counted, sessions } = watched({});
    calls(session, 50);
    session.spend({ tokens: 1e6 });
    expect([told, counted(), sessions()]).toEqual([[], {}, ['active 1']]);
  });
});

describe('D7: what is spent', () => {
  /** What the metrics count for an agent. */
  const spentBy = (agent: string) => {
    const all: Record<string, number> = {};
    for (const name of ['spentCalls', 'spentTokens', 'spentCost'] as const)
      for (const { attributes, value } of allSeries(agentSeries(agent), name))
        all[[name, attributes[ATTR.currency]].filter(Boolean).join(' ')] = value;
    return all;
  };

  test('D7: calls, tokens and money of a run and of its children count once, in the currency of the limit', () => {
    const { session } = watched({ limits: { calls: 100, cost: { amount: 5, currency: 'EUR' } } });
    const permit = session.acquire('a');
    const child = session.child({ id: 'helper', call: permit });
    child.acquire('b').settle({ outcome: 'success', tokens: 30, cost: 0.25 });
    permit.settle({ outcome: 'success', tokens: 1_000, cost: 9 }); // The child has counted itself.
    session.spend({ tokens: 70, cost: 0.5 });
    beginModelCall(session, 'model:a/b', 500).end({ tokens: 400, cost: 0.125, currency: 'USD' }, true);
    expect(spentBy(session.agent)).toEqual({
      spentCalls: 2,
      spentTokens: 500,
      'spentCost EUR': 0.75,
      'spentCost USD': 0.125,
    });
  });

  test('D7, D3: a failed call of unknown cost counts its estimate', () => {
    const { session } = watched({ limits: { tokens: 1_000 } });
    session.acquire('a').settle({ outcome: 'success', tokens: 40 });
    session.acquire('a').settle({ outcome: 'failure', category: 'network' });
    expect(spentBy(session.agent)).toEqual({ spentCalls: 2, spentTokens: 80 });
    expect(session.view().limits?.[0]?.used).toBe(80);
  });

  test('D7: without limits, only what is reported counts', () => {
    const { session } = watched({});
    calls(session, 3);
    expect(spentBy(session.agent)).toEqual({});
    session.spend({ tokens: Number.NaN, cost: -1 });
    expect(spentBy(session.agent)).toEqual({});
    session.spend({ tokens: 10, cost: 0.5 });
    session.acquire('a').settle({ outcome: 'failure', category: 'network', tokens: 5 });
    beginModelCall(session, 'model:a/b').end({ tokens: 1, cost: 0.25, currency: 'USD' }, true);
    expect(spentBy(session.agent)).toEqual({ spentTokens: 16, spentCost: 0.5, 'spentCost USD': 0.25 });
  });
});
