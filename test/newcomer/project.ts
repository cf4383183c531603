import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, runCommand } from './commands.ts';
import type { Documented } from './documented.ts';
import type { Tarballs } from './pack.ts';
import { catalog, npmOverrides } from './workspace.ts';

/** What programs of the docs take besides, which nothing else here depends on: as new as the catalog. */
const BESIDES: Readonly<Record<string, string>> = {
  '@ai-sdk/openai': '4.0.118',
  openai: '7.55.0',
};

/** A package as npm is to install it: ours from the tarballs, the others in the version that everything here is tested with. */
export const pinned = (name: string, tarballs: Tarballs): string => {
  const tarball = tarballs.get(name);
  if (tarball !== undefined) return `file:${tarball}`;
  const version = catalog[name] ?? BESIDES[name];
  if (version === undefined)
    throw new Error(`docs/frameworks.md installs '${name}': give BESIDES in project.ts its version`);
  return `${name}@${version}`;
};

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
  },
  include: ['*.ts'],
};

/** A blank project in `folder` with the program as `agent.ts`, and what it needs installed by npm. */
export const makeProject = async (folder: string, docs: Documented, tarballs: Tarballs): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const manifest = { name: 'newcomer', private: true, type: 'module', overrides: npmOverrides };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await writeFile(join(folder, 'agent.ts'), docs.program);
  const packages = [...docs.packages, '@types/node'].map((name) => pinned(name, tarballs));
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages], folder);
};

/** @throws Error with what the compiler says */
export const typecheck = (folder: string): Promise<string> =>
  runCommand(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], folder);
