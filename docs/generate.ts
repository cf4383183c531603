/*
 * Writes docs/configuration.md, the measured costs in docs/production.md, README.md and bench/README.md, and the simulated budgets in
 * docs/concepts.md. With `--check` it writes nothing, and fails if a file is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pagesOf, readResults } from '../bench/src/pages.ts';
import { withCost } from './reference/cost.ts';
import { withDefaults } from './reference/defaults.ts';
import { configurationPage } from './reference/page.ts';

const pathOf = (name: string): URL => new URL(`../${name}`, import.meta.url);

const files: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'docs/configuration.md', text: configurationPage() },
  { name: 'docs/production.md', text: withCost(readFileSync(pathOf('docs/production.md'), 'utf8')) },
  { name: 'docs/concepts.md', text: withDefaults(readFileSync(pathOf('docs/concepts.md'), 'utf8')) },
  ...pagesOf(readResults()).map(({ path, text }) => ({ name: path, text })),
];

if (process.argv.includes('--check')) {
  const stale = files.filter(({ name, text }) => readFileSync(pathOf(name), 'utf8') !== text);
  for (const { name } of stale) {
    process.stderr.write(
      `${name} isn't what the sources give: it was edited by hand, or not generated again after a change. Run "node scripts/pnpm/pnpm.mjs run generate" and commit the result.\n`,
    );
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const { name, text } of files) writeFileSync(pathOf(name), text);
  process.stdout.write(`Wrote ${files.map(({ name }) => name).join(', ')}\n`);
}
