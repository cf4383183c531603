import { expect, test } from 'vitest';
import { readable } from './readable.ts';

test('gives what can be read, falsy values too, and undefined for what throws', () => {
  const fail = (): never => {
    throw new Error('the tool says so');
  };
  expect([readable(() => 0), readable(() => 'text'), readable(fail)]).toEqual([0, 'text', undefined]);
});
