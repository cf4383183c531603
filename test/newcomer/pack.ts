import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ROOT, runCommand } from './commands.ts';

/** In the order in which they are built: each sees the types of those before it. */
const PACKAGES = ['core', 'telemetry', 'instrumentation'] as const;

/** Tarballs by the names of the packages. */
export type Tarballs = ReadonlyMap<string, string>;

/**
 * Builds and packs what a user installs, as a release would. In a copy of the workspace, so that the sources that other tests read and
 * the builds of whoever works here stay as they are.
 */
export const packAll = async (folder: string): Promise<Tarballs> => {
  const workspace = join(folder, 'workspace');
  for (const file of ['pnpm-workspace.yaml', 'package.json', 'tsconfig.base.json']) {
    await cp(join(ROOT, file), join(workspace, file));
  }
  await link(join(ROOT, 'node_modules/@types'), join(workspace, 'node_modules/@types'));
  const tarballs = new Map<string, string>();
  for (const name of PACKAGES) {
    await copyPackage(name, workspace);
    tarballs.set(`@breakerbox/${name}`, await pack(join(workspace, 'packages', name)));
  }
  return tarballs;
};

const BUILT = new Set(['node_modules', 'dist']);

const copyPackage = async (name: string, workspace: string): Promise<void> => {
  const from = join(ROOT, 'packages', name);
  const to = join(workspace, 'packages', name);
  await cp(from, to, { recursive: true, filter: (path) => !BUILT.has(basename(path)) });
  for (const library of await libraries(join(from, 'node_modules'))) {
    const [scope, own = ''] = library.split('/');
    const ours = scope === '@breakerbox' && PACKAGES.some((one) => one === own);
    const target = ours ? join(workspace, 'packages', own) : join(from, 'node_modules', library);
    await link(target, join(to, 'node_modules', library));
  }
};

const libraries = async (modules: string): Promise<readonly string[]> => {
  const names = (await readdir(modules)).filter((name) => !name.startsWith('.'));
  const nested = names.map(async (name) =>
    name.startsWith('@') ? (await readdir(join(modules, name))).map((one) => `${name}/${one}`) : [name],
  );
  return (await Promise.all(nested)).flat();
};

const link = async (target: string, path: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path);
};

/** By pnpm, which puts versions in the place of `workspace:` and `catalog:`. */
const pack = async (folder: string): Promise<string> => {
  await runCommand(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
    folder,
  );
  const bringUp = await readFile(join(ROOT, 'scripts/bring-up.mjs'), 'utf8');
  const [, pnpm = ''] = /'(pnpm@[\d.]+)'/.exec(bringUp) ?? [];
  const printed = await runCommand('npx', ['--yes', pnpm, 'pack', '--json'], folder);
  return join(folder, basename((JSON.parse(printed) as { filename: string }).filename));
};
