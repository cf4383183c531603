import { diag, metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { ChildLimitError, type Session } from '../index.ts';
import { askForAnswer, beginModelCall } from '../limits/spending.ts';
import { formatReport } from '../report/format.ts';
import { report } from '../report/report.ts';
import { planScope } from '../scope/scope.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { heardWarnings, inAnotherProcess } from './test-support.rules.ts';

afterEach(() => {
  diag.disable();
  metrics.disable();
});

const OK = { outcome: 'success' } as const;

/** Successful calls, and how many were made. */
const callTimes = (session: Session, times: number): number => {
  let made = 0;
  for (let i = 0; i < times; i += 1) if (succeedOnce(session, 'a') === 'call') made += 1;
  return made;
};

/** What the limit of calls of a session itself shows. */
const callsOf = (session: Session) => session.view().limits?.find(({ session: id }) => id === session.id);

describe('D1: circuits and the failure budget of a tree', () => {
  test('D1, E6: a child may not have the id of a session above it', () => {
    const { session } = bench({ limits: { calls: 5 } });
    const child = session.child({ id: 'helper' });
    for (const id of [session.id, 'helper'])
      expect(() => child.child({ id })).toThrow(`session.child({ id: '${id}' }): a session above it has this id.`);
    expect(() => session.child({ id: session.id })).toThrow('Give another one, or leave it out.');
  });

  test('D1: a child decides with the circuits and the failure budget of the root', () => {
    const { session } = bench();
    const [one, other] = [session.child({ id: 'one' }), session.child({ id: 'other' })];
    trip(one, 'a');
    expect(other.acquire('a').reason).toBe('open');
    expect(session.acquire('a')).toMatchObject({ reason: 'open', budgetRemaining: 4 });
    for (const tool of ['b', 'c', 'd']) failOnce(one, tool, 'server');
    failOnce(other, 'x');
    expect([session, one, other].map((run) => run.acquire('b').reason)).toEqual(Array(3).fill('budget_exhausted'));
    other.resume();
    expect(one.acquire('b').reason).toBe('closed');
    expect(one.view()).toMatchObject({ id: 'one', agent: 'tester', limits: [] });
    expect(one.explain('a')).toMatchObject({ reason: 'open', rejectedBy: 'a' });
    expect(one.unavailable()).toEqual(['a']);
  });

  test('D1, B6: the rule strict holds for the tree, whatever its session', () => {
    const { session, box } = bench({ budget: 'strict', systemic: false, tools: {}, limits: { calls: 50 } });
    const [one, other] = [session.child({ id: 'one', portion: 0.5 }), session.child()];
    for (const run of [one, other, session, one]) failOnce(run, 'x');
    expect(callTimes(other, 20)).toBe(20);
    expect(session.view().budget).toMatchObject({ rule: 'strict', remaining: 1 });
    one.end();
    const restored = inAnotherProcess(session, box);
    failOnce(restored.child({ id: 'one' }), 'x');
    expect(restored.acquire('y').reason).toBe('budget_exhausted');
  });

  test('D1, E7: the metrics of a tree count it as live until its last session has ended, and nothing is warned of', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const warnings = heardWarnings();
    const { session } = bench({ agent });
    const isLive = async () =>
      seriesOf(agent, await scrape(), 'breakerbox_sessions').some((line) => line.endsWith(' 1'));
    const child = session.child();
    const grandchild = child.child();
    session.end();
    child.end();
    expect([succeedOnce(grandchild, 'a'), await isLive()]).toEqual(['call', true]);
    grandchild.end();
    expect([await isLive(), warnings()]).toEqual([false, []]);
  });

  test('D1: with two live sessions, probes go by time', () => {
    const { session, clock } = bench({ systemic: false });
    const child = session.child();
    trip(child, 'a');
    steps(session, 30);
    steps(child, 30);
    expect(session.acquire('a').reason).toBe('open');
    clock.advance(60_000);
    expect(child.acquire('a').reason).toBe('probe_due');
    child.end();
    trip(session, 'b');
    steps(session, 3);
    expect(session.acquire('b').reason).toBe('probe_due');
  });

  test('D1, B1: with two live sessions, charges leave by calls, even if the root has taken steps', () => {
    const { session } = bench({ tools: {}, systemic: false, budget: { failures: 3 } });
    steps(session, 1);
    const child = session.child();
    failOnce(child, 'x');
    expect(callTimes(child, 19)).toBe(19);
    expect(session.view().budget.remaining).toBe(2);
    callTimes(session, 1);
    expect(session.view().budget.remaining).toBe(3);
  });
});

