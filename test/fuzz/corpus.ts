import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Inputs that are kept in the repository: a folder for each target. */
export const CORPUS = fileURLToPath(new URL('corpus/', import.meta.url));

/** A file holds its input as a JSON string: that keeps lone surrogates, and a diff shows control characters. */
const readInput = (path: string): string => JSON.parse(readFileSync(path, 'utf8')) as string;

/** Writes an input as {@link inputsIn} reads it. */
export const writeInput = (path: string, text: string): void => writeFileSync(path, `${JSON.stringify(text)}\n`);

/** The inputs of a folder by their names; none if there is no folder. */
export const inputsIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(existsSync(folder) ? readdirSync(folder).map((name) => [name, readInput(join(folder, name))] as const) : []);

/** Writes an input under the hash of its text, and returns the path. */
export const keep = (folder: string, text: string): string => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${createHash('sha256').update(text, 'utf16le').digest('hex').slice(0, 16)}.txt`);
  writeInput(path, text);
  return path;
};
