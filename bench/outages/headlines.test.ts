import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { quickCells } from './table/cells.ts';
import { type Headline, quickHeadlines } from './table/headlines.ts';
import { QUICK_FILE } from './table/results.ts';
import { runCells } from './table/run-cells.ts';

const MINUTES = 60_000;
const DIGITS = 6;

const rounded = (headlines: readonly Headline[]): readonly string[] =>
  headlines.map(({ id, figure: { mean, half } }) => `${id} ${mean.toFixed(DIGITS)} ± ${half.toFixed(DIGITS)}`);

test('the reduced run gives the stored headlines of each framework; `npm run bench -- outages --write` renews them', {
  timeout: 10 * MINUTES,
}, async () => {
  const stored = JSON.parse(readFileSync(QUICK_FILE, 'utf8')) as readonly Headline[];
  expect(rounded(quickHeadlines(await runCells(quickCells())))).toEqual(rounded(stored));
});