describe('D1: portions', () => {
  test('D1: by default children share the limits, and 30 at a time overshoot nothing', () => {
    const { session } = bench({ limits: { calls: 100 } });
    const children = Array.from({ length: 30 }, () => session.child());
    const permits = Array.from({ length: 10 }, () => children.map((child) => child.acquire('a'))).flat();
    expect(permits.filter(({ decision }) => decision === 'call')).toHaveLength(100);
    expect(new Set(permits.slice(100).map(({ reason }) => reason))).toEqual(new Set(['limit_reached']));
    expect(session.acquire('a').reason).toBe('limit_reached');
  });

  test('D2: 30 sub-agents at a time begin no more steps than the limit has', () => {
    const { session } = bench({ limits: { steps: 20 } });
    const children = Array.from({ length: 30 }, () => session.child());
    let worked = 0;
    for (let turn = 0; turn < 3; turn += 1) {
      for (const child of children) if (succeedOnce(child, 'a') === 'call') worked += 1;
      for (const child of children) child.step(); // The others have read that no step is left.
    }
    expect(worked).toBe(20);
    expect(session.view().limits).toMatchObject([{ used: 20, underWay: 0, level: 'reached' }]);
  });

  test('D2: the step in which a sub-agent runs goes on for the session above it until the sub-agent finds none left', () => {
    const { session } = bench({ limits: { steps: 2 } });
    session.step();
    session.acquire('a');
    const child = session.child();
    child.step();
    expect([succeedOnce(child, 'b'), child.view().state]).toEqual(['call', 'active']);
    expect([succeedOnce(session, 'c'), session.view().state]).toEqual(['call', 'active']);
    child.step();
    expect(child.view()).toMatchObject({
      state: 'paused_limit',
      limits: [{ used: 2, underWay: 0, level: 'reached' }],
    });
    expect(child.acquire('b').message).toContain('this run has used 2 of 2 turns. Do not call any tools');
    expect([succeedOnce(session, 'c'), session.view().state]).toEqual(['pause', 'paused_limit']);
    session.extend('steps', 2); // The step goes on, and counts once.
    expect([succeedOnce(session, 'c'), session.view().limits?.[0]?.used]).toEqual(['call', 2]);
    child.end();
    session.step();
    expect(session.view().limits).toMatchObject([{ used: 3, underWay: 1 }]);
  });

  test.each(['step()', 'a call', 'a request'])(
    'D2, D7: a session that never calls step() is paused once a sub-agent finds no step left, by %s',
    (by) => {
      const { session, box } = bench({ limits: { steps: 3 } });
      const told: string[] = [];
      box.on('limit.reached', ({ limit, used }) => told.push(`${limit} ${used}`));
      session.acquire('research');
      const child = session.child();
      for (let turn = 0; turn < 2; turn += 1) {
        child.step();
        succeedOnce(child, 'a');
      }
      child.end();
      const next = session.child();
      expect([told, session.view().state]).toEqual([[], 'active']);
      if (by === 'step()') next.step();
      else if (by === 'a call') next.acquire('a');
      else askForAnswer(next);
      expect(session.view()).toMatchObject({ state: 'paused_limit', limits: [{ used: 3, level: 'reached' }] });
      expect(session.acquire('research').reason).toBe('limit_reached');
      expect(told).toEqual(['steps 3']);
      expect(inAnotherProcess(session, box).view().state).toBe('paused_limit');
    },
  );

  test.each(['before', 'after'])(
    'D2: a turn is one step with step() %s it, also if a sub-agent has taken turns before it',
    (when) => {
      const { session, box } = bench({ limits: { steps: 20 } });
      const child = session.child();
      child.step();
      child.end();
      let latest: Session = session;
      for (let turn = 1; turn <= 3; turn += 1) {
        if (when === 'before') latest.step();
        succeedOnce(latest, 'a');
        expect(latest.view().limits).toMatchObject([{ used: 1 + turn, underWay: 1 }]);
        latest = inAnotherProcess(latest, box);
        if (when === 'after') latest.step();
      }
    },
  );

  test('D2: a limit of a sub-agent ends no step above it that has steps left', () => {
    const { session } = bench({ limits: { steps: 3 } });
    succeedOnce(session, 'a');
    const child = session.child({ portion: { steps: 1 } });
    for (let turn = 0; turn < 2; turn += 1) child.step();
    expect([child.view().state, succeedOnce(session, 'a')]).toEqual(['paused_limit', 'call']);
    succeedOnce(session.child(), 'a');
    expect([session.view().state, succeedOnce(session, 'a')]).toEqual(['active', 'call']); // Used up, in its own step.
  });

  /** Turns of 30 sub-agents side by side, each a request of a model, until none may ask. Gives how many answers each had. */
  const askAll = (session: Session, turns: number): readonly number[] => {
    const children = Array.from({ length: 30 }, () => session.child());
    const answers = new Map<Session, number>();
    for (let turn = 0; turn < turns; turn += 1) {
      const calls = children.flatMap((child) => {
        if (askForAnswer(child)?.limit !== undefined) return [];
        answers.set(child, (answers.get(child) ?? 0) + 1);
        return [beginModelCall(child, 'model:a/b', 4_096)];
      });
      for (const call of calls) call.end({ tokens: 1_000 }, true);
    }
    return [...answers.values()];
  };

  test('D3: each of 30 sub-agents gives a last answer within the limit of tokens, also if its model answers when it is reached', () => {
    const { session } = bench({ limits: { tokens: 100_000 } });
    beginModelCall(session, 'model:a/b').end({ tokens: 1_000 }, true);
    expect(askAll(session, 10)).toHaveLength(30);
    expect(session.view()).toMatchObject({ state: 'paused_limit', limits: [{ used: 100_000, level: 'reached' }] });
  });

  test('D3: last answers may exceed a limit that is too small to keep all of them', () => {
    const { session } = bench({ limits: { tokens: 45_000 } });
    expect(askAll(session, 10)).toEqual(Array.from({ length: 30 }, () => 2));
    expect(session.view().limits).toMatchObject([{ used: 60_000, level: 'reached' }]);
  });

  test('D3: a sub-agent that has used nothing has no last answer', () => {
    const { session } = bench({ limits: { tokens: 31_000 } });
    beginModelCall(session, 'model:a/b').end({ tokens: 1_000 }, true);
    expect(askAll(session, 10)).toEqual(Array.from({ length: 15 }, () => 2)); // The others find the tree paused.
    expect(session.view().limits).toMatchObject([{ used: 31_000, level: 'reached' }]);
  });

  test('D2: a request in a turn that began before the limit was reached is no last answer', () => {
    const { session } = bench({ limits: { calls: 1 } });
    const child = session.child();
    succeedOnce(child, 'a');
    const asked = (isOpen?: boolean) => askForAnswer(child, isOpen)?.limit?.limit;
    expect([asked(true), asked(), asked()]).toEqual([undefined, undefined, 'calls']);
  });

  test('D3: what is kept for the last answer of a sub-agent pauses the tree, and comes back when it ends', () => {
    const { session } = bench({ limits: { tokens: 1_000 } });
    const child = session.child();
    beginModelCall(child, 'model:a/b').end({ tokens: 500 }, true);
    expect(session.view().limits).toMatchObject([{ used: 500, reserved: 500, level: 'reached' }]);
    const permit = child.acquire('a');
    expect(permit.reason).toBe('limit_reached');
    expect(permit.message).toContain(
      'this run has used 500 of 1,000 tokens, and the rest is kept for the last answers of sub-agents.',
    );
    const late = session.child();
    expect(askForAnswer(late)?.limit?.limit).toBe('tokens'); // Nothing is left that could be kept for it.
    child.end();
    expect([session.acquire('a').reason, session.view().limits?.[0]?.reserved]).toEqual(['closed', 0]);
  });

  test('D1, D3: a parent uses no step and no answer that is reserved for a sub-agent', () => {
    const { session } = bench({ limits: { steps: 10, tokens: 1_000 } });
    const child = session.child({ id: 'child', portion: 1 });
    steps(session, 20);
    expect(child.view().limits?.slice(2)).toMatchObject([{ used: 0, reserved: 10 }, { used: 0 }]);
    expect([askForAnswer(session)?.limit, askForAnswer(session)?.limit?.reserved]).toEqual([undefined, 1_000]);
    expect(session.acquire('a').reason).toBe('limit_reserved');
    expect(child.acquire('a').reason).toBe('closed');
  });

  test('D1: a number reserves that part of the limit, which stops the parent alone', () => {
    const { session } = bench({ limits: { calls: 10, cost: { amount: 2, currency: 'USD' } } });
    const [half, all] = [session.child({ id: 'half', portion: 0.55 }), session.child({ id: 'all' })];
    expect(half.view().limits).toMatchObject([
      { limit: 'calls', size: 5, session: 'half' },
      { limit: 'cost', size: 1.1, currency: 'USD', session: 'half' },
      { limit: 'calls', size: 10, session: 'run-1', used: 0, reserved: 5 },
      { limit: 'cost', size: 2, session: 'run-1' },
    ]);
    expect(callTimes(session, 4)).toBe(4);
    expect(callTimes(all, 4)).toBe(1);
    const reserved = session.acquire('a');
    expect(reserved).toMatchObject({ decision: 'skip', reason: 'limit_reserved', state: 'closed' });
    expect(reserved.message).toBe(
      "Tool 'a' was not called: the 5 tool calls that are left are reserved for sub-agents. Wait for their results, or finish. [breakerbox:not-called]",
    );
    expect([session.unavailable(), session.explain('a').rejectedBy]).toEqual([[], 'limits']);
    expect(callTimes(half, 9)).toBe(5);
    expect(half.acquire('a')).toMatchObject({ reason: 'limit_reached' });
    expect(session.acquire('a').reason).toBe('limit_reached');
  });

  test('D1: what a child reserved and did not use comes back when it ends', () => {
    const { session } = bench({ limits: { calls: 10 } });
    const child = session.child({ portion: 0.8 });
    callTimes(child, 3);
    expect(callTimes(session, 10)).toBe(2);
    child.end();
    expect(callTimes(session, 10)).toBe(5);
    expect(child.acquire('a').reason).toBe('limit_reached'); // E7: it goes on, and the parent pays.
  });

  test('D1: a child of an ended child, and a call under way, move to the nearest session that lives', () => {
    const { session } = bench({ limits: { calls: 10, tokens: 100 } });
    session.acquire('a').settle({ ...OK, tokens: 20 });
    const child = session.child({ id: 'child', portion: 0.5 });
    const grandchild = child.child({ id: 'grandchild', portion: 0.4 });
    const permit = child.acquire('a');
    child.end();
    expect(session.view().limits).toMatchObject([
      { used: 2, reserved: 2 },
      { used: 40, reserved: 20 },
    ]);
    permit.settle({ ...OK, tokens: 5 });
    expect(session.view().limits?.[1]).toMatchObject({ used: 25, reserved: 20 });
    expect(callTimes(grandchild, 5)).toBe(2);
    grandchild.end();
    grandchild.spend({ tokens: 3 });
    expect(session.view().limits).toMatchObject([
      { used: 4, reserved: 0 },
      { used: 28, reserved: 0 },
    ]);
  });

  test('D1: no child reserves more than is left, and limits of its own need none above', () => {
    const { session } = bench({ limits: { calls: 10 } });
    callTimes(session, 4);
    const child = session.child({ portion: { calls: 50, steps: 2, durationMs: 1_000 } });
    expect(child.view().limits?.map(({ limit, size }) => [limit, size])).toEqual([
      ['calls', 6],
      ['steps', 2],
      ['durationMs', 750],
      ['calls', 10],
    ]);
    expect(session.child({ portion: 1 }).acquire('a').reason).toBe('limit_reached');
  });

  test('D4: the time of a child is a deadline for it alone', () => {
    const { session, clock } = bench({ limits: { durationMs: 100_000 } });
    const child = session.child({ portion: { durationMs: 20_000 } });
    clock.advance(15_000);
    expect([child.acquire('a').reason, session.acquire('a').reason]).toEqual(['limit_reached', 'closed']);
    expect(session.child({ portion: { durationMs: 1e9 } }).acquire('a').reason).toBe('closed');
    clock.advance(80_000);
    expect(session.child().acquire('a').reason).toBe('limit_reached');
  });

  test('D1, D2: extending a child extends each session above that has the limit', () => {
    const { session } = bench({ limits: { calls: 10 } });
    const child = session.child({ id: 'child', portion: 0.5 });
    const shared = child.child({ id: 'shared' });
    callTimes(session, 10);
    expect(callTimes(shared, 9)).toBe(5);
    expect(shared.extend('calls', 3)).toEqual([
      { session: 'child', from: 5, to: 8 },
      { session: 'run-1', from: 10, to: 13 },
    ]);
    expect([callTimes(session, 9), callTimes(shared, 9)]).toEqual([0, 3]);
  });

  test('D2: each model of a tree reads the advice once', () => {
    const { session } = bench({ limits: { calls: 10 } });
    const child = session.child();
    callTimes(session, 8);
    expect([child, session, child].map((run) => run.acquire('a').note !== '')).toEqual([true, false, false]);
  });

  test('D1, D2: of limits of the same kind, the model reads the one with least left', () => {
    const { session } = bench({ limits: { calls: 12, steps: 10 } });
    const child = session.child({ portion: { calls: 10 } });
    callTimes(child, 9);
    steps(session, 8);
    expect(child.note()).toContain('This run has used 9 of 10 tool calls, and 8 of 10 turns.');
  });

  test('D3: what a sub-agent used is not counted again with the call that it ran in', () => {
    const { session } = bench({ limits: { tokens: 1_000 } });
    const permit = session.acquire('ask');
    const child = session.child({ call: permit });
    child.spend({ tokens: 300 });
    child.end();
    permit.settle({ ...OK, tokens: 350 });
    session.acquire('ask').settle({ ...OK, tokens: 50 });
    expect(session.view().limits).toMatchObject([{ used: 350 }]);
  });

  test('D3: a call whose sub-agent may not begin counts what it used', () => {
    const { session } = bench({ limits: { tokens: 1_000 } });
    const permit = session.acquire('ask');
    expect(() => session.child({ call: permit, id: session.id })).toThrow('has this id');
    permit.settle({ ...OK, tokens: 350 });
    expect(session.view().limits).toMatchObject([{ used: 350 }]);
  });
});

