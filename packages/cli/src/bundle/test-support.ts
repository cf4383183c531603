import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Run, runCommand } from '../test-support-command.ts';
import { bundleCommand } from './bundle-command.ts';

/** The command in this process. */
export const runBundle = (...flags: readonly string[]): Promise<Run> => runCommand(bundleCommand, flags);

/** A temporary folder for a test file, and a folder below it to write a bundle to. */
export interface TestFolder {
  readonly folder: string;
  readonly out: string;
  /** Every file of a folder, by its relative path. */
  files(): Promise<Readonly<Record<string, string>>>;
  remove(): Promise<void>;
}

export const testFolder = async (): Promise<TestFolder> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-bundle-'));
  return {
    folder,
    out: join(folder, 'out'),
    files: async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      const read = async (path: string) => [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const;
      return Object.fromEntries(await Promise.all(paths.toSorted().map(read)));
    },
    remove: () => rm(folder, { recursive: true }),
  };
};
