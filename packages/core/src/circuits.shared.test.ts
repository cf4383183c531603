import { afterEach, expect, test, vi } from 'vitest';
import { Accounts } from './accounts.ts';
import { bench, failOnce, steps, succeedOnce } from './test-support.ts';

afterEach(() => vi.restoreAllMocks());

const MANY = Array.from({ length: 300 }, (_, n) => `t${n}`);

/** A session that shares its circuits with another, by whose doing many of them have opened. */
const manyOpen = (systemic?: false) => {
  const made = bench({
    scope: 'process',
    budget: { failures: 1_000 },
    defaults: { failureThreshold: 1, probeAfterSteps: 1 },
    tools: Object.fromEntries([...MANY, 'healthy'].map((name) => [name, {}])),
    systemic: systemic ?? { sameCategory: 1_000, anyCategory: 1_000 },
  });
  const other = made.box.session();
  for (const tool of MANY) failOnce(other, tool);
  const learnt = vi.spyOn(Accounts.prototype, 'openedElsewhere');
  const forgotten = vi.spyOn(Accounts.prototype, 'closedElsewhere');
  return { ...made, other, learnt, forgotten };
};

test("C12: where nothing is ever systemic, other sessions' openings are not looked at", () => {
  const { session, learnt } = manyOpen(false);
  expect(succeedOnce(session, 'healthy')).toBe('call');
  expect(learnt).not.toHaveBeenCalled();
  expect(session.acquire('t0').decision).toBe('skip');
});

test('C12: what others opened, and what they closed, is entered once a call, however many there are', () => {
  const { session, other, learnt, forgotten } = manyOpen();
  succeedOnce(session, 'healthy');
  expect(learnt.mock.calls.map(([openings]) => openings.length)).toEqual([300]);
  steps(other, 1);
  for (const tool of MANY) expect(succeedOnce(other, tool)).toBe('probe');
  succeedOnce(session, 'healthy');
  expect(forgotten.mock.calls.map(([tools]) => tools.size)).toEqual([300]);
});
