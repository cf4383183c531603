import { access, constants, copyFile, link, mkdir, mkdtemp, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BreakerboxConfigError } from '@breakerbox/core';
import type { BundleFile } from './write.ts';

/** Moving failed, and so did moving back: the folder is neither as it was nor as it should be. */
export class HalfWritten extends BreakerboxConfigError {}

/** How to undo what was done, the last thing last. Each is told whether one before it has failed. */
type Undo = ((failed: boolean) => Promise<unknown>)[];

/**
 * Writes all of them beside their places, then moves each into its own: where anything fails, all is as it was before.
 *
 * @throws what the file system said; or HalfWritten where not even undoing worked
 */
export const put = async (out: string, files: readonly BundleFile[]): Promise<void> => {
  const undo: Undo = [];
  try {
    await makeFolder(out, undo);
    const stage = await mkdtemp(join(out, '.breakerbox-'));
    // Where a file could not be put back, this is where it is.
    undo.push(async (failed) => failed || rm(stage, { recursive: true, force: true }));
    for (const [index, { text }] of files.entries()) await writeFile(join(stage, `${index}`), text);
    const folders = new Set(files.map(({ path }) => dirname(join(out, path))));
    for (const folder of folders) await makeFolder(folder, undo);
    for (const folder of folders) await access(folder, constants.W_OK | constants.X_OK);
    for (const [index, { path }] of files.entries()) await move(join(stage, `${index}`), join(out, path), undo);
    await rm(stage, { recursive: true, force: true });
  } catch (error) {
    await undoAll(out, undo, error);
    throw error;
  }
};

/** Each part by itself, so that it is known which of them this run made: another run may be at work beside it. */
const makeFolder = async (path: string, undo: Undo): Promise<void> => {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path), undo);
    return makeFolder(path, undo);
  }
  // Not recursively: what somebody else has put there stays, and so does the folder.
  undo.push(() => rmdir(path).catch(unless('ENOTEMPTY', 'EEXIST', 'ENOENT')));
};

/** Moves a file into its place; one that is there is kept beside the new one until all of them are in theirs. */
const move = async (from: string, to: string, undo: Undo): Promise<void> => {
  const kept = `${from}.before`;
  // A link keeps the file itself, with its rights; some file systems have none.
  const there = await link(to, kept)
    .catch((error: unknown) => (codeOf(error) === 'ENOENT' ? Promise.reject(error) : copyFile(to, kept)))
    .then(() => true, unless('ENOENT'));
  await rename(from, to);
  undo.push(() => (there === true ? rename(kept, to) : rm(to)));
};

/** The last thing first, and all that can be undone. */
const undoAll = async (out: string, undo: Undo, cause: unknown): Promise<void> => {
  const failed: string[] = [];
  for (const step of undo.toReversed()) {
    await step(failed.length > 0).catch((error: unknown) => failed.push(messageOf(error)));
  }
  if (failed.length === 0) return;
  const message = `is half written: ${messageOf(cause)}; and not all could be put back: ${failed.join('; ')}. What was overwritten is in a folder .breakerbox-… in it, as *.before. Mend the cause, run the command again with --force, and remove that folder`;
  throw new HalfWritten([{ path: out, message }], 'folder for a bundle');
};

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Lets errors of these codes pass as nothing. */
const unless =
  (...codes: readonly string[]) =>
  (error: unknown): undefined => {
    if (!codes.includes(String(codeOf(error)))) throw error;
  };
