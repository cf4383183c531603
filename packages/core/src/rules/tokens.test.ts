import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { report } from '../report/report.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, hear, inAnotherProcess, waste } from './test-support.rules.ts';

afterEach(() => metrics.disable());

describe('O4: tokens', () => {
  test('O4: tokens of failed calls are wasted in the metric, the event and the report; other tokens are not', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session, box } = bench({ agent, tools: { a: {} } });
    const outcomes = hear(box, 'outcome');
    waste(session, 'a', 120);
    session.acquire('a').settle({ outcome: 'success', tokens: 1_000 });
    session.acquire('a').settle({ outcome: 'ignored', category: 'tool_error', tokens: 1_000 });
    session.acquire('a').settle({ error: Object.assign(new Error('x'), { code: 'ECONNRESET' }), tokens: 80 });
    expect(outcomes.map(({ outcome, tokens }) => `${outcome} ${tokens}`)).toEqual([
      'failure 120',
      'success 1000',
      'ignored 1000',
      'failure 80',
    ]);
    expect(report(session).tools[0]).toMatchObject({ tokensWasted: 200 });
    expect(seriesOf(agent, await scrape(), 'breakerbox_tokens_wasted_total')).toEqual([
      'breakerbox_tokens_wasted_total{gen_ai_tool_name="a"} 200',
    ]);
  });

  test('O4: a skipped call avoids what failed ones cost on average; a pause avoids nothing', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { session } = bench({ agent, tools: { a: {}, b: {} } });
    for (const tokens of [100, 200, 0]) waste(session, 'a', tokens); // The cost of the third is unknown.
    failOnce(session, 'a');
    failOnce(session, 'a');
    trip(session, 'b');
    session.acquire('a');
    const avoided = seriesOf(agent, await scrape(), 'breakerbox_tokens_avoided_total');
    expect(session.view().state).toBe('paused_systemic');
    expect(avoided).toEqual(['breakerbox_tokens_avoided_total{gen_ai_tool_name="a"} 300']);
  });

  test('O4: a cost that is not a number above 0 is left out', () => {
    const { session } = bench({ budget: { failures: 50, tokens: 100 }, defaults: { failureThreshold: 50 } });
    for (const tokens of [-1, Number.NaN, Number.POSITIVE_INFINITY, '7', null, {}, 0]) {
      session.acquire('a').settle({ outcome: 'failure', tokens } as never);
    }
    expect(session.view().budget).toMatchObject({ remaining: 43, tokensRemaining: 100 });
    expect(report(session).tools[0]?.tokensWasted).toBe(0);
  });
});

describe('B4: the token budget', () => {
  const budget = { failures: 50, tokens: 1_000 };
  const fragile = { budget, defaults: { failureThreshold: 50 } } as const;

  test('B4: at 0 left every tool pauses, with a message about tokens, until resume()', () => {
    const { session, box } = bench(fragile);
    const exhausted = hear(box, 'budget.exhausted');
    waste(session, 'a', 600);
    expect(session.acquire('b').decision).toBe('call');
    waste(session, 'b', 600, 'server');
    for (const tool of ['a', 'c', 'undeclared']) {
      expect(session.acquire(tool)).toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
    }
    expect(session.acquire('c').message).toContain('have used up the token budget for failures');
    expect(exhausted).toHaveLength(1);
    session.resume();
    expect(session.acquire('c').decision).toBe('call');
    expect(session.view().budget).toMatchObject({ cycle: 2, remaining: 50, tokensRemaining: 1_000 });
  });

  test('B4: caution begins if one more failure as expensive as the earlier ones may be the last', () => {
    const { session } = bench(fragile);
    waste(session, 'a', 400);
    expect(session.acquire('a').caution).toBe(false);
    waste(session, 'b', 200, 'server');
    expect(session.acquire('a').caution).toBe(false);
    waste(session, 'c', 150, 'permission'); // 250 are left, and 250 is the mean.
    expect(session.acquire('a')).toMatchObject({ decision: 'call', caution: true, budgetRemaining: 47 });
  });

  test('B4: skips, pauses, successes and ignored outcomes waste nothing', () => {
    const { session } = bench({ budget });
    session.acquire('a').settle({ outcome: 'success', tokens: 5_000 });
    session.acquire('a').settle({ outcome: 'ignored', category: 'denied', tokens: 5_000 });
    trip(session, 'a');
    session.acquire('a').settle({ outcome: 'failure', tokens: 5_000 });
    expect(session.view().budget.tokensRemaining).toBe(1_000);
  });

  test('B4: tokens are never merged: an outage and an event have one charge, but all of their tokens count', () => {
    const { session } = bench({ budget });
    for (let i = 0; i < 3; i += 1) waste(session, 'a', 100);
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 49, tokensRemaining: 700 } });
    for (let i = 0; i < 3; i += 1) waste(session, 'b', 100);
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 49, tokensRemaining: 400 } });
    session.confirmRecovered();
    expect(session.acquire('c').decision).toBe('call');
  });

  test('B3, B4: the tokens of a failed probe count, although it costs no failure', () => {
    const { session } = bench({ budget });
    trip(session, 'a');
    steps(session, 3);
    expect(waste(session, 'a', 600).decision).toBe('probe');
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 49, tokensRemaining: 400 } });
    steps(session, 3);
    waste(session, 'a', 400);
    expect(session.acquire('b')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted', budgetRemaining: 49 });
  });

  test('B1, B4: tokens leave with the window of the budget', () => {
    const { session } = bench({ budget: { ...budget, windowSteps: 4 } });
    session.step();
    waste(session, 'a', 900);
    steps(session, 4);
    expect(session.view().budget.tokensRemaining).toBe(100);
    session.step();
    expect(session.view().budget.tokensRemaining).toBe(1_000);
    waste(session, 'a', 900);
    expect(session.acquire('b').decision).toBe('call');
  });

  test('B4: a session may have its own token budget', () => {
    const { box } = bench({ budget });
    const session = box.session({ budget: { tokens: 10 } });
    waste(session, 'a', 10);
    expect(session.view()).toMatchObject({ state: 'paused_budget', budget: { limit: 50, remaining: 49 } });
  });
});

