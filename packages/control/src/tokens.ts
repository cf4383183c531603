import { createHash, randomBytes } from 'node:crypto';
import { readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { safeJson } from '@breakerbox/core/internal';
import { z } from 'zod';
import { openLock } from './lock-file.ts';

/** What a token permits: `view` reads, `operate` acts too. */
export type Role = 'view' | 'operate';

const Token = z.strictObject({
  name: z.string().min(1).max(100).regex(/\S/, 'Give a name that is not empty.'),
  role: z.enum(['view', 'operate']),
  /** SHA-256 of the token, as hexadecimal digits. The token itself is random, so a slow hash would add nothing. */
  sha256: z.string().regex(/^[\da-f]{64}$/),
  createdAt: z.string().max(100),
});
export type Token = z.infer<typeof Token>;
export const TokenFile = z.strictObject({ tokens: z.array(Token).max(10_000) });
/** Bytes of a file of tokens. */
const MOST_BYTES = 4 * 1024 * 1024;

/** As a file keeps it: hexadecimal digits. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** What a file of tokens has, unchecked. */
export const contentOf = async (file: string): Promise<unknown> => {
  const found = await stat(file);
  const { mode, size } = found;
  if (!found.isFile())
    throw new Error(`${file} is not a file. Give a file that breakerbox ctl token create has written.`);
  if ((mode & 0o077) !== 0) throw new Error(`${file} can be read by other users. Run: chmod 600 ${file}`);
  if (size > MOST_BYTES) throw new Error(`${file} is larger than a file of tokens can be (${MOST_BYTES} bytes).`);
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} is not a file of tokens: ${(error as Error).message}`);
  }
};

/**
 * The tokens of a file (A5).
 *
 * @throws Error if the file cannot be read, if other users can read it, or if it is malformed.
 */
export const readTokens = async (file: string): Promise<readonly Token[]> => {
  const found = TokenFile.safeParse(await contentOf(file));
  if (!found.success) throw new Error(`${file} is not a file of tokens: ${z.prettifyError(found.error)}`);
  return found.data.tokens;
};

const isCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;

/** Replaces the tokens of a file by what `change` makes of them. Without a change the file stays as it is. */
const update = async (
  given: string,
  change: (tokens: readonly Token[]) => readonly Token[] | undefined,
): Promise<boolean> => {
  const file = await realpath(given).catch(() => given); // The agent reads what a link points to.
  const part = `${file}.part`;
  // Only one process at a time has the new file, so that no change is lost.
  const handle = await openLock(
    part,
    `Another breakerbox ctl token command is writing the tokens. If no such command is running, remove ${part}.`,
  );
  let isRenamed = false;
  try {
    const tokens = await readTokens(file).catch((error) => {
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    });
    const changed = change(tokens);
    if (changed === undefined) return false;
    await handle.writeFile(`${safeJson({ tokens: changed }, 2)}\n`);
    await handle.sync();
    // The agent reads it as its own user, also if root changes it.
    const before = await stat(file).catch(() => undefined);
    if (before !== undefined) await handle.chown(before.uid, before.gid);
    await rename(part, file);
    isRenamed = true;
    return true;
  } finally {
    await handle.close();
    if (!isRenamed) await rm(part, { force: true });
  }
};

/** What a name may be, so that the file can be read again and a list of names is safe in a terminal. */
const NAME = /^(?!\s)[^\p{C}]{1,100}$/u;

/**
 * Adds a token to a file, which is made if it is missing.
 *
 * @returns the token. Only its hash is kept, so it can't be shown again.
 * @throws Error if there is a token of that name, or if the name is empty, too long or has control characters.
 */
export const createToken = async (file: string, name: string, role: Role, at = new Date()): Promise<string> => {
  if (!NAME.test(name))
    throw new Error(
      `${JSON.stringify(name)} is not a valid name for a token. Use 1 to 100 characters, without control characters and without a space at the beginning.`,
    );
  const token = `bbx_${randomBytes(32).toString('base64url')}`;
  const made = { name, role, sha256: hashOf(token), createdAt: at.toISOString() };
  await update(file, (tokens) => {
    if (tokens.every((one) => one.name !== name)) return [...tokens, made];
    throw new Error(`${file} already has a token named ${name}. Revoke it first, or choose another name.`);
  });
  return token;
};

/** Removes a token. False if there is no token of that name. A request with it is refused at once. */
export const revokeToken = (file: string, name: string): Promise<boolean> =>
  update(file, (tokens) => {
    const left = tokens.filter((one) => one.name !== name);
    return left.length === tokens.length ? undefined : left;
  });
