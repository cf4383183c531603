import { describe, expect, test } from 'vitest';
import { BreakerboxUsageError } from '../checks/checks.ts';
import { bench, succeedOnce } from '../test-support.ts';
import { operate } from './operator.ts';

/** A run whose two calls are used up, and an operator. */
const pausedBench = () => {
  const made = bench({ limits: { calls: 2, tokens: 1_000 } });
  const operator = operate(made.box);
  for (let call = 0; call < 2; call += 1) succeedOnce(made.session, 'a');
  return { ...made, operator };
};

describe('A3, D2: an operator extends a limit', () => {
  test('A3: by its session, once for the size that was seen', () => {
    const { session, operator } = pausedBench();
    expect(session.acquire('a').reason).toBe('limit_reached');
    expect(operator.extend('run-1', 'calls', 3, { size: 2 })).toMatchObject({
      result: 'done',
      extended: [{ session: 'run-1', from: 2, to: 5 }],
      session: { view: { limits: [{ limit: 'calls', size: 5, used: 2 }, { limit: 'tokens' }] } },
    });
    expect(operator.extend('run-1', 'calls', 3, { size: 2 })).toMatchObject({ result: 'stale', extended: [] });
    expect(session.acquire('a').decision).toBe('call');
    expect(operator.extend('run-2', 'calls', 3)).toEqual({
      result: 'unknown_session',
      session: undefined,
      extended: [],
      names: [],
    });
    expect(operator.extend('run-1', 'cost', 3)).toMatchObject({ result: 'unknown_limit', extended: [] });
  });

  test('A3: resume() extends no limit', () => {
    const { session, operator } = pausedBench();
    operator.resume('run-1');
    expect(session.acquire('a').reason).toBe('limit_reached');
  });

  test('A3, D1: a sub-agent is found by its id, and the limits above it grow too', () => {
    const { session, operator } = pausedBench();
    session.extend('calls', 8);
    const child = session.child({ id: 'researcher', portion: { calls: 1 } });
    succeedOnce(child, 'a');
    expect(child.acquire('a').reason).toBe('limit_reached');
    expect(operator.session('researcher')?.id).toBe('run-1');
    expect(operator.extend('researcher', 'calls', 2, { size: 1 }).extended).toEqual([
      { session: 'researcher', from: 1, to: 3 },
      { session: 'run-1', from: 10, to: 12 },
    ]);
    expect(child.acquire('a').decision).toBe('call');
    child.end();
    expect(operator.extend('researcher', 'calls', 2).result).toBe('unknown_session');
  });

  test('A3, D1: of several sub-agents with one id, the one whose limit is reached is found', () => {
    const { session: first, box, operator } = pausedBench();
    first.extend('calls', 8);
    const child = first.child({ id: 'researcher', portion: { calls: 1 } });
    const later = box.session({ id: 'run-2' });
    later.child({ id: 'researcher', portion: { calls: 1 } });
    expect(operator.session('researcher')?.id).toBe('run-2');
    succeedOnce(child, 'a');
    expect(operator.session('researcher')?.id).toBe('run-1');
    expect(operator.extend('researcher', 'calls', 2, { size: 1 }).extended[1]?.session).toBe('run-1');
    expect(child.acquire('a').decision).toBe('call');
  });

  test('A3, D1: several sub-agents with one id are told apart by the id of a session above them', () => {
    const { session, box, operator } = pausedBench();
    session.extend('calls', 20);
    const [one, other] = ['planner', 'writer'].map((id) =>
      session.child({ id }).child({ id: 'helper', portion: { calls: 2, tokens: 90 } }),
    );
    one?.spend({ tokens: 90 }); // Another limit that is reached says nothing of calls.
    expect(operator.extend('helper', 'calls', 3)).toEqual({
      result: 'ambiguous',
      session: undefined,
      extended: [],
      names: ['run-1/planner/helper', 'run-1/writer/helper'],
    });
    expect(operator.session('writer/helper')?.id).toBe('run-1');
    expect(operator.extend('writer/helper', 'calls', 3).extended[0]).toEqual({ session: 'helper', from: 2, to: 5 });
    expect([one, other].map((child) => child?.view().limits?.[0]?.size)).toEqual([2, 5]);
    box.session({ id: 'run-2', limits: { calls: 9 } }).child({ id: 'helper' });
    expect(operator.extend('run-2/helper', 'calls', 1).extended).toEqual([{ session: 'run-2', from: 9, to: 10 }]);
    const elsewhere = box.session({ id: 'run-3' }).child({ id: 'other', portion: { calls: 1 } });
    box.session({ id: 'run-4' }).child({ id: 'other', portion: { calls: 1 } });
    expect(operator.extend('other', 'calls', 1).names).toEqual(['run-3/other', 'run-4/other']);
    succeedOnce(elsewhere, 'a');
    expect(operator.extend('other', 'calls', 1)).toMatchObject({ result: 'done', session: { id: 'run-3' } });
  });

  test('A3, D1: the path of a sub-agent names it alone, also while the limit pauses another one', () => {
    const { session, box, operator } = pausedBench();
    session.extend('calls', 20);
    const teams = ['planner', 'writer'].map((id) => session.child({ id }));
    const [one, paused] = teams.map((team) => team.child({ id: 'helper', portion: { calls: 1 } }));
    const direct = session.child({ id: 'helper', portion: { calls: 1 } });
    box.session({ id: 'run-2' }).child({ id: 'planner' }).child({ id: 'helper' });
    if (paused !== undefined) succeedOnce(paused, 'a');
    const extended = (name: string) => {
      const { result, names } = operator.extend(name, 'calls', 1);
      return [result, ...names, ...[one, paused, direct].map((child) => child?.view().limits?.[0]?.size)];
    };
    expect(extended('run-1/planner/helper')).toEqual(['done', 'run-1/planner/helper', 2, 1, 1]);
    expect(extended('run-1/helper')).toEqual(['done', 'run-1/helper', 2, 1, 2]);
    expect(extended('helper')).toEqual(['done', 'run-1/writer/helper', 2, 2, 2]);
    expect(operator.session('run-2/planner/helper')?.tree?.children.at(-1)?.path).toBe('run-2/planner/helper');
    expect(operator.session('run-1/writer/planner/helper')).toBeUndefined();
  });

  test('A3, C1: a sub-agent whose limit only advises is not meant before one that is paused', () => {
    const { session, box, operator } = pausedBench();
    session.extend('calls', 20);
    const advised = box
      .session({ id: 'run-2' })
      .child({ id: 'helper', portion: { calls: { limit: 1, mode: 'advise' } } });
    const paused = session.child({ id: 'helper', portion: { calls: 1 } });
    for (const child of [paused, advised]) succeedOnce(child, 'a');
    expect(operator.extend('helper', 'calls', 1)).toMatchObject({ result: 'done', session: { id: 'run-1' } });
  });

  test.each([
    ['calls', 0, 'above 0'],
    ['calls', Number.NaN, 'above 0'],
    ['calls', Number.POSITIVE_INFINITY, 'above 0'],
    ['calls', 1.5, 'whole number'],
    ['calls', 2 ** 40, 'at most'],
  ] as const)('E6: extend(%s, %s) is refused', (limit, by, why) => {
    const { operator } = pausedBench();
    expect(() => operator.extend('run-1', limit, by)).toThrow(BreakerboxUsageError);
    expect(() => operator.extend('run-1', limit, by)).toThrow(why);
    expect(operator.session('run-1')?.view.limits?.[0]).toMatchObject({ size: 2 });
  });

  test('A6: it is counted, and is an event', () => {
    const { box, operator } = pausedBench();
    const results: string[] = [];
    box.on('operator.action', ({ action, result, session }) => results.push(`${action} ${result} ${session}`));
    operator.extend('run-1', 'calls', 1);
    operator.extend('run-1', 'calls', 1, { size: 2 });
    operator.extend('run-1', 'steps', 1);
    operator.extend('run-1', 'tokens', 1, { isCounted: false });
    expect(results).toEqual(['extend done run-1', 'extend stale run-1', 'extend unknown run-1']);
  });
});

