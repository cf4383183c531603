/** `node scripts/pnpm/pnpm.mjs run surface`: writes what every package offers, and how large it is, into its `api/`, and into core's README. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ROOT } from '../newcomer/commands.ts';
import { packedWorkspace } from '../newcomer/pack.ts';
import { published } from './published.ts';
import { allReports } from './reports.ts';

const reports = await allReports(await packedWorkspace());
for (const { folder } of published) {
  const kept = await readdir(join(ROOT, folder, 'api')).catch(() => []);
  for (const name of kept) await rm(join(ROOT, folder, 'api', name));
}
for (const { path, text } of reports) {
  await mkdir(dirname(join(ROOT, path)), { recursive: true });
  await writeFile(join(ROOT, path), text);
}
process.stdout.write(`${reports.length} reports written: git diff -- '**/api/*' shows what a user would notice.\n`);
