import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** In a folder, only files with these names are tried. */
const EXTENSIONS = new Set(['.jsonl', '.json', '.ndjson', '.csv']);

/**
 * The files of the given paths, sorted. Folders are searched with everything below them; hidden folders and `node_modules` are left out.
 *
 * @throws Error if a path does not exist, or if a folder has no such file.
 */
export const recordingPaths = async (paths: readonly string[]): Promise<readonly string[]> => {
  const found = new Set<string>();
  for (const path of paths) {
    const files = (await stat(path)).isDirectory() ? await filesBelow(path) : [path];
    if (files.length === 0) {
      throw new Error(`There is no recording in the folder '${path}'. Its name ends in ${[...EXTENSIONS].join(', ')}.`);
    }
    for (const file of files) found.add(file);
  }
  return [...found];
};

const filesBelow = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && EXTENSIONS.has(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/[/\\](?:node_modules|\.git)[/\\]/.test(path))
    .sort();
};
