// Runs the pnpm of package-lock.json, which has the hashes of pnpm and of its binaries for Linux: `node scripts/pnpm/pnpm.mjs install`.
// npm refuses a download that differs. `npx pnpm@VERSION` would run what the registry gives at that moment.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const readJson = (file) => JSON.parse(readFileSync(join(here, file), 'utf8'));
const { packages } = readJson('package-lock.json');
const { version } = packages['node_modules/pnpm'];
const binary = `node_modules/@pnpm/exe.${process.platform}-${process.arch}`;
const manifest = 'node_modules/pnpm/package.json';

const isInstalled = () =>
  existsSync(join(here, manifest)) &&
  readJson(manifest).version === version &&
  // Without it, pnpm would download one itself.
  (packages[binary] === undefined || existsSync(join(here, binary)));

const giveUp = (text) => {
  process.stderr.write(`breakerbox: ${text}\n`);
  process.exit(1);
};

/** Without install scripts: pnpm finds its binary by itself. Not `npm ci`, which needs the binaries of all platforms in the lockfile. */
const bring = () => {
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { error, stdout, stderr } = spawnSync('npm', args, { cwd: here, encoding: 'utf8' });
  if (error?.code === 'ENOENT') giveUp('npm was not found. Install npm, then run the same command again.');
  if (isInstalled()) return;
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
  giveUp(
    `npm could not install pnpm ${version}, see above. It must have the hashes of scripts/pnpm/package-lock.json. Check the network and the registry (npm ping), then run the same command again.`,
  );
};

if (!isInstalled()) bring();
const pnpm = join(here, 'node_modules/pnpm/bin/pnpm.mjs');
const { status, signal } = spawnSync(process.execPath, [pnpm, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status ?? 128 + (constants.signals[signal] ?? 0));
