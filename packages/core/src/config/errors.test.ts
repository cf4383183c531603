import { expect, test } from 'vitest';
import { BreakerboxConfigError } from './errors.ts';

const issues = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `key${index}`, message: 'is wrong.' }));

test('E6: one message has all that is wrong, up to a hundred faults', () => {
  const few = new BreakerboxConfigError(issues(2), 'snapshot');
  expect(few.message).toBe("Breakerbox can't use this snapshot:\n  key0: is wrong.\n  key1: is wrong.");
  const many = new BreakerboxConfigError(issues(101));
  expect(many.message).toMatch(/key99: is wrong\.\n {2}… and at least 1 more\. Fix these first\.$/);
  expect(many.issues).toEqual(issues(100));
  const ten = new BreakerboxConfigError(issues(12), 'snapshot', 10);
  expect(ten.message).toMatch(/key9: is wrong\.\n {2}… and 2 more\. Fix these first\.$/);
});

test('E6: a very long path keeps its beginning and its end', () => {
  const path = `tools.${'🔎'.repeat(1_000_000)}.alternatives[0].tool`;
  const [issue] = new BreakerboxConfigError([{ path, message: 'is wrong.' }]).issues;
  expect(issue?.path).toMatch(/^tools\.🔎+…🔎+\.alternatives\[0\]\.tool$/u);
  expect(issue?.path.length).toBeLessThan(200);
});
