import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { grafanaAlerting } from './grafana.ts';
import { operatorRules } from './operator.ts';
import { ruleFiles } from './prometheus.ts';
import { withTables } from './readme-tables.ts';

/*
 * Writes the rules for Prometheus and its operator, the alert rules for Grafana's provisioning, and the tables of README.md. With
 * `--check` it writes nothing, and fails if a file differs from what the source gives.
 */

const folder = new URL('../', import.meta.url);

const grafana = grafanaAlerting();
const operator = operatorRules();
const files: readonly { readonly path: string; readonly text: string }[] = [
  ...ruleFiles().map(({ name, text }) => ({ path: `rules/${name}`, text })),
  { path: `operator/${operator.name}`, text: operator.text },
  { path: `grafana/${grafana.name}`, text: grafana.text },
  { path: 'README.md', text: withTables(readFileSync(new URL('README.md', folder), 'utf8')) },
];

const onDisk = (path: string): string | undefined => {
  try {
    return readFileSync(new URL(path, folder), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

if (process.argv.includes('--check')) {
  const stale = files.filter(({ path, text }) => onDisk(path) !== text);
  for (const { path } of stale) {
    process.stderr.write(
      `alerts/${path} differs from what alerts/src generates: someone edited it by hand, or did not generate it after a change. Run "node scripts/pnpm/pnpm.mjs run generate" and commit the result.\n`,
    );
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const { path, text } of files) {
    mkdirSync(new URL('.', new URL(path, folder)), { recursive: true });
    writeFileSync(new URL(path, folder), text);
  }
  process.stdout.write(`Wrote ${files.length} files to ${fileURLToPath(folder)}\n`);
}
