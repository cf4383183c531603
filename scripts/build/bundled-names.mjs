// The licences of carried packages ask for their names.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const lineOf = (folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name} ${version}, ${license}\n`;
};

/**
 * Writes `dist/BUNDLED.txt`, which test/packaging/sbom.ts reads.
 * @param modules the files whose code is in `dist`
 * @param more lines of other such files
 */
export const writeNames = (modules, more = []) => {
  const folders = modules.flatMap((file) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  const lines = new Set([...[...new Set(folders)].map(lineOf), ...more]);
  writeFileSync('dist/BUNDLED.txt', `Code of these packages is in this folder:\n\n${[...lines].toSorted().join('')}`);
};
