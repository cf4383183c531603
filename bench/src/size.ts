import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MINIMAL_PROGRAM, minimalProgramOf } from '../../test/packaging/sizes.ts';
import { table } from './print.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const bytes = (count: number): string => count.toLocaleString('en');

type Bytes = Readonly<Record<string, number>>;

const byFolder = (files: Bytes): Bytes => {
  const folders: Record<string, number> = {};
  for (const [file, count] of Object.entries(files)) {
    const folder = file.includes('/') ? file.slice(0, file.indexOf('/')) : 'in no folder';
    folders[folder] = (folders[folder] ?? 0) + count;
  }
  return folders;
};

/** `npm run bench -- size`. Returns the text to print. */
export const sizeReport = async (args: string[]): Promise<string> => {
  const { values } = parseArgs({ args, options: { list: { type: 'boolean', default: false } } });
  const { minified, gzipped, files } = await minimalProgramOf(ROOT);
  const rows = Object.entries(values.list ? files : byFolder(files)).sort(([, one], [, other]) => other - one);
  return [
    table([
      ['The minimal program, from packages/core/src', 'minified', 'share'],
      ...rows.map(([what, count]) => [what, bytes(count), `${((count / minified) * 100).toFixed(1)} %`]),
    ]),
    `${bytes(minified)} bytes minified, ${bytes(gzipped)} gzipped. The target is at most ${bytes(MINIMAL_PROGRAM.target)} gzipped.`,
  ].join('\n\n');
};
