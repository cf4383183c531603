import { expect, test } from 'vitest';
import { BreakerboxConfigError } from './errors.ts';

const issues = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `key${index}`, message: 'is wrong.' }));

test('E6: all that is wrong stands in one message, up to a hundred', () => {
  const few = new BreakerboxConfigError(issues(2), 'snapshot');
  expect(few.message).toBe("Breakerbox can't use this snapshot:\n  key0: is wrong.\n  key1: is wrong.");
  const many = new BreakerboxConfigError(issues(101));
  expect(many.message).toMatch(/key99: is wrong\.\n {2}… and more\. Mend these first\.$/);
  expect(many.issues).toEqual(issues(100));
});

test('E6: a path with a book in it keeps its beginning and its end', () => {
  const path = `tools.${'🔎'.repeat(1_000_000)}.alternatives[0].tool`;
  const [issue] = new BreakerboxConfigError([{ path, message: 'is wrong.' }]).issues;
  expect(issue?.path).toMatch(/^tools\.🔎+…🔎+\.alternatives\[0\]\.tool$/u);
  expect(issue?.path.length).toBeLessThan(200);
});
