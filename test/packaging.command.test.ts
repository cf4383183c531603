import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packAll } from './newcomer/pack.ts';
import { installedIn, makeBlank } from './packaging/project.ts';
import { run } from './packaging/run.ts';

/* What `npx breakerbox` downloads, and what of it a relay reads. */

const MB = 1e6;
/** With all that it depends on. */
const INSTALLED_AT_MOST = 15 * MB;
const TARBALL_AT_MOST = 2 * MB;
/** A relay runs beside each MCP server, and reads this at its start. */
const RELAY_AT_MOST = 0.7 * MB;

let folder: string;
let tarball: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-command-'));
  const tarballs = await packAll();
  tarball = tarballs.get('breakerbox') ?? expect.fail('breakerbox was not packed');
  await makeBlank({ folder, type: 'module', installer: 'npm', ours: ['breakerbox'] }, tarballs);
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const bytesOf = async (files: readonly string[]): Promise<number> => {
  const sizes = await Promise.all(files.map((file) => stat(file)));
  return sizes.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0);
};

test('`npm install breakerbox` installs one package of at most 15 MB', async () => {
  expect(await installedIn(folder)).toEqual(['breakerbox']);
  const below = globSync('node_modules/**', { cwd: folder }).map((file) => join(folder, file));
  expect(await bytesOf(below)).toBeLessThan(INSTALLED_AT_MOST);
  expect(await bytesOf([tarball])).toBeLessThan(TARBALL_AT_MOST);
});

/** The files that an import of this file reads at once. `import()` is left out. */
const importsOf = async (file: string, known = new Set<string>()): Promise<ReadonlySet<string>> => {
  if (known.has(file)) return known;
  known.add(file);
  const code = await readFile(file, 'utf8');
  for (const [, path = ''] of code.matchAll(/^(?:import|export)\b[^;]*?["'](\.{1,2}\/[^"']+)["'];/gm))
    await importsOf(join(dirname(file), path), known);
  return known;
};

test('`breakerbox mcp` reads nothing of other commands, of telemetry or of the control API', async () => {
  const main = join(folder, 'node_modules/breakerbox/dist/main.js');
  const files = await importsOf(main);
  expect(files.size).toBeGreaterThan(2);
  expect(await bytesOf([...files])).toBeLessThan(RELAY_AT_MOST);
  const code = await Promise.all([...files].map((file) => readFile(file, 'utf8')));
  const names = [...files].map((file) => relative(dirname(main), file));
  expect(code.filter((one) => one.includes('class ZodType') || one.includes('class Hono'))).toEqual([]);
  expect(names.filter((name) => /all-commands|contents|install/.test(name))).toEqual([]);
});

const breakerbox = (...args: readonly string[]) => run('npx', ['--no-install', 'breakerbox', ...args], folder);

test.each([
  [['ctl', 'list', '--endpoint', 'http://127.0.0.1:1'], 1, 'no valid answer'],
  [['check', 'missing.yaml'], 1, 'missing.yaml'],
  [['bundle', '--list-settings'], 0, 'The longest gap that is bridged'],
  [['bundle', '--out', 'bundle', '--data-source', 'prometheus'], 0, 'grafana/alerting'],
  [['mcp', '--prometheus', '0', '--control', '--', 'sleep', '1'], 0, 'breakerbox ctl finds this relay at'],
  [['mcp', 'install', '--client', 'vscode', '--file', 'package.json'], 0, 'no server'],
  [['demo'], 1, 'npm run demo'],
])('every command is there: breakerbox %j', async (args, code, says) => {
  const ended = await breakerbox(...args);
  expect(ended.stdout + ended.stderr).toContain(says);
  expect(ended.code).toBe(code);
});