describe('C11: trees in snapshots', () => {
  test('C11, D1: a restored child counts as ended until it is taken again, with what it had used', () => {
    const { session, box } = bench({ limits: { calls: 20, tokens: 1_000 } });
    const child = session.child({ id: 'child', name: 'helper', portion: 0.5 });
    const grandchild = child.child({ id: 'grandchild', portion: 0.5 });
    callTimes(child, 2);
    callTimes(grandchild, 3);
    grandchild.spend({ tokens: 70 });
    const restored = inAnotherProcess(session, box);
    expect(restored.view().limits).toMatchObject([
      { used: 5, reserved: 0 },
      { used: 70, reserved: 0 },
    ]);
    const shown = (ended: boolean) =>
      expect(report(restored).children).toMatchObject([
        {
          ...{ session: 'child', name: 'helper', ended, used: { calls: 5 } },
          children: [{ session: 'grandchild', ended: true, used: { calls: 3, tokens: 70 }, children: [] }],
        },
      ]);
    shown(true);
    const again = restored.child({ id: 'child' });
    shown(false);
    expect(again.view().limits?.slice(0, 2)).toMatchObject([
      { limit: 'calls', size: 10, used: 5, session: 'child' },
      { limit: 'tokens', size: 500, used: 70 },
    ]);
    expect(restored.view().limits).toMatchObject([
      { used: 5, reserved: 5 },
      { used: 70, reserved: 430 },
    ]);
    expect(callTimes(again.child({ id: 'grandchild' }), 9)).toBe(2);
    expect(callTimes(again, 9)).toBe(3);
    expect(callTimes(restored, 20)).toBe(10);
    expect(inAnotherProcess(restored, box).view().limits).toMatchObject([{ used: 20 }, { used: 70 }]);
  });

  test('C11, D1: a child of a child that was taken again and has ended can be taken again, too', () => {
    const { session, box } = bench({ limits: { calls: 20 } });
    const grandchild = session.child({ id: 'child' }).child({ id: 'grandchild', portion: { calls: 5 } });
    callTimes(grandchild, 3);
    const restored = inAnotherProcess(session, box);
    restored.child({ id: 'child' }).end();
    const again = restored.child({ id: 'grandchild' });
    expect(again.view().limits).toMatchObject([{ used: 3, size: 5 }, { used: 3 }]);
    expect(restored.view().limits).toMatchObject([{ used: 3, reserved: 2 }]);
  });

  test('C11, D1, D2: the step of a child goes on once it is taken again', () => {
    const { session, box } = bench({ limits: { steps: 9 } });
    succeedOnce(session.child({ id: 'child' }), 'a');
    const restored = inAnotherProcess(inAnotherProcess(session, box), box);
    expect(restored.view().limits).toMatchObject([{ used: 1, underWay: 0 }]);
    const child = restored.child({ id: 'child' });
    succeedOnce(child, 'a');
    expect(child.view().limits).toMatchObject([{ used: 1, underWay: 1 }]);
    child.end();
    expect(restored.view().limits).toMatchObject([{ used: 1, underWay: 0 }]);
  });

  test('C11, D1: children that never end make no snapshot larger and larger', () => {
    const { session, box } = bench({ limits: { calls: 1_000 } });
    let latest: Session = session;
    for (let turn = 0; turn < 80; turn += 1) {
      callTimes(latest.child({ id: `child ${turn}` }), 1);
      latest = inAnotherProcess(latest, box);
    }
    expect(snapshot(latest).run?.children).toHaveLength(50);
    expect(latest.view().limits).toMatchObject([{ used: 80, reserved: 0 }]);
    expect(latest.child({ id: 'child 79' }).view().limits).toMatchObject([{ used: 80 }]);
  });

  test('C11, D1: a child that is taken again gets no more than is left', () => {
    const { session, box } = bench({ limits: { calls: 10 } });
    session.child({ id: 'child', portion: 0.8 });
    const restored = inAnotherProcess(session, box);
    callTimes(restored, 7);
    expect(callTimes(restored.child({ id: 'child' }), 9)).toBe(3);
    expect(restored.acquire('a').reason).toBe('limit_reached');
  });
});

