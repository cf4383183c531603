/** The command as it is started. What each of its parts does, their own tests say. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const start = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, ['--conditions=breakerbox-source', MAIN, ...args]);

test.each(['--version', '-V'])('%s says which version this is', async (flag) => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  expect(await start(flag)).toEqual({ stdout: `${version}\n`, stderr: '' });
});

test('what there is not is refused, with where to look', async () => {
  await expect(start('demos')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/unknown command 'demos'\n\(Did you mean demo\?\)\n\(--help lists what there is/),
  });
});