describe('A2, D1: an operator sees the tree', () => {
  test('A2: what each has used, its limits, and who has ended', () => {
    const { box, session } = bench({ limits: { calls: 100 } });
    const operator = operate(box);
    const writer = session.child({ id: 'writer', name: 'Writer' });
    const helper = writer.child({ id: 'helper', portion: { calls: 10 } });
    for (const one of [session, writer, helper]) succeedOnce(one, 'a');
    session.child({ id: 'gone' }).end();
    const [one] = operator.sessions();
    expect(one?.used).toEqual({ calls: 3, steps: 3, tokens: 0, cost: 0 });
    expect(one?.tree).toMatchObject({
      leftOut: 0,
      children: [
        { id: 'writer', name: 'Writer', parent: 'run-1', depth: 1, ended: false, used: { calls: 2 }, limits: [] },
        {
          id: 'helper',
          parent: 'writer',
          path: 'run-1/writer/helper',
          depth: 2,
          used: { calls: 1 },
          limits: [{ limit: 'calls', size: 10 }],
        },
        { id: 'gone', parent: 'run-1', depth: 1, ended: true },
      ],
    });
  });

  test('A2: of many sub-agents, those that live are seen', () => {
    const { box, session } = bench({ maxChildren: 90 });
    const operator = operate(box);
    succeedOnce(session, 'a'); // A session that began before is listed from its next use.
    for (let index = 0; index < 40; index += 1) session.child({ id: `early-${index}` }).end();
    for (let index = 0; index < 90; index += 1) session.child({ id: `late-${index}` });
    const { children = [], leftOut } = operator.session('run-1')?.tree ?? {};
    expect([children.length, leftOut, children.filter(({ ended }) => !ended).length]).toEqual([100, 30, 90]);
    const late = session.child({ id: 'late-89' });
    for (let index = 0; index < 60; index += 1) late.child({ id: `deep-${index}` });
    const idsWith = (id: string) => operator.session(id)?.tree?.children.map((one) => one.id);
    expect([idsWith('run-1')?.includes('deep-59'), idsWith('deep-59')?.includes('deep-59')]).toEqual([false, true]);
  });

  test('A2: without limits and sub-agents there is no tree', () => {
    const { box, session } = bench();
    operate(box);
    session.acquire('a');
    expect(operate(box).session('run-1')).toMatchObject({ used: undefined, tree: undefined });
  });
});
