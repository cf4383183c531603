import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { quickCells } from './table/cells.ts';
import { headlines } from './table/headlines.ts';
import { type OutageResults, RESULTS_FILE, resultsOf } from './table/results.ts';
import { runCells } from './table/run-cells.ts';
import { agree } from './table/statistics.ts';

const MINUTES = 60_000;

test('the reduced run gives the published headlines, within their intervals', { timeout: 10 * MINUTES }, async () => {
  const published = JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as OutageResults;
  const now = headlines(resultsOf(await runCells(quickCells())));
  const changed = headlines(published.cells).filter(({ id, figure }) => {
    const found = now.find((one) => one.id === id);
    return found === undefined || !agree(figure, found.figure);
  });
  expect(changed).toEqual([]);
});
