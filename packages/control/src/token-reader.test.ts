import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { tokenReader } from './token-reader.ts';
import { createToken, revokeToken } from './tokens.ts';

const fileOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-token-reader-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'tokens.json');
};

const silent = (): void => {};

test('A5: an endpoint ignores entries that do not fit, says so once, and admits the others', async () => {
  const file = fileOf();
  const shown = await createToken(file, 'ada', 'view');
  const { tokens } = JSON.parse(readFileSync(file, 'utf8'));
  const unfit = [{ ...tokens[0], role: 'admin' }, 7, { ...tokens[0], name: ' ' }];
  writeFileSync(file, JSON.stringify({ tokens: [...unfit, ...tokens] }), { mode: 0o600 });
  const said: string[] = [];
  const read = tokenReader(file, (message) => said.push(message));
  for (let count = 0; count < 3; count += 1) expect(await read(shown)).toEqual(tokens[0]);
  expect(said).toEqual([expect.stringMatching(/has entries that are ignored: .*tokens\[0\]/s)]);
  await expect(createToken(file, 'bob', 'view')).rejects.toThrow('is not a file of tokens'); // It would lose them.
});

test('A5: a pipe is no file of tokens, and is not waited for', async () => {
  const pipe = fileOf();
  execFileSync('mkfifo', ['-m', '600', pipe]);
  await expect(tokenReader(pipe, silent)('bbx_x')).rejects.toThrow('is not a file');
});

test('A5: each change of the file holds from the next request on, also if the file is known', async () => {
  const file = fileOf();
  const ada = await createToken(file, 'ada', 'operate');
  const read = tokenReader(file, silent);
  const roleOf = async (token: string) => (await read(token))?.role;
  await setTimeout(1_050); // Now the file counts as settled.
  expect([await roleOf(ada), await roleOf(ada)]).toEqual(['operate', 'operate']);
  const content = readFileSync(file, 'utf8');
  writeFileSync(file, content.replace('"operate"', '"view"   ')); // The same size.
  utimesSync(file, 1, 1);
  expect(await roleOf(ada)).toBe('view');
  chmodSync(file, 0o644);
  await expect(roleOf(ada)).rejects.toThrow('can be read by other users');
  chmodSync(file, 0o600);
  const bob = await createToken(file, 'bob', 'view');
  const asked = [roleOf(bob), roleOf(bob)]; // Before it is revoked.
  await revokeToken(file, 'bob');
  await Promise.all(asked);
  expect([await roleOf(bob), await roleOf(ada)]).toEqual([undefined, 'view']);
  renameSync(file, `${file}.old`);
  await expect(roleOf(ada)).rejects.toThrow('ENOENT');
});

test('A5: clients with wrong tokens do not make an endpoint read a long file again and again', async () => {
  const file = fileOf();
  const ada = await createToken(file, 'ada', 'operate');
  const [made] = JSON.parse(readFileSync(file, 'utf8')).tokens;
  const others = Array.from({ length: 9_999 }, (_, index) => ({
    ...made,
    name: `t${index}`,
    sha256: index.toString(16).padStart(64, '0'),
  }));
  writeFileSync(file, JSON.stringify({ tokens: [...others, made] }));
  const read = tokenReader(file, silent);
  const reads = async (count: number): Promise<number> => {
    const { user } = process.cpuUsage();
    await Promise.all(Array.from({ length: count }, (_, index) => read(`bbx_${index}`)));
    return process.cpuUsage().user - user;
  };
  await reads(1);
  const one = await reads(1);
  expect(await reads(500)).toBeLessThan(20 * one);
  expect(await read(ada)).toMatchObject({ name: 'ada' });
});
