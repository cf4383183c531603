import type { ScopePlan } from '@breakerbox/core';
import { expect, test } from 'vitest';
import { createPlan, type Duty, type Plan, type PlannedCall } from './plan.ts';

const duty = (tool: string): Duty => ({ name: `work on ${tool}`, tools: [tool] });

const plan = (tools: readonly string[], steps: number): Plan =>
  createPlan({ duties: tools.map(duty), steps, input: (tool, n) => `${tool} ${n}` });

const answerAll = (made: Plan, calls: readonly PlannedCall[]): void => {
  for (const { id } of calls) made.settle(id, 'answered');
};

const inputs = (calls: readonly PlannedCall[]): readonly unknown[] => calls.map(({ input }) => input);

/** Defers the current tasks that need one of these tools. */
const without = (made: Plan, ...out: readonly string[]): ScopePlan => {
  const waits = (tools: readonly string[]): boolean => tools.some((tool) => out.includes(tool));
  const blocker = { reason: 'open', route: { kind: 'defer' }, unblock: 'it works again' } as const;
  return {
    decision: 'reduce',
    achievable: made.tasks.filter(({ tools }) => !waits(tools)).map(({ name }) => ({ task: name, degraded: [] })),
    deferred: made.tasks
      .filter(({ tools }) => waits(tools))
      .map(({ name, tools }) => ({ task: name, blockers: tools.map((tool) => ({ tool, ...blocker })) })),
  };
};

test('tools take turns, two per step, until the steps are done', () => {
  const made = plan(['a', 'b', 'c'], 3);
  const asked: unknown[] = [];
  while (!made.done) {
    const calls = made.next();
    asked.push(inputs(calls));
    answerAll(made, calls);
  }
  expect(asked).toEqual([
    ['a 0', 'b 0'],
    ['c 0', 'a 1'],
    ['b 1', 'c 1'],
  ]);
  expect(made.next()).toEqual([]);
});

test('the session does not end while a tool owes an answer, and the other tools continue', () => {
  const made = plan(['a', 'b'], 1);
  const [a, b] = made.next();
  made.settle(a?.id ?? '', 'failed');
  made.settle(b?.id ?? '', 'answered');
  expect(made.done).toBe(false);
  const again = made.next();
  expect(inputs(again)).toEqual(['a 1', 'b 1']);
  answerAll(made, again);
  expect(made.done).toBe(true);
});

test('a call that was cut off still owes an answer', () => {
  const made = plan(['a'], 1);
  made.next();
  expect(made.done).toBe(false);
  answerAll(made, made.next());
  expect(made.done).toBe(true);
});

test('an answer of an alternative counts for the task, but the tool still owes its own answer', () => {
  const made = plan(['a'], 1);
  for (let n = 0; n < 6; n += 1) made.settle(made.next()[0]?.id ?? '', 'stood_in');
  expect(made.finished).toEqual(['work on a 1']);
  expect(made.tasks).toEqual([{ name: 'work on a 2', tools: ['a'] }]);
  expect(made.done).toBe(false);
});

test('a call is repeated with another tool at the next step, with the same arguments', () => {
  const made = plan(['a', 'b'], 1);
  const [a, b] = made.next();
  made.callInstead(a?.id ?? '', 'spare');
  made.settle(b?.id ?? '', 'answered');
  const [instead, ...others] = made.next();
  expect(instead).toMatchObject({ tool: 'spare', input: 'a 0' });
  expect(others.map(({ tool }) => tool)).toEqual(['a']);
  made.settle(instead?.id ?? '', 'answered');
  expect(made.done).toBe(false); // 'a' itself still owes an answer.
  answerAll(made, others);
  expect(made.done).toBe(true);
});

test('tools of deferred tasks are not called until the next scope', () => {
  const made = plan(['a', 'b'], 1);
  const [a, b] = made.next();
  made.settle(a?.id ?? '', 'held_up');
  made.settle(b?.id ?? '', 'answered');
  made.reduceTo(without(made, 'a'));
  expect(inputs(made.next())).toEqual(['b 1']);
  made.reduceTo(without(made, 'a', 'b'));
  expect(made.next()).toEqual([]);
  expect(made.done).toBe(false);
  made.reduceTo(without(made));
  expect(inputs(made.next())).toEqual(['a 1', 'b 2']);
});

test('the scope is planned again after two obstacles, and while something is deferred', () => {
  const made = plan(['a', 'b'], 9);
  const step = (): void => answerAll(made, made.next());
  step();
  expect(made.needsScope).toBe(false);
  for (const { id } of made.next()) made.settle(id, 'held_up');
  expect(made.needsScope).toBe(true);
  made.reduceTo(without(made, 'a'));
  expect(made.needsScope).toBe(false);
  for (let n = 0; n < 3; n += 1) step();
  expect(made.needsScope).toBe(true);
  made.reduceTo(without(made));
  for (let n = 0; n < 3; n += 1) step();
  expect(made.needsScope).toBe(false);
});
