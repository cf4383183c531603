import { readDefaults } from '../../bench/src/defaults/play.ts';
import { defaultsText } from '../../bench/src/defaults/table.ts';
import { withMarked } from '../../bench/src/marked.ts';

/** docs/concepts.md with the tables of the simulation in their place, from bench/defaults.json. */
export const withDefaults = (page: string, results = readDefaults()): string =>
  withMarked(page, 'defaults', defaultsText(results), 'docs/concepts.md');
