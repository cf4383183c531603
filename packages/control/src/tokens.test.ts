import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createToken, readTokens, revokeToken } from './tokens.ts';

const fileOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-tokens-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'tokens.json');
};

const namesIn = async (file: string): Promise<readonly string[]> =>
  (await readTokens(file)).map(({ name }) => name).toSorted();

test('A5: commands at the same time lose no token, and a revoked one does not come back', async () => {
  const file = fileOf();
  await createToken(file, 'old', 'view');
  const names = Array.from({ length: 8 }, (_, index) => `t${index}`);
  await Promise.all([...names.map((name) => createToken(file, name, 'view')), revokeToken(file, 'old')]);
  expect(await namesIn(file)).toEqual(names);
});

test.each(['', ' ada', 'a'.repeat(101), 'ada\u001b[2J', 'ada\nroot'])(
  'A5: a token cannot be named %j',
  async (name) => {
    const file = fileOf();
    await createToken(file, 'ada', 'view');
    await expect(createToken(file, name, 'view')).rejects.toThrow('Use 1 to 100 characters');
    expect(await namesIn(file)).toEqual(['ada']);
  },
);

test('A5: through a link, the file that the agent reads is changed', async () => {
  const file = fileOf();
  const link = `${file}.link`;
  await createToken(file, 'ada', 'view');
  symlinkSync(file, link);
  expect(await revokeToken(link, 'ada')).toBe(true);
  expect(await namesIn(file)).toEqual([]);
});

test('A5: a file that is no file of tokens is left as it is', async () => {
  const file = fileOf();
  writeFileSync(file, '{"tokens":[{}]}', { mode: 0o600 });
  await expect(createToken(file, 'ada', 'view')).rejects.toThrow('is not a file of tokens');
  expect(readFileSync(file, 'utf8')).toBe('{"tokens":[{}]}');
  await expect(revokeToken(file, 'ada')).rejects.toThrow('is not a file of tokens');
});

test.runIf(process.getuid?.() === 0)('A5: a file that root changes stays that of the agent', async () => {
  const file = fileOf();
  await createToken(file, 'ada', 'view');
  chownSync(file, 12_345, 12_345);
  await createToken(file, 'bob', 'view');
  expect(statSync(file)).toMatchObject({ uid: 12_345, gid: 12_345 });
});
