import { expect, test } from 'vitest';
import type { ConsoleChange } from '../../src/console/console-state.ts';
import { keepChanges } from './kept-changes.ts';

const HOUR_MS = 3_600_000;

const change = (endpoint: string, unixMs: number): ConsoleChange => ({
  kind: 'budget.exhausted',
  agent: 'a',
  session: 's',
  endpoint,
  unixMs,
});

test('A8: an endpoint that tells of 50,000 changes hides none of another one, and 1,000 are kept', () => {
  const kept = keepChanges(() => 60_000);
  kept.add(JSON.stringify(change('quiet', 1)));
  for (let at = 0; at < 50_000; at += 1) kept.add(JSON.stringify(change('loud', at)));
  const newest = kept.newest();
  expect(newest).toHaveLength(1_000);
  expect([newest[0], newest.at(-1)]).toEqual([change('loud', 49_999), change('quiet', 1)]);
});

test('A8: the changes of the last hour are shown once, the newest first', () => {
  let now = HOUR_MS;
  const kept = keepChanges(() => now);
  for (const at of [5, 20, 5, 10]) kept.add(JSON.stringify(change('one', at)));
  expect(kept.newest().map(({ unixMs }) => unixMs)).toEqual([20, 10, 5]);
  now = HOUR_MS + 15;
  expect(kept.newest().map(({ unixMs }) => unixMs)).toEqual([20]);
});
