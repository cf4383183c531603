import { describe, expect, test } from 'vitest';
import { reconfigure } from '../control/reconfigure.ts';
import { createBreakerbox } from '../index.ts';
import { askForAnswer, beginModelCall } from '../limits/spending.ts';
import { callDeadline } from '../permit.ts';
import { formatReport } from '../report/format.ts';
import { report } from '../report/report.ts';
import { planScope } from '../scope/scope.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip, watchWarnings } from '../test-support.ts';
import { bringDown, inAnotherProcess } from './test-support.rules.ts';

const OK = { outcome: 'success' } as const;

/** Successful calls, and how many were made. */
const callTimes = (session: ReturnType<typeof bench>['session'], times: number): number => {
  let made = 0;
  for (let i = 0; i < times; i += 1) if (succeedOnce(session, 'a') === 'call') made += 1;
  return made;
};

describe('D2: limits of a run', () => {
  test('D2: 14,000 successful calls are advised at 80 %, paused at 100 %, and go on once the limit is extended', () => {
    const { session } = bench({ limits: { calls: 14_000 } });
    expect(callTimes(session, 11_199)).toBe(11_199);
    expect(session.note()).toBe('');
    const first = session.acquire('a');
    expect(first).toMatchObject({ decision: 'call', reason: 'closed', caution: true, message: '' });
    expect(first.note).toBe(
      'This run has used 11,200 of 14,000 tool calls. Finish what you have begun with what is left, and begin nothing new.',
    );
    first.settle(OK);
    expect(session.acquire('a')).toMatchObject({ caution: true, note: '' }); // Once is enough beside a result.
    expect(session.note()).toContain('11,201 of 14,000 tool calls');
    expect(callTimes(session, 5_000)).toBe(2_799);
    const paused = session.acquire('b');
    expect(paused).toMatchObject({ decision: 'pause', reason: 'limit_reached', state: 'closed', budgetRemaining: 5 });
    expect(paused.message).toBe(
      'Tool calls are paused: this run has used 14,000 of 14,000 tool calls. Do not call any tools, including ones that still work. ' +
        'Report what is done, what is not done and why. Say that a person can extend the limit. [breakerbox:not-called]',
    );
    session.resume();
    expect(session.acquire('a').reason).toBe('limit_reached');
    expect(session.extend('calls', 1_000)).toEqual([{ session: 'run-1', from: 14_000, to: 15_000 }]);
    expect(session.acquire('a').note).toContain('14,001 of 15,000 tool calls');
    expect(callTimes(session, 5_000)).toBe(999);
  });

  test('D2: without limits, nothing is counted and nothing advised', () => {
    const { session } = bench();
    session.spend({ tokens: 1e9, cost: 1e9 });
    expect(session.acquire('a')).toMatchObject({ reason: 'closed', caution: false, note: '' });
    expect(session.view()).not.toHaveProperty('limits');
    expect(() => session.extend('tokens', 5)).toThrow('the session has no limit of tokens');
  });

  test('D2: skipped and paused calls, and calls under way, use nothing more', () => {
    const { session } = bench({ limits: { calls: 5 }, loopGuard: false });
    trip(session, 'a');
    for (let i = 0; i < 5; i += 1) expect(session.acquire('a').reason).toBe('open');
    const parallel = Array.from({ length: 10 }, () => session.acquire('b').reason);
    expect(parallel.filter((reason) => reason === 'closed')).toHaveLength(2);
    expect(session.view().limits).toMatchObject([{ limit: 'calls', used: 5, size: 5, level: 'reached' }]);
  });

  test('D2: a step counts from its first call, and is told when it ends', () => {
    const { session } = bench({ limits: { steps: 10 } });
    expect(session.acquire('a').caution).toBe(false);
    steps(session, 6);
    expect(session.acquire('a').caution).toBe(false);
    steps(session, 2);
    expect(session.acquire('a').note).toContain('8 of 10 turns');
    steps(session, 1);
    for (let i = 0; i < 3; i += 1) expect(session.acquire('a').reason).toBe('closed'); // All in the tenth step.
    expect(session.view().limits).toMatchObject([{ used: 10, underWay: 1, level: 'advised' }]);
    steps(session, 1);
    expect(session.acquire('a').reason).toBe('limit_reached');
    steps(session, 5); // Turns in which the model reads that, and answers.
    expect(session.view().limits).toMatchObject([{ used: 10, underWay: 0, level: 'reached' }]);
  });

  test.each(['before', 'after'].flatMap((when) => [true, false].map((isGuarded) => ({ when, isGuarded }))))(
    'D2: a turn is one step, with step() $when it, guarded model: $isGuarded',
    ({ when, isGuarded }) => {
      const { session } = bench({ limits: { steps: 4 } });
      for (let turn = 1; turn <= 4; turn += 1) {
        if (when === 'before') session.step();
        if (isGuarded) expect(askForAnswer(session)?.limit).toBeUndefined();
        for (let i = 0; i < 2; i += 1) expect(session.acquire('a').reason).toBe('closed');
        expect(session.view().limits).toMatchObject([{ used: turn, underWay: 1 }]);
        expect(session.view().state).toBe('active');
        if (when === 'after') session.step();
      }
      if (when === 'before') session.step();
      expect(session.view()).toMatchObject({
        state: 'paused_limit',
        limits: [{ used: 4, underWay: 0, level: 'reached' }],
      });
      expect(session.acquire('a').reason).toBe('limit_reached');
    },
  );

  test('D2: with step() before turns, one without a call counts from its beginning; after them, when it ends', () => {
    const before = bench({ limits: { steps: 9 } }).session;
    steps(before, 3);
    succeedOnce(before, 'a');
    expect(before.view().limits).toMatchObject([{ used: 3, underWay: 1 }]);
    const after = bench({ limits: { steps: 9 } }).session;
    succeedOnce(after, 'a');
    steps(after, 3);
    expect(after.view().limits).toMatchObject([{ used: 3, underWay: 0 }]);
    succeedOnce(after, 'a');
    expect(after.view().limits).toMatchObject([{ used: 4, underWay: 1 }]);
  });

  test.each(['before', 'after'])('C11, D2: a turn with step() %s it is one step, also if it is restored', (when) => {
    const { session, box } = bench({ limits: { steps: 9 } });
    let latest = session;
    for (let turn = 1; turn <= 3; turn += 1) {
      if (when === 'before') latest.step();
      latest = inAnotherProcess(latest, box);
      succeedOnce(latest, 'a');
      latest = inAnotherProcess(latest, box);
      expect(latest.view().limits).toMatchObject([{ used: turn, underWay: 1 }]);
      if (when === 'after') latest.step();
    }
  });

  test('D2: each limit has a mode', () => {
    const observed = bench({ limits: { calls: { limit: 2, mode: 'observe' } } }).session;
    expect(callTimes(observed, 10)).toBe(10);
    expect(observed.acquire('a')).toMatchObject({ caution: false, note: '' });
    expect(observed.view().limits).toMatchObject([{ mode: 'observe', used: 11, size: 2, level: 'reached' }]);
    const advised = bench({ limits: { calls: { limit: 2, mode: 'advise' } } }).session;
    expect(callTimes(advised, 10)).toBe(10);
    expect(advised.acquire('a').caution).toBe(true);
    expect(advised.note()).toContain('11 of 2 tool calls');
  });

  test('C1, D2: while all tools are only observed, steps count beyond the limit', () => {
    const { session } = bench({ defaults: { mode: 'observe_only' }, tools: { a: {} }, limits: { steps: 3 } });
    for (let turn = 1; turn <= 10; turn += 1) {
      session.step();
      expect(session.acquire('a').decision).toBe('call');
    }
    expect(session.view().limits).toMatchObject([{ used: 10, mode: 'observe', level: 'reached' }]);
  });

  test('D2: a session replaces single limits of its box', () => {
    const { box } = bench({ limits: { calls: 2, steps: 3 } });
    const session = box.session({ id: 'own', limits: { calls: 4 } });
    expect(session.view().limits?.map(({ limit, size }) => [limit, size])).toEqual([
      ['calls', 4],
      ['steps', 3],
    ]);
  });

  test('A10, D2: changed limits are for sessions that begin later, and the size of trees is fixed', () => {
    const { box, session } = bench({ limits: { calls: 2 } });
    reconfigure(box, (config) => ({ ...config, limits: { calls: 3 } }));
    expect(callTimes(session, 9)).toBe(2);
    expect(callTimes(box.session({ id: 'later' }), 9)).toBe(3);
    expect(() => reconfigure(box, (config) => ({ ...config, maxDepth: 2 }))).toThrow('maxDepth');
  });

  test('D2: of the pauses, an event comes first, then the budget, then a limit', () => {
    const systemic = bench({ limits: { calls: 6 }, systemic: { sameCategory: 2 } }).session;
    bringDown(systemic);
    expect(systemic.acquire('c').reason).toBe('systemic');
    systemic.confirmRecovered();
    expect(systemic.acquire('c').reason).toBe('limit_reached');
    const budget = bench({ limits: { calls: 1 }, budget: { failures: 1 }, tools: {} }).session;
    failOnce(budget, 'x');
    expect(budget.acquire('x').reason).toBe('budget_exhausted');
    budget.resume();
    expect(budget.acquire('x').reason).toBe('limit_reached');
  });

  test('D2: where an event only skips its tools, a limit comes before it', () => {
    const { session } = bench({ limits: { calls: 6 }, scope: 'process', systemic: { sameCategory: 2 } });
    bringDown(session);
    expect(session.acquire('a')).toMatchObject({ decision: 'pause', reason: 'limit_reached' });
    session.extend('calls', 1);
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'systemic' });
  });

  test('D2: a limit rejects probes, and calls of tools that are switched off; one that is only observed is let through', () => {
    const { session } = bench({
      limits: { calls: 3 },
      tools: { a: {}, off: { mode: 'forced_open' }, free: { mode: 'disabled' }, seen: { mode: 'observe_only' } },
    });
    trip(session, 'a');
    steps(session, 3);
    for (const tool of ['a', 'off', 'free']) expect(session.acquire(tool).reason).toBe('limit_reached');
    expect(session.acquire('seen')).toMatchObject({ decision: 'call', reason: 'would_pause', wouldDecide: 'pause' });
    expect(session.view().limits).toMatchObject([{ used: 4, size: 3 }]);
  });

  test('C11, D2: explain and unavailable say what the limit decides, and change nothing', () => {
    const { session } = bench({ limits: { calls: 1 } });
    expect(session.explain('a').reason).toBe('closed');
    succeedOnce(session, 'a');
    expect(session.explain('a')).toMatchObject({ reason: 'limit_reached', rejectedBy: 'limits', decision: 'pause' });
    expect(session.explain('a').text).toContain('1 of 1 tool calls');
    expect(session.unavailable()).toEqual(['a', 'b', 'c', 'd']);
    expect(session.note()).toContain('Tool calls are paused: this run has used 1 of 1 tool calls.');
  });

  test('D2, R5: a call that fails and reaches the limit says so at once', () => {
    const { session } = bench({ limits: { calls: 1 } });
    const permit = session.acquire('a');
    permit.settle({ outcome: 'failure', category: 'network' });
    expect(permit.message).toMatch(/^Tool calls are paused: this run has used 1 of 1 tool calls\. Call no more tools/);
  });

  test('D2: budget: false and limits go together', () => {
    const { session } = bench({ budget: false, systemic: false, limits: { calls: 30 }, tools: {} });
    for (let i = 0; i < 30; i += 1) failOnce(session, 'x');
    expect(session.acquire('x').reason).toBe('limit_reached');
  });
});

