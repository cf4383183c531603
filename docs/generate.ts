/*
 * Writes docs/configuration.md, and in docs/production.md what a call costs. With `--check` it writes nothing, and fails where a file
 * isn't what the sources give.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { withCost } from './reference/cost.ts';
import { configurationPage } from './reference/page.ts';

const pathOf = (name: string): URL => new URL(name, import.meta.url);

const files: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'configuration.md', text: configurationPage() },
  { name: 'production.md', text: withCost(readFileSync(pathOf('production.md'), 'utf8')) },
];

if (process.argv.includes('--check')) {
  const stale = files.filter(({ name, text }) => readFileSync(pathOf(name), 'utf8') !== text);
  for (const { name } of stale) {
    process.stderr.write(
      `docs/${name} isn't what the sources give: it was edited by hand, or not generated again after a change. Run "pnpm generate" and commit the result.\n`,
    );
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const { name, text } of files) writeFileSync(pathOf(name), text);
  process.stdout.write(`Wrote ${files.map(({ name }) => `docs/${name}`).join(', ')}\n`);
}
