/** The command as a process of its own. The tests of its parts are beside them. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const start = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, ['--conditions=breakerbox-source', MAIN, ...args]);

test.each(['--version', '-V'])('%s prints the version', async (flag) => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  expect(await start(flag)).toEqual({ stdout: `${version}\n`, stderr: '' });
});

test('rejects an unknown command, and says where to look', async () => {
  await expect(start('replai')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/unknown command 'replai'\n\(Did you mean replay\?\)\n\(see --help\)/),
  });
});

test('Q1: an error about a flag does not repeat what would move the cursor', async () => {
  const { stderr } = await start('replay', '--format', 'x\u001b[31m\u009b2J', 'a').catch(
    (error: { stderr: string }) => error,
  );
  expect(stderr).toContain("argument 'x\\x1b[31m\\x9b2J' is invalid");
});
