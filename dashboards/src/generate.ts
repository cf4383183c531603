import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtDashboards } from './dashboards.ts';
import { rendered } from './finish.ts';

/*
 * Writes the dashboards for Grafana's provisioning. With `--check` it writes nothing, and fails if a file differs from what the source
 * generates.
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
      `dashboards/generated/${name} differs from what dashboards/src generates: someone edited it by hand, or did not generate it after a change. Run "node scripts/pnpm/pnpm.mjs run generate" and commit the result.\n`,
    );
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  mkdirSync(folder, { recursive: true });
  for (const { name, content } of files) writeFileSync(new URL(name, folder), content);
  process.stdout.write(`Wrote ${files.length} dashboard(s) to ${fileURLToPath(folder)}\n`);
}