describe('D3: what a run spends', () => {
  test('D3: tokens and money of calls and models count, successful ones too', () => {
    const { session } = bench({ limits: { tokens: 1_000, cost: { amount: 2, currency: 'EUR' } } });
    session.acquire('a').settle({ ...OK, tokens: 300, cost: 0.5 });
    session.spend({ tokens: 520, cost: 1.2 });
    expect(session.view().limits).toMatchObject([
      { limit: 'tokens', used: 820, level: 'advised' },
      { limit: 'cost', used: 1.7, currency: 'EUR', level: 'advised' },
    ]);
    expect(session.acquire('b').note).toContain('820 of 1,000 tokens, and 1.7 of 2 EUR');
    session.spend({ cost: 0.3 });
    expect(session.acquire('b').message).toContain('this run has used 2 of 2 EUR.');
  });

  test('D3: sums of money are exact', () => {
    const { session } = bench({ limits: { cost: { amount: 1, currency: 'USD' } } });
    const child = session.child({ portion: 0.7 });
    for (let i = 0; i < 7; i += 1) child.spend({ cost: 0.1 });
    child.end();
    for (let i = 0; i < 3; i += 1) session.spend({ cost: 0.1 });
    expect(session.view().limits).toMatchObject([{ used: 1, reserved: 0, level: 'reached' }]);
  });

  test('D3: sizes of limits of money are exact', () => {
    const { session } = bench({ limits: { cost: { amount: 0.1, currency: 'USD' } } });
    session.extend('cost', 0.2);
    session.spend({ cost: 0.1 });
    session.spend({ cost: 0.2 });
    expect(session.acquire('a').reason).toBe('limit_reached');
    const parent = bench({ limits: { cost: { amount: 3, currency: 'USD' } } }).session;
    const child = parent.child({ portion: 0.1 });
    child.spend({ cost: 0.1 });
    child.spend({ cost: 0.2 });
    expect(child.acquire('a').reason).toBe('limit_reached');
  });

  test('D3: a call under way counts what one of the last 20 used at most, and the pause lifts once that is too much', () => {
    const { session } = bench({ limits: { tokens: 1_000 } });
    session.acquire('a').settle({ ...OK, tokens: 400 });
    const under = session.acquire('a');
    expect(session.view().limits).toMatchObject([{ used: 800 }]);
    expect(session.acquire('b').reason).toBe('closed'); // It has never used a token.
    expect(session.acquire('a').reason).toBe('closed'); // The last one counts what is left.
    expect(session.acquire('a').message).toContain(
      'this run has used 400 of 1,000 tokens, and calls under way are expected to use the rest.',
    );
    expect(session.acquire('b').reason).toBe('limit_reached');
    under.settle({ ...OK, tokens: 10 });
    expect(session.view().limits).toMatchObject([{ used: 610 }]);
    expect(session.acquire('a').reason).toBe('closed');
  });

  test('D2, D3: an estimate that is too high advises no model', () => {
    const { session } = bench({ limits: { tokens: 100 } });
    session.acquire('a').settle({ ...OK, tokens: 50 });
    const high = session.acquire('a');
    expect(high).toMatchObject({ caution: true, note: '' });
    expect([session.note(), session.unavailable()]).toEqual(['', []]);
    high.settle({ ...OK, tokens: 1 });
    session.acquire('b').settle({ ...OK, tokens: 29 });
    expect(session.acquire('c').note).toContain('This run has used 80 of 100 tokens.');
  });

  test('D3: a call that only estimates pause may be made again, and a limit that is used up comes first', () => {
    const { session } = bench({ tools: { a: {} }, limits: { tokens: 100, durationMs: 60_000, steps: 2 } });
    session.acquire('a').settle({ ...OK, tokens: 50 });
    const failing = session.acquire('b');
    session.acquire('a');
    expect(session.acquire('a').message).toBe(
      'Tool calls are paused: this run has used 50 of 100 tokens, and calls under way are expected to use the rest. ' +
        'Try again in your next turn, or finish with what you have. [breakerbox:not-called]',
    );
    expect(planScope(session, [{ name: 'list', tools: ['a'] }]).decision).toBe('proceed');
    failing.settle({ outcome: 'failure', category: 'network' });
    expect(failing.message).toBe('');
    steps(session, 2);
    expect(session.acquire('a').message).toContain('this run has used 2 of 2 turns. Do not call any tools');
  });

  test('C1, D2: while tools are only observed, the model reads nothing of limits', () => {
    const seen = { mode: 'observe_only' } as const;
    for (const { session } of [
      bench({ limits: { calls: 2 }, tools: { a: seen } }),
      bench({ limits: { calls: 2 }, defaults: seen, tools: {} }),
    ]) {
      for (let i = 0; i < 4; i += 1) expect(session.acquire('a')).toMatchObject({ decision: 'call', note: '' });
      expect(session.note()).toBe('');
    }
    const { session } = bench({ limits: { calls: 5 }, tools: { a: seen, b: {} } });
    callTimes(session, 4);
    expect(session.note()).toContain('4 of 5 tool calls');
    expect(session.acquire('b').note).toContain('5 of 5 tool calls');
  });

  test('D2: what is not used up does not read as if it were', () => {
    const { session, clock } = bench({
      limits: { tokens: 1_000, cost: { amount: 5, currency: 'USD' }, durationMs: 8_000_000 },
    });
    session.spend({ tokens: 999.6, cost: 4.999 });
    clock.advance(7_199_000);
    expect(session.note()).toContain('999 of 1,000 tokens, and 4.999 of 5 USD, and 7199 s of 2 h.');
  });

  test('D2: a note beside a pause, or about the last of a limit, promises nothing', () => {
    const { session } = bench({ limits: { calls: 5 } });
    callTimes(session, 3);
    expect(session.acquire('a').note).toContain('with what is left');
    callTimes(session, 1);
    expect(session.note()).toMatch(/^Tool calls are paused: this run has used 5 of 5 tool calls\./);
    const advised = bench({ limits: { calls: { limit: 2, mode: 'advise' } } }).session;
    callTimes(advised, 2);
    expect(advised.note()).toBe('This run has used 2 of 2 tool calls. Finish now, and begin nothing new.');
    const child = bench({ limits: { calls: 5 } }).session.child({ portion: 0.1 });
    expect(child.acquire('a').message).toContain('this run was given no tool calls.');
  });

  test('D2: a part of a cent is told as such', () => {
    const { session } = bench({ limits: { cost: { amount: 0.004, currency: 'USD' } } });
    session.spend({ cost: 0.0039 });
    expect(session.note()).toContain('0.0039 of 0.004 USD');
  });

  test('D3: estimates forget what is older than 20 calls', () => {
    const { session } = bench({ limits: { tokens: 1_000 } });
    session.acquire('a').settle({ ...OK, tokens: 500 });
    for (let i = 0; i < 20; i += 1) session.acquire('a').settle({ ...OK, tokens: 1 });
    session.acquire('a');
    expect(session.view().limits).toMatchObject([{ used: 521 }]);
  });

  test('D3: a call that failed and does not say what it used keeps its estimate', () => {
    const { session } = bench({ limits: { tokens: 1_000 } });
    session.acquire('a').settle({ ...OK, tokens: 100 });
    session.acquire('a').settle({ outcome: 'failure', category: 'network' });
    session.acquire('a').settle(OK);
    session.acquire('a').settle({ outcome: 'failure', category: 'network', tokens: 7 });
    expect(session.view().limits).toMatchObject([{ used: 207, estimated: 100 }]);
  });

  test('D3: a call of a model counts 2 % of the limit, or its most output, until it says what it used', () => {
    const { session } = bench({ limits: { tokens: 10_000, cost: { amount: 5, currency: 'USD' } } });
    const first = beginModelCall(session, 'model:a/b', 50);
    const other = beginModelCall(session, 'model:a/c', 3_000);
    expect(session.view().limits).toMatchObject([{ used: 250 }, { used: 0.2 }]);
    first?.end({ tokens: 800, cost: 0.01 }, true);
    other?.end({}, false); // It failed, and what it cost is unknown.
    expect(session.view().limits).toMatchObject([{ used: 1_000, estimated: 200 }, { estimated: 0.1 }]);
    beginModelCall(session, 'model:a/b', 50);
    expect(session.view().limits).toMatchObject([{ used: 1_800 }, {}]);
    expect(beginModelCall(bench().session, 'model:a/b').end({ tokens: 5 }, true)).toBeUndefined();
  });

  test('D3: a run that has spent nothing is not paused by guesses, however many models are asked', () => {
    const { session } = bench({ limits: { tokens: 300, cost: { amount: 0.01, currency: 'USD' } } });
    for (let i = 0; i < 200; i += 1) beginModelCall(session, `model:a/${i}`, 4_096);
    expect(session.acquire('a').decision).toBe('call');
    expect(session.view()).toMatchObject({ state: 'active', limits: [{ level: undefined }, { level: undefined }] });
  });

  test('D2, D3: calls under way that are expected to use the rest stop no model', () => {
    const { session } = bench({ limits: { tokens: 1_000 } });
    const asked = () => askForAnswer(session)?.limit?.limit;
    beginModelCall(session, 'model:a/b').end({ tokens: 600 }, true);
    const call = beginModelCall(session, 'model:a/b');
    expect(session.acquire('a').reason).toBe('limit_reached');
    expect([asked(), asked()]).toEqual([undefined, undefined]);
    call.end({ tokens: 100 }, true);
    expect([asked(), asked()]).toEqual([undefined, undefined]);
    session.spend({ tokens: 300 });
    expect([asked(), asked()]).toEqual([undefined, 'tokens']);
  });

  test('D3: the estimate of a call that is not over after 10 minutes counts as spent, until the call says what it used', () => {
    const { session, clock } = bench({ limits: { tokens: 1_000 } });
    session.acquire('a').settle({ outcome: 'success', tokens: 500 });
    const hung = session.acquire('a');
    expect([session.acquire('b').reason, session.view().state]).toEqual(['limit_reached', 'active']);
    expect(formatReport(report(session))).toContain('1,000 of 1,000 tokens (500 expected of calls under way).');
    const limit = () => session.view().limits?.[0];
    clock.advance(599_999);
    expect(limit()).toMatchObject({ used: 1_000, underWay: 500, estimated: 0 });
    clock.advance(1);
    expect([session.view().state, limit()?.underWay, limit()?.estimated]).toEqual(['paused_limit', 0, 500]);
    expect(session.acquire('b').message).toContain('this run has used 1,000 of 1,000 tokens.');
    expect(formatReport(report(session))).toContain('1,000 of 1,000 tokens (reached, 500 estimated).');
    hung.settle({ outcome: 'success', tokens: 100 });
    expect([session.view().state, limit()?.used, limit()?.estimated]).toEqual(['active', 600, 0]);
  });

  test('D3, E6: spend() says what is wrong', () => {
    const { session } = bench();
    const spend = session.spend.bind(session) as (usage?: unknown) => void;
    expect(() => spend()).toThrow('session.spend(): that does not say what was used. Give tokens, cost or both');
    expect(() => spend(500)).toThrow('session.spend(500): ');
  });

  test('D3: letters of a currency may be small', () => {
    const { session } = bench({ limits: { cost: { amount: 5, currency: 'usd' } } });
    beginModelCall(session, 'model:a/b').end({ cost: 1, currency: 'USD' }, true);
    expect(session.view().limits).toMatchObject([{ used: 1, currency: 'USD' }]);
  });

  test('D3: money in another currency gives one warning', () => {
    const warned = watchWarnings();
    const { session } = bench({ limits: { cost: { amount: 5, currency: 'USD' } } });
    for (let i = 0; i < 3; i += 1) beginModelCall(session, 'model:a/b').end({ cost: 1, currency: 'EUR' }, true);
    expect(session.view().limits).toMatchObject([{ used: 0 }]);
    expect(warned()).toEqual([
      "BREAKERBOX_OTHER_CURRENCY: The price of 'model:a/b' is in EUR, but the limit of cost of agent 'tester' is in USD, so the limit counts none of this money. Give both in the same currency.",
    ]);
  });

  test('D3, E6: amounts that are no numbers are told once, by their field', () => {
    const warned = watchWarnings();
    const { session } = bench({ limits: { tokens: 1_000, cost: { amount: 1, currency: 'USD' } } });
    for (let i = 0; i < 2; i += 1) {
      session.acquire('priced').settle({ ...OK, cost: { amount: 5 } as unknown as number });
      session.spend({ tokens: '50' as unknown as number });
      session.spend({ total: 50 } as object);
    }
    expect(warned()).toEqual([
      "BREAKERBOX_SETTLEMENT: What a call of tool 'priced' used: cost is of type object, so it counts nothing. Give a number that is 0 or more, or leave it out.",
      "BREAKERBOX_SETTLEMENT: session.spend() of agent 'tester': tokens is of type string, so it counts nothing. Give a number that is 0 or more, or leave it out.",
      "BREAKERBOX_SETTLEMENT: session.spend() of agent 'tester': it has neither tokens nor cost, so it counts nothing. Give at least one of them, such as session.spend({ tokens: 500 }).",
    ]);
  });

  test('D3: what is no number uses nothing', () => {
    const { session } = bench({ limits: { tokens: 1_000, cost: { amount: 1, currency: 'USD' } } });
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, -5, '7' as unknown as number]) {
      session.spend({ tokens: bad, cost: bad });
      session.acquire('a').settle({ ...OK, tokens: bad, cost: bad });
    }
    expect(session.view().limits).toMatchObject([{ used: 0 }, { used: 0 }]);
  });
});