describe('C11: hostile trees in snapshots', () => {
  test.each([100, 100_000])('C11, D1: a tree of more than %i levels is a fault of the snapshot', (levels) => {
    const { session, box } = bench({ limits: { calls: 10 } });
    session.child({ id: 'child' });
    const kept = snapshot(session);
    const [child] = kept.run?.children ?? [];
    let tree = child;
    for (let level = 0; level < levels; level += 1) tree = { ...child, children: [tree] } as typeof child;
    const hostile = { ...kept, run: { ...kept.run, children: [tree] } };
    expect(() => restore(box, hostile)).toThrow('is below 100 other lists of children');
  });
});

describe('D1: how large a tree may be', () => {
  test('D1, Q1: of many sub-agents of sub-agents that have ended, the report lists the latest', () => {
    const { session } = bench();
    for (let i = 0; i < 30; i += 1) {
      const child = session.child();
      for (let j = 0; j < 30; j += 1) child.child().end();
      child.end();
    }
    const listed = report(session).children ?? [];
    const all = listed.flatMap((child) => [child, ...child.children]);
    expect(all).toHaveLength(500);
    expect(listed.at(-1)?.children).toHaveLength(30);
  });

  test('D1: 50 children that live, and 5 levels', () => {
    const { session } = bench();
    const children = Array.from({ length: 50 }, () => session.child());
    expect(() => session.child()).toThrow(ChildLimitError);
    expect(() => session.child()).toThrow('50 of them are at work already (maxChildren)');
    children[0]?.end();
    let deepest = session.child();
    for (let level = 1; level < 5; level += 1) deepest = deepest.child();
    expect(() => deepest.child()).toThrow('nested 5 levels deep already (maxDepth)');
    const { session: small } = bench({ maxChildren: 1, maxDepth: 1 });
    const only = small.child({ id: 'only' });
    expect(() => small.child()).toThrow(ChildLimitError);
    expect(() => only.child()).toThrow(ChildLimitError);
    expect(small.child({ id: 'only' }).id).toBe('only'); // The same child.
  });

  test.each<[options: object, fault: string]>([
    [{ portion: 0 }, 'child.portion: is 0. Give '],
    [{ portion: 1.5 }, 'child.portion'],
    [{ portion: 'half' }, 'child.portion'],
    [{ portion: { calls: 0 } }, 'child.portion.calls'],
    [{ portion: { cost: { amount: 1, currency: 'EUR' } } }, 'but the limit of the session is in'],
    [{ id: 7 }, 'child.id'],
    [{ share: 1 }, 'child.share'],
  ])('D1, E6: %j is refused', (options, fault) => {
    const { session } = bench({ limits: { cost: { amount: 5, currency: 'USD' } } });
    expect(() => session.child(options)).toThrow(fault);
    expect(report(session)).not.toHaveProperty('children');
  });

  test('D1, E6: the option parent of a session says what to call', () => {
    const { box, session } = bench();
    expect(() => box.session({ parent: session } as object)).toThrow(
      'Call parent.child() for the session of a sub-agent.',
    );
  });

  test('D1, C11: a child has no snapshot of its own', () => {
    const { session } = bench();
    expect(() => snapshot(session.child({ id: 'helper' }))).toThrow(
      "session 'helper' is a child. Take the snapshot of",
    );
  });

  test('D1, Q1: the report shows the tree, and what each sub-agent used', () => {
    const { session } = bench({ limits: { calls: 20 } });
    const child = session.child({ id: 'one', name: 'researcher', portion: 0.25 });
    const grandchild = child.child({ id: 'two' });
    callTimes(child, 1);
    callTimes(grandchild, 4);
    grandchild.spend({ tokens: 1_234 });
    session.child({ id: 'three' }).end();
    const found = report(session);
    expect(found.children).toEqual([
      {
        session: 'one',
        name: 'researcher',
        ended: false,
        used: { calls: 5, steps: 2, tokens: 1_234, cost: 0 },
        limits: [expect.objectContaining({ limit: 'calls', size: 5, level: 'reached' })],
        children: [expect.objectContaining({ session: 'two', used: { calls: 4, steps: 1, tokens: 1_234, cost: 0 } })],
      },
      expect.objectContaining({ session: 'three', ended: true, children: [] }),
    ]);
    const text = formatReport(found);
    expect(text).toContain(`researcher (${session.id}/one): 5 calls, 2 steps, 1,234 tokens, 5 of 5 tool calls`);
    expect(text).toContain(`  - ${session.id}/one/two: 4 calls`);
    expect(text).toContain(`${session.id}/three: 0 calls, ended.`);
  });

  test('D1, Q1: the report says what a sub-agent cost', () => {
    const { session } = bench({ limits: { cost: { amount: 5, currency: 'USD' } } });
    session.child({ id: 'one' }).spend({ cost: 0.25 });
    expect(formatReport(report(session))).toContain('/one: 0 calls, 0.25 USD.');
  });

  test('D1, W1: a plan of a child is made by its limits', () => {
    const { session } = bench({ limits: { calls: 4 } });
    const child = session.child({ portion: 0.25 });
    callTimes(child, 1);
    const tasks = [{ name: 'sum', tools: ['a'] }];
    expect([planScope(child, tasks).decision, planScope(session, tasks).decision]).toEqual(['pause', 'proceed']);
  });

  test('D1: the report of a child has its limits, and its id', () => {
    const { session } = bench({ limits: { calls: 4 } });
    const child = session.child({ id: 'helper', portion: 0.25 });
    callTimes(child, 2);
    expect(report(child)).toMatchObject({ session: 'helper', headline: expect.stringContaining('1 of 1 tool calls') });
    expect(callsOf(session)).toMatchObject({ used: 1, reserved: 0 });
  });
});
