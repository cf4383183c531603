import { readFileSync, writeFileSync } from 'node:fs';
import { withMarked } from '../../src/marked.ts';
import type { OutageResults } from '../table/results.ts';
import { drawPlot, PLOTS } from './plots.ts';
import { expectationTable, pageTables } from './tables.ts';

const FILE = 'docs/outage-bench.md';
export const OUTAGE_PAGE = new URL(`../../../${FILE}`, import.meta.url);
const PICTURES = new URL('../../../docs/pictures/', import.meta.url);

/** Where the figures come from. */
const sourceOf = ({ date, minutes, cells }: OutageResults): string => {
  const [first] = cells;
  const fewest = Math.min(...cells.map(({ runs }) => runs));
  return `The figures are from one run on ${date}, which took ${minutes} minutes: ${first?.runs} seeded runs for each cell of the AI SDK with the usual habits, and ${fewest} for each other cell.`;
};

/** The page with its tables. */
export const pageWith = (page: string, results: OutageResults): string =>
  [
    ['source', sourceOf(results)],
    ['expected', expectationTable(results)],
    ['tables', pageTables(results)],
  ].reduce((text, [name = '', part = '']) => withMarked(text, name, part, FILE), page);

export const writeOutagePage = async (results: OutageResults): Promise<void> => {
  writeFileSync(OUTAGE_PAGE, pageWith(readFileSync(OUTAGE_PAGE, 'utf8'), results));
  for (const plot of PLOTS) writeFileSync(new URL(plot.file, PICTURES), `${await drawPlot(plot, results)}\n`);
};
