/*
 * Writes stack/prometheus/demo-rules/. With `--check` it writes nothing, and fails if a file differs from what alerts/rules/ gives.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEMO_RULES, demoRules } from './demo-rules.ts';
import { ROOT } from './files.ts';

const folder = resolve(ROOT, DEMO_RULES);
const files = demoRules();
const onDisk = existsSync(folder) ? readdirSync(folder) : [];
const leftOver = onDisk.filter((name) => !files.some((file) => file.name === name));

if (process.argv.includes('--check')) {
  const stale = files.filter(
    ({ name, text }) => !onDisk.includes(name) || readFileSync(resolve(folder, name), 'utf8') !== text,
  );
  for (const name of [...stale.map((file) => file.name), ...leftOver]) {
    process.stderr.write(
      `${DEMO_RULES}/${name} differs from what alerts/rules gives: someone edited it by hand, or did not generate it after a change. Run "node scripts/pnpm/pnpm.mjs run generate" and commit the result.\n`,
    );
  }
  process.exitCode = stale.length + leftOver.length === 0 ? 0 : 1;
} else {
  mkdirSync(folder, { recursive: true });
  for (const name of leftOver) rmSync(resolve(folder, name));
  for (const { name, text } of files) writeFileSync(resolve(folder, name), text);
  process.stdout.write(`Wrote ${files.length} files to ${folder}\n`);
}
