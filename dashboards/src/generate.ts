import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtDashboards } from './dashboards.ts';
import { rendered } from './finish.ts';

/*
 * Writes the dashboards that Grafana is provisioned with. With `--check` it writes nothing, and fails where a file isn't
 * what the source gives.
 */

const folder = new URL('../generated/', import.meta.url);

const files: readonly { readonly name: string; readonly content: string }[] = builtDashboards().map(
  ({ uid, json }) => ({
    name: `${uid}.json`,
    content: rendered(json),
  }),
);

const onDisk = (name: string): string | undefined => {
  try {
    return readFileSync(new URL(name, folder), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

if (process.argv.includes('--check')) {
  const stale = files.filter(({ name, content }) => onDisk(name) !== content);
  for (const { name } of stale) {
    process.stderr.write(
      `dashboards/generated/${name} isn't what dashboards/src gives: it was edited by hand, or not generated again after a change. Run "pnpm generate" and commit the result.\n`,
    );
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  mkdirSync(folder, { recursive: true });
  for (const { name, content } of files) writeFileSync(new URL(name, folder), content);
  process.stdout.write(`Wrote ${files.length} dashboard(s) to ${fileURLToPath(folder)}\n`);
}
