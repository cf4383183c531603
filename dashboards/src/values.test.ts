import { describe, it } from 'vitest';
import { METRIC } from './names.ts';
import { gained, sumBy } from './promql.ts';
import { proved, SOURCE } from './test-support.ts';

describe('the increase of a counter', () => {
  const counter = `${METRIC.budgetConsumed.prometheus}{${SOURCE}}`;
  const expr = sumBy([], gained(METRIC.budgetConsumed, '$__range'));

  it.each<[string, string, string, number]>([
    ['its first value too', '_x99 5x9', '1h45m', 5],
    ['only the new part of a series that existed before', '5x104 7x5', '1h49m', 2],
    ['nothing, if it was back within the hour', '5x20 _x49 5x9', '1h19m', 0],
    ['exact for large counts, although the window begins between two scrapes', '0+997x104', '1h30m30s', 9970],
    ['exact for large counts, although a scrape is missing at its edge', '0+997x79 _ 80757+997x20', '1h30m', 10967],
    ['the parts before and after a restart', '0+5x94 0 5 10 15 20 25', '1h39m', 45],
    // The limit that the comment and the README document.
    ['its whole total, if it was absent for longer', '5x20 _x79 5x9', '1h49m', 5],
  ])('is %s', async (_, values, at, value) => {
    await proved({ samples: { [counter]: values }, expr, at, gives: [{ labels: '{}', value }] });
  });
});