describe('D4: the time of a run', () => {
  test('D4: it counts from the beginning, and the last tenth is for the answer', () => {
    const { session, clock } = bench({ limits: { durationMs: 100_000 } });
    clock.advance(71_999);
    expect(session.acquire('a').caution).toBe(false);
    clock.advance(1);
    expect(session.acquire('a').note).toContain('This run has used 72 s of 90 s.');
    clock.advance(17_999);
    expect(session.acquire('a').decision).toBe('call');
    clock.advance(1);
    expect(session.acquire('a')).toMatchObject({ decision: 'pause', reason: 'limit_reached' });
    expect(session.acquire('a').message).toContain('the 90 s that this run has for tool calls are over.');
    session.extend('durationMs', 100_000);
    expect(session.acquire('a').decision).toBe('call');
  });

  test('D4: executors learn how long a call may take', () => {
    const tools = { seen: { mode: 'observe_only' } } as const;
    const { session, clock } = bench({ limits: { durationMs: 100_000 }, tools });
    const child = session.child({ portion: { durationMs: 40_000 } });
    clock.advance(10_000);
    expect([session, child].map((run) => callDeadline(run.acquire('a')))).toEqual([
      { leftMs: 80_000, ofMs: 90_000 },
      { leftMs: 25_000, ofMs: 35_000 },
    ]);
    expect(callDeadline(session.acquire('seen'))).toBeUndefined();
    clock.advance(90_000);
    expect(callDeadline(child.acquire('a'))?.leftMs).toBe(0);
    expect(callDeadline(bench().session.acquire('a'))).toBeUndefined();
    expect(callDeadline(bench({ limits: { calls: 5 } }).session.acquire('a'))).toBeUndefined();
  });

  test('D4: at least 5 s are kept for the answer, at most a quarter', () => {
    const sizes = [200_000, 30_000, 8_000].map((durationMs) => {
      const [limit] = bench({ limits: { durationMs } }).session.view().limits ?? [];
      return durationMs - (limit?.size ?? 0);
    });
    expect(sizes).toEqual([20_000, 5_000, 2_000]);
  });
});