describe('B5: without circuits', () => {
  const stateless = { scope: 'none' } as const;

  test('B5: every tool is called until the budget is spent, and no tool has a circuit', () => {
    const { session, box } = bench(stateless);
    const transitions = hear(box, 'circuit.transition');
    for (let left = 5; left > 0; left -= 1) {
      const permit = session.acquire('a');
      expect(permit).toMatchObject({ decision: 'call', reason: 'no_circuit', budgetRemaining: left, state: undefined });
      expect(permit.caution).toBe(left === 1);
      permit.settle({ outcome: 'failure', category: 'network' });
    }
    expect(session.acquire('b')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
    session.resume();
    expect(succeedOnce(session, 'a')).toBe('call');
    expect(transitions).toEqual([]);
    expect(session.peek('a')).toBeUndefined();
    expect(session.view().circuits).toEqual([]);
    expect(snapshot(session).circuits).toEqual([]);
  });

  test('B5: no event is systemic, and no charge is provisional', () => {
    const { session } = bench(stateless);
    for (const tool of ['a', 'b', 'c', 'd']) failOnce(session, tool);
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 1, provisional: 0 } });
  });

  test('B5: tokens, allowed list, pre-call checks and loop guard still work', () => {
    const { session } = bench({
      ...stateless,
      tools: { a: {}, b: { precheck: () => 'unavailable' }, c: {} },
      allowedTools: ['a', 'b'],
      budget: { tokens: 100 },
      loopGuard: { repeats: 1 },
    });
    expect(session.acquire('b').reason).toBe('unavailable');
    expect(session.acquire('c').reason).toBe('not_allowed');
    session.acquire('a', { input: 1 }).settle({ outcome: 'failure', tokens: 40 });
    expect(session.acquire('a', { input: 1 }).reason).toBe('repeat');
    waste(session, 'a', 60);
    expect(session.acquire('a').reason).toBe('budget_exhausted');
  });

  test('B5: a configured mode applies', () => {
    const tools = { a: { mode: 'forced_open' }, b: { mode: 'disabled' }, c: { mode: 'observe_only' } } as const;
    const { session } = bench({ ...stateless, tools });
    expect(session.acquire('a').reason).toBe('forced_open');
    failOnce(session, 'b');
    failOnce(session, 'c');
    expect(session.view().budget.consumed).toBe(0);
  });

  test('B5, E7: steps, confirmations and the end are harmless', () => {
    const { session, box } = bench(stateless);
    steps(session, 3);
    session.confirmRecovered();
    bringDown(session);
    const restored = inAnotherProcess(session, box);
    expect(restored.view().state).toBe('paused_budget');
    session.end();
    expect(session.acquire('a').reason).toBe('budget_exhausted');
  });
});
