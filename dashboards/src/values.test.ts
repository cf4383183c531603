import { describe, it } from 'vitest';
import { METRIC } from './names.ts';
import { gained, sumBy } from './promql.ts';
import { proved, SOURCE } from './test-support.ts';

describe('what a counter gained', () => {
  const counter = `${METRIC.budgetConsumed.prometheus}{${SOURCE}}`;
  const expr = sumBy([], gained(METRIC.budgetConsumed, '$__range'));

  it.each<[string, string, string, number]>([
    ['what it was born with, too', '_x99 5x9', '1h45m', 5],
    ['only what is new of one that was there before', '5x104 7x5', '1h49m', 2],
    ['nothing, if it was back within the hour', '5x20 _x49 5x9', '1h19m', 0],
    ['to the last one of many, though the window begins between two scrapes', '0+997x104', '1h30m30s', 9970],
    ['to the last one of many, though a scrape is missing at its edge', '0+997x79 _ 80757+997x20', '1h30m', 10967],
    ['what came before and after a restart', '0+5x94 0 5 10 15 20 25', '1h39m', 45],
    // The limit that the comment and the README own up to.
    ['all that it ever counted, if it was away for longer', '5x20 _x79 5x9', '1h49m', 5],
  ])('is %s', async (_, values, at, value) => {
    await proved({ samples: { [counter]: values }, expr, at, gives: [{ labels: '{}', value }] });
  });
});