describe('C11, Q1: limits in snapshots and reports', () => {
  test('C11, D2: a snapshot carries limits, what was used, and calls under way by their estimates', () => {
    const limits = { calls: 5, tokens: 1_000, cost: { amount: 3, currency: 'USD' }, durationMs: 100_000 };
    const { session, box, clock } = bench({ limits });
    session.acquire('a').settle({ ...OK, tokens: 100, cost: 1 });
    session.acquire('a');
    session.extend('calls', 1);
    clock.advance(50_000);
    const kept = inAnotherProcess(session, box, { elapsedMs: 20_000 });
    expect(kept.view().limits).toMatchObject([
      { limit: 'calls', used: 2, size: 6 },
      { limit: 'tokens', used: 200, estimated: 100 },
      { limit: 'cost', used: 2, currency: 'USD' },
      { limit: 'durationMs', used: 70_000, level: undefined },
    ]);
    clock.advance(20_000);
    expect(kept.acquire('a').reason).toBe('limit_reached');
    expect(inAnotherProcess(kept, box).view().limits).toEqual(kept.view().limits);
  });

  test('C11, D2: a larger limit of the box holds for restored sessions too, and what was extended stays', () => {
    const { session, box } = bench({ limits: { calls: 5, steps: 9 } });
    const own = box.session({ id: 'own', limits: { calls: 2 } });
    session.extend('calls', 1);
    const later = bench({ limits: { calls: 50, steps: 3 } }).box;
    const kept = inAnotherProcess(session, later);
    expect(kept.view().limits).toMatchObject([{ size: 51 }, { size: 9 }]);
    expect(inAnotherProcess(kept, later).view().limits).toMatchObject([{ size: 51 }, { size: 9 }]);
    expect(inAnotherProcess(own, later).view().limits).toMatchObject([{ size: 2 }, { size: 9 }]);
  });

  test('C11, D2: a restored run has no second last answer', () => {
    const { session, box } = bench({ limits: { calls: 1 } });
    callTimes(session, 1);
    expect(askForAnswer(session)?.limit).toBeUndefined();
    expect(askForAnswer(inAnotherProcess(session, box))?.limit).toMatchObject({ limit: 'calls' });
  });

  test('C11, D3: however much a tool claims to have used, amounts stay numbers, and the snapshot can be restored', () => {
    const { session, box } = bench({ limits: { tokens: 1_000, cost: { amount: 5, currency: 'USD' } } });
    session.acquire('a').settle({ ...OK, tokens: 1e308, cost: 1e308 });
    session.spend({ tokens: 1e308, cost: 1e308 });
    session.acquire('a');
    for (const { used, reserved } of session.view().limits ?? [])
      expect([used, reserved]).toEqual([Number.MAX_SAFE_INTEGER, 0]);
    expect(inAnotherProcess(session, box).view().limits).toMatchObject([
      { limit: 'tokens', used: Number.MAX_SAFE_INTEGER },
      { limit: 'cost', used: Number.MAX_SAFE_INTEGER },
    ]);
  });

  test('C11, D2: limits that a box has got since hold for restored sessions, and a wrong run is refused', () => {
    const { session, box } = bench({ limits: { calls: 5 } });
    const { run, ...older } = snapshot(session);
    const restored = restore(box, older);
    expect(callTimes(restored, 9)).toBe(5);
    const later = bench({ limits: { calls: 5, tokens: 100 } }).box;
    expect(inAnotherProcess(restored, later).view().limits).toMatchObject([
      { limit: 'calls', used: 5, size: 5 },
      { limit: 'tokens', used: 0, size: 100 },
    ]);
    expect(() => restore(box, { ...older, run: { ...run, used: { calls: -1 } } })).toThrow('snapshot.run.used');
  });

  test('Q1, D2: the report says which limit pauses the run, and how to extend it', () => {
    const { session } = bench({ limits: { calls: 2, tokens: { limit: 100, mode: 'advise' } } });
    expect(report(session).limits).toMatchObject([
      { limit: 'calls', level: null, currency: null },
      { limit: 'tokens' },
    ]);
    callTimes(session, 3);
    session.spend({ tokens: 85 });
    const found = report(session);
    expect(found.headline).toBe('PAUSED, limit of the run: 2 of 2 tool calls.');
    expect(found.next).toContain(
      "Look at what the run has done so far. If it may go on, call session.extend('calls', …): resume() does not extend a limit.",
    );
    expect(found.next).toContain('A limit of the run is near: 85 of 100 tokens.');
    expect(formatReport(found)).toContain(
      'Limits\n  - 2 of 2 tool calls (reached).\n  - 85 of 100 tokens (advised, mode advise).',
    );
    expect(report(bench().session)).not.toHaveProperty('limits');
  });

  test('W1, D2: a plan waits for a person who extends the limit', () => {
    const { session } = bench({ limits: { calls: 1 } });
    callTimes(session, 1);
    const { deferred } = planScope(session, [{ name: 'sum', tools: ['a'] }]);
    expect(deferred[0]?.blockers[0]?.unblock).toBe('a person extends the limit: session.extend(limit, by)');
  });
});

