import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from './commands.ts';

interface Workspace {
  /** The versions that everything here is tested with. */
  readonly catalog: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
}

export const { catalog, overrides } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')) as Workspace;

/** For npm, what pnpm knows of the catalog's versions: what they would install by themselves is newer, and wants newer ones. */
export const npmOverrides: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(overrides).flatMap(([key, version]) => {
    const [, parent = '', at, name = ''] = /^(.+)@(.+)>(.+)$/.exec(key) ?? [];
    return catalog[parent] === at ? [[name, version]] : [];
  }),
);
