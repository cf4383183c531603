import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withMarked } from './marked.ts';
import { readmeText } from './readme.ts';
import type { Results } from './results.ts';
import { benchText } from './tables.ts';

const ROOT = new URL('../../', import.meta.url);
export const RESULTS = fileURLToPath(new URL('bench/results.json', ROOT));

/** A document that says what was measured. */
interface Page {
  /** In the repository. */
  readonly path: string;
  /** As it is on the disk. */
  readonly old: string;
  /** With what the results say between its markers. */
  readonly text: string;
}

const MADE = [
  { path: 'README.md', make: readmeText },
  { path: 'bench/README.md', make: benchText },
];

/** The pages that say what was measured. docs/production.md does too: see docs/reference/cost.ts. */
export const pagesOf = (results: Results): readonly Page[] =>
  MADE.map(({ path, make }) => {
    const old = readFileSync(new URL(path, ROOT), 'utf8');
    return { path, old, text: withMarked(old, 'bench', make(results), path) };
  });

export const readResults = (): Results => JSON.parse(readFileSync(RESULTS, 'utf8')) as Results;

export const writePages = (results: Results): void => {
  for (const { path, text } of pagesOf(results)) writeFileSync(new URL(path, ROOT), text);
};
