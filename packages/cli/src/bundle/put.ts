import { access, constants, copyFile, link, mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BreakerboxConfigError } from '@breakerbox/core';
import { stagingFolder, syncFolder } from './staging.ts';

/** A file of a bundle. */
export interface BundleFile {
  /** Relative to the bundle's folder, separated by `/`. */
  readonly path: string;
  readonly text: string;
  /** The start of every bundle's file of this name. A file that starts differently is not of a bundle, and is never overwritten. */
  readonly mark?: string;
}

/** Moving failed, and so did moving back: the folder has some old files and some new ones. */
export class HalfWritten extends BreakerboxConfigError {}

/** Steps that undo the work so far, in the order of the work. The argument is whether a step before it has failed. */
type Undo = ((failed: boolean) => Promise<unknown>)[];

/**
 * Writes all files to a staging folder, waits until they are on the disk, then moves each to its path. If a step fails, everything is
 * restored.
 *
 * @throws the error of the file system, or HalfWritten if restoring failed too
 */
export const put = async (out: string, files: readonly BundleFile[]): Promise<void> => {
  const undo: Undo = [];
  try {
    await makeFolder(out, undo);
    const stage = await stagingFolder(out);
    // If a file could not be restored, the staging folder is kept, because it has the original.
    undo.push(async (failed) => failed || rm(stage, { recursive: true, force: true }));
    for (const [index, { text }] of files.entries()) {
      await writeFile(join(stage, `${index}`), text, { flush: true });
    }
    await syncFolder(stage);
    const folders = new Set(files.map(({ path }) => dirname(join(out, path))));
    for (const folder of folders) await makeFolder(folder, undo);
    for (const folder of folders) await access(folder, constants.W_OK | constants.X_OK);
    for (const [index, { path }] of files.entries()) await move(join(stage, `${index}`), join(out, path), undo);
    for (const folder of folders) await syncFolder(folder);
    await rm(stage, { recursive: true, force: true });
  } catch (error) {
    await undoAll(out, undo, error);
    throw error;
  }
};

/** Creates each level by itself, to know which levels this run created: another run may use the same folder. */
const makeFolder = async (path: string, undo: Undo): Promise<void> => {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path), undo);
    return makeFolder(path, undo);
  }
  // Not recursively: if another program has put a file there, the file and its folder stay.
  undo.push(() => rmdir(path).catch(unless('ENOTEMPTY', 'EEXIST', 'ENOENT')));
};

/** Moves a file to its path. An existing file there is kept in the staging folder until all files are moved. */
const move = async (from: string, to: string, undo: Undo): Promise<void> => {
  const kept = `${from}.before`;
  // A hard link keeps the file with its rights. Some file systems have no links.
  const there = await link(to, kept)
    .catch((error: unknown) => (codeOf(error) === 'ENOENT' ? Promise.reject(error) : copyFile(to, kept)))
    .then(() => true, unless('ENOENT'));
  await rename(from, to);
  undo.push(() => (there === true ? rename(kept, to) : rm(to)));
};

/** Undoes as much as it can, the last step first. */
const undoAll = async (out: string, undo: Undo, cause: unknown): Promise<void> => {
  const failed: string[] = [];
  for (const step of undo.toReversed()) {
    await step(failed.length > 0).catch((error: unknown) => failed.push(messageOf(error)));
  }
  if (failed.length === 0) return;
  const message = `is half written: ${messageOf(cause)}. Some files could not be restored: ${failed.join('; ')}. The earlier versions of overwritten files are in its folder .breakerbox-stage-…, as *.before. Fix the cause and run the command again with --force. Then remove that folder`;
  throw new HalfWritten([{ path: out, message }], 'folder for a bundle');
};

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Ignores errors with these codes. */
const unless =
  (...codes: readonly string[]) =>
  (error: unknown): undefined => {
    if (!codes.includes(String(codeOf(error)))) throw error;
  };
