import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, open, readFile, rename, stat } from 'node:fs/promises';
import { z } from 'zod';

/** What a token permits: `view` reads, `operate` acts too. */
export type Role = 'view' | 'operate';

const TokenFile = z.strictObject({
  tokens: z.array(
    z.strictObject({
      name: z.string().min(1).max(100),
      role: z.enum(['view', 'operate']),
      /** SHA-256 of the token, as hexadecimal digits. The token itself is random, so a slow hash would add nothing. */
      sha256: z.string().regex(/^[\da-f]{64}$/),
      createdAt: z.string(),
    }),
  ),
});
export type Token = z.infer<typeof TokenFile>['tokens'][number];

const hash = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * The tokens of a file (A5).
 *
 * @throws Error if the file cannot be read, if other users can read it, or if it is malformed.
 */
export const readTokens = async (file: string): Promise<readonly Token[]> => {
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0) throw new Error(`${file} can be read by other users. Run: chmod 600 ${file}`);
  const found = TokenFile.safeParse(JSON.parse(await readFile(file, 'utf8')));
  if (!found.success) throw new Error(`${file} is not a file of tokens: ${z.prettifyError(found.error)}`);
  return found.data.tokens;
};

const write = async (file: string, tokens: readonly Token[]): Promise<void> => {
  const part = `${file}.${process.pid}.part`;
  const handle = await open(part, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ tokens }, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(part, 0o600);
  await rename(part, file);
};

const orNone = (error: NodeJS.ErrnoException): readonly Token[] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};

/**
 * Adds a token to a file, which is made if it is missing.
 *
 * @returns the token. Only its hash is kept, so it can't be shown again.
 * @throws Error if there is a token of that name.
 */
export const createToken = async (file: string, name: string, role: Role, at = new Date()): Promise<string> => {
  const tokens = await readTokens(file).catch(orNone);
  if (tokens.some((one) => one.name === name))
    throw new Error(`${file} has a token ${name}. Revoke it, or choose another name.`);
  const token = `bbx_${randomBytes(32).toString('base64url')}`;
  await write(file, [...tokens, { name, role, sha256: hash(token).toString('hex'), createdAt: at.toISOString() }]);
  return token;
};

/** Removes a token. False if there is no token of that name. A request with it is refused at once. */
export const revokeToken = async (file: string, name: string): Promise<boolean> => {
  const tokens = await readTokens(file).catch(orNone);
  const left = tokens.filter((one) => one.name !== name);
  if (left.length === tokens.length) return false;
  await write(file, left);
  return true;
};

/** The token that a request shows; undefined if it is not one of these. */
export const matching = (tokens: readonly Token[], shown: string): Token | undefined => {
  const digest = hash(shown);
  return tokens.find(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), digest));
};
