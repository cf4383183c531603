import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { fencesOf } from '../docs/snippets/fences.ts';
import { commandsOf } from '../docs/snippets/shell.ts';
import { ROOT, runCommand } from './newcomer/commands.ts';
import { run } from './packaging/run.ts';

/*
 * What the documents say to do until the packages are on npm: their own commands, in a clone of the repository in which nothing is
 * installed or built, and in a folder beside it.
 */

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

let above: string;
beforeAll(async () => {
  above = await mkdtemp(join(tmpdir(), 'breakerbox-clone-'));
  const listed = await runCommand('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], ROOT);
  for (const file of listed.split('\0').filter(Boolean)) {
    await mkdir(join(above, 'breakerbox', dirname(file)), { recursive: true });
    await copyFile(join(ROOT, file), join(above, 'breakerbox', file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // Deleted, and not committed yet.
    });
  }
}, 180_000);
afterAll(() => rm(above, { recursive: true, force: true }));

/** The commands of a page that pack, and those that install what was packed. */
const packingOf = (page: string) => {
  const commands = fencesOf(page).flatMap(commandsOf);
  const packs = commands.filter((one) => one.startsWith('npm run pack'));
  const installs = commands.filter((one) => one.includes('breakerbox-*.tgz'));
  return { packs, installs };
};

/** Not as a test, whose variables a build would heed. `npm install --global` installs in a folder of its own. */
const inShell = (command: string, folder: string): Promise<string> => {
  const env = ['-u', 'NODE_ENV', '-u', 'VITEST', `npm_config_prefix=${join(above, 'global')}`];
  return runCommand('env', [...env, 'bash', '--norc', '-c', command], folder);
};

/** Runs the commands of a page. Gives the folder beside the clone. */
const followed = async (page: string, name: string): Promise<string> => {
  const { packs, installs } = packingOf(page);
  expect([packs.length, installs.length]).toEqual([1, 1]);
  const beside = join(above, name);
  await mkdir(beside);
  const steps = [...packs.map((one) => [one, 'breakerbox']), ...installs.map((one) => [one, name])];
  for (const [command = '', folder = ''] of steps) await inShell(command, join(above, folder));
  return beside;
};

test('without-code.md: its commands give a breakerbox that relays to a server', { timeout: 600_000 }, async () => {
  const beside = await followed('docs/without-code.md', 'anywhere');
  const bin = join(above, 'global/bin');
  const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
  expect(await run('breakerbox', ['mcp', 'install', '--help'], beside, env)).toMatchObject({ code: 0, stderr: '' });
  const client = new Client({ name: 'clone-test', version: '0.0.0' });
  onTestFinished(() => client.close());
  const args = ['mcp', '--', process.execPath, EVERYTHING];
  await client.connect(new StdioClientTransport({ command: join(bin, 'breakerbox'), args, env, stderr: 'ignore' }));
  expect(await client.callTool({ name: 'echo', arguments: { message: 'hello' } })).toMatchObject({
    content: [{ type: 'text', text: 'Echo: hello' }],
  });
});

test('frameworks.md: its commands give packages that load', { timeout: 600_000 }, async () => {
  const beside = await followed('docs/frameworks.md', 'project');
  const packages = ['@breakerbox/core', '@breakerbox/instrumentation', '@breakerbox/telemetry'];
  const program = packages.map((name) => `import '${name}';`).join('\n');
  const args = ['--input-type=module', '-e', program];
  expect(await run(process.execPath, args, beside)).toEqual({ code: 0, stdout: '', stderr: '' });
});
