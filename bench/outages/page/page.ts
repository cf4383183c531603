import { readFileSync, writeFileSync } from 'node:fs';
import { withMarked } from '../../src/marked.ts';
import { type OutageResults, PUBLISHED_FILE, RESULTS_FILE } from '../table/results.ts';
import { drawPlot, PLOTS } from './plots.ts';
import {
  expectationTable,
  lossTables,
  pageTables,
  publishedText,
  README_SENTENCE,
  readmeSentence,
  sourceText,
} from './tables.ts';

const FILE = 'docs/outage-bench.md';
export const OUTAGE_PAGE = new URL(`../../../${FILE}`, import.meta.url);
const README = new URL('../../../README.md', import.meta.url);
const PICTURES = new URL('../../../docs/pictures/', import.meta.url);

/** The page with its tables. `published` has the results of tau²-bench's own tasks. */
export const pageWith = (page: string, results: OutageResults, published: OutageResults): string =>
  [
    ['source', sourceText(results)],
    ['expected', expectationTable(results)],
    ['losses', lossTables(results)],
    ['published', publishedText(published)],
    ['tables', pageTables(results)],
  ].reduce((text, [name = '', part = '']) => withMarked(text, name, part, FILE), page);

export const readResults = (file: URL): OutageResults => JSON.parse(readFileSync(file, 'utf8')) as OutageResults;

/** Draws the page and its plots from the files of results. */
export const writeOutagePage = async (): Promise<void> => {
  const results = readResults(RESULTS_FILE);
  writeFileSync(OUTAGE_PAGE, pageWith(readFileSync(OUTAGE_PAGE, 'utf8'), results, readResults(PUBLISHED_FILE)));
  writeFileSync(
    README,
    readFileSync(README, 'utf8').replace(README_SENTENCE, () => readmeSentence(results)),
  );
  for (const plot of PLOTS) writeFileSync(new URL(plot.file, PICTURES), `${await drawPlot(plot, results)}\n`);
};
