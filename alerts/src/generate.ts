import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { grafanaAlerting } from './grafana.ts';
import { ruleFiles } from './prometheus.ts';

/*
 * Writes the rules for Prometheus and the alert rules for Grafana's provisioning. With `--check` it writes nothing, and fails if
 * a file differs from what the source gives.
 */

const folder = new URL('../', import.meta.url);

const grafana = grafanaAlerting();
const files: readonly { readonly path: string; readonly text: string }[] = [
  ...ruleFiles().map(({ name, text }) => ({ path: `rules/${name}`, text })),
  { path: `grafana/${grafana.name}`, text: grafana.text },
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
      `alerts/${path} differs from what alerts/src generates: someone edited it by hand, or did not generate it after a change. Run "pnpm generate" and commit the result.\n`,
    );
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const { path, text } of files) {
    mkdirSync(new URL('.', new URL(path, folder)), { recursive: true });
    writeFileSync(new URL(path, folder), text);
  }
  process.stdout.write(`Wrote ${files.length} rule files to ${fileURLToPath(folder)}\n`);
}
