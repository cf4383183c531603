import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, runCommand } from '../newcomer/commands.ts';
import { runPnpm, type Tarballs } from '../newcomer/pack.ts';
import { NPM_QUIET } from './nodes.ts';

const PROGRAMS = join(ROOT, 'test/packaging/programs');

export interface Project {
  readonly folder: string;
  /** What `import` and `.js` mean in it. */
  readonly type: 'module' | 'commonjs';
  readonly installer: 'npm' | 'pnpm';
  /** Packages of ours, by name. */
  readonly ours: readonly string[];
  /** Packages from the registry, such as `typescript@5.9.3`. */
  readonly others?: readonly string[];
}

/** A project with nothing in it but a manifest, the programs of these tests, and what the installer put there. */
export const makeBlank = async (project: Project, tarballs: Tarballs): Promise<string> => {
  const { folder, type, installer, ours, others = [] } = project;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'blank', private: true, type }));
  await cp(PROGRAMS, folder, { recursive: true });
  const files = ours.map((name) => `file:${tarballs.get(name)}`);
  if (installer === 'npm') {
    await runCommand('npm', ['install', ...NPM_QUIET, ...files, ...others], folder);
    return folder;
  }
  // pnpm takes what packages depend on from the registry even where the project has it as a file, and ours aren't there yet.
  const overrides = ours.map((name) => `  '${name}': 'file:${tarballs.get(name)}'`);
  await writeFile(join(folder, 'pnpm-workspace.yaml'), ['overrides:', ...overrides, ''].join('\n'));
  await runPnpm(['add', '--prefer-offline', ...files, ...others], folder);
  return folder;
};

/** The names of all packages that can be imported from the project's own files. */
export const installedIn = async (folder: string): Promise<readonly string[]> => {
  const modules = join(folder, 'node_modules');
  const names = (await readdir(modules)).filter((name) => !name.startsWith('.'));
  const scoped = names.map(async (name) =>
    name.startsWith('@') ? (await readdir(join(modules, name))).map((one) => `${name}/${one}`) : [name],
  );
  return (await Promise.all(scoped)).flat();
};
