import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BENEFIT_PAGE, benefitTables, withTables } from './command.ts';
import { HABITS } from './habits.ts';
import { broken, LIMITS, named } from './limits.ts';
import { STORIES } from './outages.ts';
import { PROTECTIONS } from './protections.ts';
import { noCost, playRuns } from './run.ts';

test('docs/benefit.md has the figures of this engine; `npm run bench -- benefit --write` renews them', () => {
  const page = readFileSync(BENEFIT_PAGE, 'utf8');
  expect(page).toBe(withTables(page, benefitTables()));
});

test('R5, P1, S1: Breakerbox keeps the limits of the tables, and a run without its benefit breaks each of them', () => {
  expect(broken(40)).toEqual([]);
  const worse = { ...noCost(), runs: 1, tasks: 1, deadCalls: 99, wastedTokens: 1e6, falseRejections: 9 };
  const all = LIMITS.flatMap(({ habits = HABITS }) => [...habits]);
  expect(broken(1, () => worse)).toHaveLength(all.length);
});

const played = (story: string, habit: string) => {
  const of = (kind: string) => playRuns(named(STORIES, story), named(HABITS, habit), named(PROTECTIONS, kind), 40);
  return { none: of('none'), naive: of('naive'), breakerbox: of('breakerbox') };
};

test.each(['healthy', 'mistakes'])(
  'a run without an outage (%s) costs the same with Breakerbox as without',
  (story) => {
    for (const { id } of HABITS) {
      const { none, breakerbox } = played(story, id);
      expect(breakerbox.completed).toBeGreaterThanOrEqual(none.completed - 1);
      expect(breakerbox.falseRejections).toBeLessThanOrEqual(none.runs * 0.05);
    }
  },
);

test('a stubborn agent makes fewer calls into a dead tool, wastes fewer tokens, and completes its tasks by the alternative', () => {
  const { none, naive, breakerbox } = played('refused', 'stubborn');
  expect(breakerbox.deadCalls).toBeLessThan(none.deadCalls / 5);
  expect(breakerbox.wastedTokens).toBeLessThan(naive.wastedTokens / 2);
  expect(breakerbox.completed).toBeGreaterThan(none.completed);
});

test('R5: an impatient agent takes the alternative, because the advice names it after the third failure and after a failed probe', () => {
  const { breakerbox, none } = played('refused', 'once');
  expect(none.completed).toBe(0);
  // Two failures have no advice. Each of them costs a task; the model's own mistakes and chance cost some of the other 23.
  expect(breakerbox.completed).toBeGreaterThan(0.75 * breakerbox.tasks);
  expect(breakerbox.deadCalls).toBeGreaterThan(5 * breakerbox.runs);
});