describe('E6: limits that cannot work', () => {
  const faultOf = (limits: unknown) => () => createBreakerbox({ agent: 'tester', limits: limits as object });

  test.each<[limits: unknown, fault: string]>([
    [5, 'limits: '],
    [{ call: 5 }, 'limits.call: '],
    [{ calls: 0 }, 'limits.calls: '],
    [{ tokens: { mode: 'pause' } }, 'limits.tokens.limit: '],
    [{ tokens: { limit: 1.5 } }, 'limits.tokens.limit: '],
    [{ steps: { limit: 5, mode: 'stop' } }, 'limits.steps.mode: '],
    [{ cost: 5 }, 'limits.cost: '],
    [{ cost: { amount: 5 } }, 'limits.cost.currency: '],
    [{ cost: { currency: 'USD' } }, 'limits.cost.amount: '],
    [{ cost: { amount: 0, currency: 'USD' } }, 'limits.cost.amount: '],
    [{ durationMs: -1 }, 'limits.durationMs: '],
  ])('D2, E6: %j is refused, and the error says where', (limits, fault) => {
    expect(faultOf(limits)).toThrow(fault);
    expect(() => bench().box.session({ limits: limits as object })).toThrow(`session.${fault}`);
  });

  test('D2, E6: extend() says what is wrong', () => {
    const { session } = bench({ limits: { calls: 5 } });
    expect(() => session.extend('call' as 'calls', 5)).toThrow('there is no such limit. Give one of calls, steps');
    expect(() => session.extend('calls', 0)).toThrow('Give a number above 0.');
    expect(() => session.extend('steps', 1)).toThrow('the session has no limit of steps');
  });
});
