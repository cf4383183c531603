import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BENEFIT_PAGE, benefitTables, playRuns, withTables } from './command.ts';
import { HABITS } from './habits.ts';
import { STORIES } from './outages.ts';
import { PROTECTIONS } from './protections.ts';

test('docs/benefit.md has the figures of this engine; `npm run bench -- benefit --write` renews them', () => {
  const page = readFileSync(BENEFIT_PAGE, 'utf8');
  expect(page).toBe(withTables(page, benefitTables()));
});

const played = (story: string, habit: string) => {
  const find = <T extends { readonly id: string }>(all: readonly T[], id: string): T => {
    const found = all.find((one) => one.id === id);
    if (!found) throw new Error(`there is no ${id}`);
    return found;
  };
  const of = (kind: string) => playRuns(find(STORIES, story), find(HABITS, habit), find(PROTECTIONS, kind), 40);
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
