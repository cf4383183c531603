import { expect, test } from 'vitest';
import { readResults } from './page/page.ts';
import { quickCells } from './table/cells.ts';
import { headlines } from './table/headlines.ts';
import { RESULTS_FILE, resultsOf } from './table/results.ts';
import { runCells } from './table/run-cells.ts';
import { agree } from './table/statistics.ts';

const MINUTES = 60_000;

test('the reduced run gives the published headlines, within their intervals', { timeout: 10 * MINUTES }, async () => {
  const published = readResults(RESULTS_FILE);
  const now = headlines(resultsOf(await runCells(quickCells())));
  const changed = headlines(published.cells).filter(({ id, figure }) => {
    const found = now.find((one) => one.id === id);
    return found === undefined || !agree(figure, found.figure);
  });
  expect(changed).toEqual([]);
});
