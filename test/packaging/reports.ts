import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../newcomer/commands.ts';
import { ladderOf, type Rung, withLadder } from './ladder.ts';
import { type Published, readJson } from './published.ts';
import { type Sizes, sized, sizesOf } from './sizes.ts';
import { surfaceReports } from './surface.ts';

/** A file to write. */
export interface Report {
  /** From the root. */
  readonly path: string;
  readonly text: string;
}

/** How large a package is. */
export interface SizeReport {
  readonly gzipped: Sizes;
  /** Of core: what `createBreakerbox` is made of, one part fewer each time. */
  readonly floor?: readonly Rung[];
}

const CORE = '@breakerbox/core';
export const CORE_README = 'packages/core/README.md';

/** Where the sizes of a package stand. */
const sizePath = ({ folder }: Published): string => `${folder}/api/size.json`;

export const sizeReportOf = async (one: Published, workspace: string): Promise<SizeReport> => {
  const gzipped = await sizesOf(one, workspace);
  return one.name === CORE ? { gzipped, floor: await ladderOf(one, workspace) } : { gzipped };
};

/** All reports on the build in `workspace`, as they are to stand in the repository, and the README that shows one of them. */
export const allReports = async (workspace: string): Promise<readonly Report[]> => {
  const reports = [...surfaceReports(workspace)];
  for (const one of sized) {
    const report = await sizeReportOf(one, workspace);
    reports.push({ path: sizePath(one), text: `${JSON.stringify(report, null, 2)}\n` });
    if (one.name !== CORE) continue;
    const readme = await readFile(join(ROOT, CORE_README), 'utf8');
    reports.push({ path: CORE_README, text: withLadder(readme, report) });
  }
  return reports;
};

/** Sizes as they stand in the repository. */
export const recordedSizes = (one: Published, root: string): SizeReport => readJson<SizeReport>(root, sizePath(one));
