import { expect, test } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import type { BudgetOptions } from './budget/budget.ts';
import { endPause } from './session-internals.ts';

const WINDOW_MS = 100_000;

/** A session whose budget of two ran out at 30 s, by a failure at 0 s and one at 30 s. */
const paused = (budget: BudgetOptions) => {
  let ms = 0;
  const clock = { now: () => ms, unixNow: () => ms };
  const box = createBreakerbox({ agent: 'test', clock, systemic: false, budget: { failures: 2, ...budget } });
  const told: string[] = [];
  box.on('budget.exhausted', ({ cycle }) => told.push(`exhausted ${cycle}`));
  box.on('budget.resumed', ({ cycle }) => told.push(`resumed ${cycle}`));
  const session = box.session();
  const fail = (tool: string): void => session.acquire(tool).settle({ outcome: 'failure', category: 'rate_limit' });
  const decide = (): string => session.acquire('c').decision;
  fail('a');
  ms = 30_000;
  fail('b');
  const at = (to: number): void => {
    ms = to;
  };
  return { session, fail, decide, at, told };
};

test('M5, B1: the pause ends when the oldest charge has left the window, and the other one still counts', () => {
  const { session, fail, decide, at, told } = paused({ windowMs: WINDOW_MS });
  expect(endPause(session)).toBe(WINDOW_MS + 1);
  at(WINDOW_MS);
  expect(endPause(session)).toBe(WINDOW_MS + 1);
  expect(decide()).toBe('pause');
  at(WINDOW_MS + 1);
  expect(endPause(session)).toBeUndefined();
  expect(decide()).toBe('call');
  fail('c');
  expect(decide()).toBe('pause');
  expect(endPause(session)).toBe(30_000 + WINDOW_MS + 1);
  expect(told).toEqual(['exhausted 1', 'resumed 2', 'exhausted 2']);
});

test('B1: without it, and with the rule strict, a pause does not end by time', () => {
  const { decide, at } = paused({ windowMs: WINDOW_MS });
  at(10 * WINDOW_MS);
  expect(decide()).toBe('pause');
  const strict = paused({ rule: 'strict' });
  strict.at(10 * WINDOW_MS);
  expect(endPause(strict.session)).toBeUndefined();
  expect(strict.decide()).toBe('pause');
});
