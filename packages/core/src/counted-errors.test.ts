import { describe, expect, test } from 'vitest';
import { CountedErrors } from './counted-errors.ts';

const call = (serial: number, mode: 'automatic' | 'observe_only' = 'automatic') => ({ serial, mode });
const caused = (cause: unknown): Error => new Error('outer', { cause });

describe('E3: one error that passes through nested calls counts once', () => {
  test('E3: the calls around the one that counted it know it, later calls do not', () => {
    const errors = new CountedErrors();
    const error = new Error('x');
    expect(errors.has(call(1), error)).toBe(false);
    errors.add(call(2), error);
    expect([1, 2, 3].map((serial) => errors.has(call(serial), error))).toEqual([true, false, false]);
    expect(errors.has(call(1), new Error('x'))).toBe(false);
  });

  test('O1: one connection error that rejects concurrent calls is a failure of each', () => {
    const errors = new CountedErrors();
    const error = new Error('closed');
    const known = [1, 2, 3].map((serial) => {
      const before = errors.has(call(serial), error);
      errors.add(call(serial), error);
      return before;
    });
    expect(known).toEqual([false, false, false]);
  });

  test('E3: it is also recognized as a cause, five deep, and the search ends on cyclic causes', () => {
    const errors = new CountedErrors();
    const error = new Error('x');
    errors.add(call(1), error);
    const depth = (levels: number): Error => (levels === 0 ? error : caused(depth(levels - 1)));
    expect([1, 4, 5].map((levels) => errors.has(call(0), depth(levels)))).toEqual([true, true, false]);
    const circle: Error = caused(undefined);
    circle.cause = circle;
    expect(errors.has(call(0), circle)).toBe(false);
  });

  test('E3: a value that is not an object cannot be recognized; a value that throws when read ends the search', () => {
    const errors = new CountedErrors();
    for (const thrown of ['text', 5, null, undefined]) {
      errors.add(call(1), thrown);
      expect(errors.has(call(0), thrown)).toBe(false);
    }
    const trap = Object.defineProperty(new Error('trap'), 'cause', {
      get: () => {
        throw new Error('unreadable');
      },
    });
    expect(errors.has(call(0), trap)).toBe(false);
  });

  test('C1, E3: only observed tools know an error of an observed tool', () => {
    const errors = new CountedErrors();
    const error = new Error('x');
    errors.add(call(1, 'observe_only'), error);
    expect([errors.has(call(0), error), errors.has(call(0, 'observe_only'), error)]).toEqual([false, true]);
    const other = new Error('y');
    errors.add(call(1), other);
    expect([errors.has(call(0), other), errors.has(call(0, 'observe_only'), other)]).toEqual([true, true]);
  });
});
