import { expect, test } from 'vitest';
import { createPlan, type Plan, type PlannedCall } from './plan.ts';

const plan = (tools: readonly string[], steps: number): Plan =>
  createPlan({ tools, steps, input: (tool, n) => `${tool} ${n}` });

const answerAll = (made: Plan, calls: readonly PlannedCall[]): void => {
  for (const { id } of calls) made.settle(id, true);
};

test('tools take turns, two a step, until the steps are done', () => {
  const made = plan(['a', 'b', 'c'], 3);
  const inputs: unknown[] = [];
  while (!made.done) {
    const calls = made.next();
    inputs.push(calls.map(({ input }) => input));
    answerAll(made, calls);
  }
  expect(inputs).toEqual([
    ['a 0', 'b 0'],
    ['c 0', 'a 1'],
    ['b 1', 'c 1'],
  ]);
  expect(made.next()).toEqual([]);
});

test('a tool that owes an answer is asked the same again, and the others go on', () => {
  const made = plan(['a', 'b'], 1);
  const [a, b] = made.next();
  made.settle(a?.id ?? '', false);
  made.settle(b?.id ?? '', true);
  expect(made.done).toBe(false);
  const again = made.next();
  expect(again.map(({ input }) => input)).toEqual(['a 0', 'b 1']);
  expect(again[0]?.id).not.toBe(a?.id);
  answerAll(made, again);
  expect(made.done).toBe(true);
});

test('a call that was cut off is owed', () => {
  const made = plan(['a'], 1);
  made.next();
  expect(made.done).toBe(false);
  answerAll(made, made.next());
  expect(made.done).toBe(true);
});
