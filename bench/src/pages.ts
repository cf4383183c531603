import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withMarked } from './marked.ts';
import { readmeText } from './readme.ts';
import type { Results } from './results.ts';
import { benchText } from './tables.ts';

const ROOT = new URL('../../', import.meta.url);
export const RESULTS = fileURLToPath(new URL('bench/results.json', ROOT));

/** A page that shows the results. */
interface Page {
  /** Its path in the repository. */
  readonly path: string;
  /** Its text on the disk. */
  readonly old: string;
  /** Its text with the results between its markers. */
  readonly text: string;
}

const MADE = [
  { path: 'README.md', make: readmeText },
  { path: 'bench/README.md', make: benchText },
];

/** The pages that show the results. docs/production.md does too: see docs/reference/cost.ts. */
export const pagesOf = (results: Results): readonly Page[] =>
  MADE.map(({ path, make }) => {
    const old = readFileSync(new URL(path, ROOT), 'utf8');
    return { path, old, text: withMarked(old, 'bench', make(results), path) };
  });

export const readResults = (): Results => JSON.parse(readFileSync(RESULTS, 'utf8')) as Results;

export const writePages = (results: Results): void => {
  for (const { path, text } of pagesOf(results)) writeFileSync(new URL(path, ROOT), text);
};
