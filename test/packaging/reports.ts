import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withMarked } from '../../bench/src/marked.ts';
import { ROOT } from '../newcomer/commands.ts';
import { type Published, readJson } from './published.ts';
import { type Sizes, sized, sizesOf } from './sizes.ts';
import { surfaceReports } from './surface.ts';

/** A file to write. */
export interface Report {
  /** From the root. */
  readonly path: string;
  readonly text: string;
}

const CORE = '@breakerbox/core';
export const CORE_README = 'packages/core/README.md';

const sizePath = ({ folder }: Published): string => `${folder}/api/size.json`;

/** All reports on the build in `workspace`, and the README of core, which shows the sizes of core. */
export const allReports = async (workspace: string): Promise<readonly Report[]> => {
  const reports = [...surfaceReports(workspace)];
  for (const one of sized) {
    const gzipped = await sizesOf(one, workspace);
    reports.push({ path: sizePath(one), text: `${JSON.stringify({ gzipped }, null, 2)}\n` });
    if (one.name !== CORE) continue;
    const readme = await readFile(join(ROOT, CORE_README), 'utf8');
    reports.push({ path: CORE_README, text: withSizes(readme, gzipped) });
  }
  return reports;
};

/** The sizes of a package in its report. */
export const recordedSizes = (one: Published, root: string): Sizes =>
  readJson<{ gzipped: Sizes }>(root, sizePath(one)).gzipped;

/** The README of core with a table of sizes. */
export const withSizes = (readme: string, sizes: Sizes): string => {
  const rows = Object.entries(sizes).map(
    ([what, size]) => `| ${`\`${what}\``.padEnd(21)} | ${`${(size / 1000).toFixed(1)} kB`.padStart(8)} |`,
  );
  const table = ['| import                | gzipped  |', '| --------------------- | -------: |', ...rows].join('\n');
  return withMarked(readme, 'size', table, CORE_README);
};
