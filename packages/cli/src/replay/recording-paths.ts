import { readdir, stat } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';

/** In a folder, only files with these names are tried. */
const EXTENSIONS = new Set(['.jsonl', '.json', '.ndjson', '.csv']);

/**
 * The files of the given paths, sorted. Folders are searched with everything below them; `.git`, `node_modules` and symbolic links are left out.
 *
 * @throws Error if a path does not exist, or if a folder has no such file.
 */
export const recordingPaths = async (paths: readonly string[]): Promise<readonly string[]> => {
  const found = new Set<string>();
  for (const path of paths) {
    const files = (await stat(path)).isDirectory() ? await filesBelow(path) : [path];
    if (files.length === 0) {
      throw new Error(
        `There is no recording in the folder '${path}'. Only files that end in ${[...EXTENSIONS].join(', ')} are read.`,
      );
    }
    for (const file of files) found.add(file);
  }
  return [...found];
};

const filesBelow = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && EXTENSIONS.has(extname(entry.name).toLowerCase()))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/(?:^|[/\\])(?:node_modules|\.git)[/\\]/.test(relative(folder, path)))
    .sort();
};
