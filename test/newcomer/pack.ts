import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { type Published, published } from '../packaging/published.ts';
import { ROOT, runCommand } from './commands.ts';

/** Tarballs by the names of the packages. */
export type Tarballs = ReadonlyMap<string, string>;

/** Not below `node_modules`: there TypeScript names no types of other packages. */
const CACHE = join(ROOT, '.packed');
/** What a build takes besides the packages' own folders. `alerts` carries Alertmanager's files, and every package the licence. */
const SHARED = [
  'pnpm-workspace.yaml',
  'package.json',
  'tsconfig.base.json',
  'LICENSE',
  'stack/alertmanager',
  'scripts/build',
  // Its code becomes a part of the packages that listen.
  'packages/listen',
];
/** Files that are built or drawn here do not belong to a release. */
const NOT_COPIED = /^(node_modules|dist|preview|\.stryker-tmp.*)$|\.tmp\./;

/**
 * Builds and packs what a release would publish, in a copy of the workspace: sources that other tests read, and builds of the developer, do
 * not change. Runs once for each state of the sources, because several tests use the result.
 */
export const packAll = async (): Promise<Tarballs> => {
  const workspace = await packedWorkspace();
  const list = JSON.parse(await readFile(join(workspace, 'tarballs.json'), 'utf8')) as [string, string][];
  return new Map(list.map(([name, file]) => [name, join(workspace, file)]));
};

/** The copy of the workspace in which `packAll` built: its packages have their `dist`. */
export const packedWorkspace = async (): Promise<string> => {
  const files = (await Promise.all([...SHARED, ...published.map(({ folder }) => folder)].map(filesBelow))).flat();
  const kept = join(CACHE, await digestOf(files));
  if (existsSync(kept)) return kept;
  await forgetOld();
  await mkdir(CACHE, { recursive: true });
  // Under its name it is whole, or isn't there.
  const work = await mkdtemp(`${kept}-`);
  try {
    await build(files, work);
    await rename(work, kept);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    if (!existsSync(kept)) throw error; // Else another process was faster.
  }
  return kept;
};

const A_DAY_MS = 86_400_000;

const forgetOld = async (): Promise<void> => {
  for (const name of await readdir(CACHE).catch(() => [])) {
    const { mtimeMs } = await stat(join(CACHE, name));
    if (mtimeMs < Date.now() - A_DAY_MS) await rm(join(CACHE, name), { recursive: true, force: true });
  }
};

const build = async (files: readonly string[], work: string): Promise<void> => {
  for (const file of files) await cp(join(ROOT, file), join(work, file));
  await link(join(ROOT, 'node_modules/@types'), join(work, 'node_modules/@types'));
  for (const one of published) await linkLibraries(one, work);
  const tarballs: [string, string][] = [];
  for (const one of published) tarballs.push([one.name, relative(work, await pack(join(work, one.folder)))]);
  await writeFile(join(work, 'tarballs.json'), JSON.stringify(tarballs));
};

const filesBelow = async (path: string): Promise<readonly string[]> => {
  const here = await readdir(join(ROOT, path), { withFileTypes: true }).catch(() => undefined);
  if (here === undefined) return [path];
  const wanted = here.filter(({ name }) => !NOT_COPIED.test(name));
  const below = wanted.map((one) => (one.isDirectory() ? filesBelow(`${path}/${one.name}`) : [`${path}/${one.name}`]));
  return (await Promise.all(below)).flat();
};

const digestOf = async (files: readonly string[]): Promise<string> => {
  const digest = createHash('sha256');
  for (const file of [...files, 'pnpm-lock.yaml'].toSorted())
    digest.update(file).update(await readFile(join(ROOT, file)));
  return digest.digest('hex').slice(0, 20);
};

/** What the package finds in its `node_modules`: packages of ours as they are built there, all others from here. */
const linkLibraries = async ({ folder }: Published, work: string): Promise<void> => {
  const modules = join(ROOT, folder, 'node_modules');
  for (const library of await libraries(modules)) {
    const ours =
      library === '@breakerbox/listen' ? 'packages/listen' : published.find(({ name }) => name === library)?.folder;
    const at = join(work, folder, 'node_modules', library);
    await link(ours === undefined ? join(modules, library) : relative(dirname(at), join(work, ours)), at);
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

/** What builds and tests a package is not a part of it, and may have names that no registry has. */
const forgetTools = async (manifest: string): Promise<void> => {
  const { devDependencies: _, ...rest } = JSON.parse(await readFile(manifest, 'utf8'));
  await writeFile(manifest, `${JSON.stringify(rest, undefined, 2)}\n`);
};

/** Runs the pnpm that the workspace is installed with. */
export const runPnpm = (args: readonly string[], folder: string): Promise<string> =>
  runCommand(process.execPath, [join(ROOT, 'scripts/pnpm/pnpm.mjs'), ...args], folder);

/** By pnpm, which puts versions in the place of `workspace:` and `catalog:`. */
const pack = async (folder: string): Promise<string> => {
  await runCommand('npm', ['run', 'build'], folder);
  await forgetTools(join(folder, 'package.json'));
  const printed = await runPnpm(['pack', '--json'], folder);
  return join(folder, basename((JSON.parse(printed) as { filename: string }).filename));
};
