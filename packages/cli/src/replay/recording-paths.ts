import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** In a folder, only files with these names are tried. */
const EXTENSIONS = new Set(['.jsonl', '.json', '.ndjson', '.csv']);
const LEFT_OUT = new Set(['node_modules', '.git']);

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

/** A folder that cannot be read is among the files, so that the report names it as not read. */
const filesBelow = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [folder];
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) found.push(...(await filesBelow(path)));
    else if (entry.isFile() && EXTENSIONS.has(extname(entry.name).toLowerCase())) found.push(path);
  }
  return found.sort();
};
