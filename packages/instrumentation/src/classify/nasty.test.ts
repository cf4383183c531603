import { expect, test } from 'vitest';
import { neverThrows } from '../../../core/src/classify/test-support.nasty.ts';
import { classifyError, classifyResult } from '../test-support/classify/verdicts.ts';
import { readReturned } from './classify.ts';

neverThrows(classifyError, classifyResult);

test('E5: an error with many causes, each with a long text, is read in time that does not grow with their number', () => {
  const text = "Tool 'x' is unavailable ".repeat(170);
  const node = (depth: number): object => ({
    message: text,
    lastError: text,
    error: text,
    errors: Array.from({ length: 8 }, () => text),
    ...(depth > 0 && { cause: node(depth - 1) }),
  });
  const costOf = (depth: number): number => {
    const result = { isError: true, content: [], ...node(depth) };
    const runs = Array.from({ length: 5 }, () => {
      const before = process.cpuUsage();
      readReturned(result);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.min(...runs);
  };
  costOf(0);
  expect(costOf(7) / Math.max(costOf(1), 1_000)).toBeLessThan(10); // 15 when all texts were searched together.
});
