import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Sdk } from '../contest.ts';
import { reportOf } from '../pool.ts';
import { table } from '../print.ts';
import type { TracedFile } from './trace.ts';

/** The files and functions that one call runs through. */
export interface Path {
  readonly name: string;
  readonly files: readonly TracedFile[];
}

export interface PathSize {
  readonly files: number;
  readonly functions: number;
}

/** A successful `guard()` call without telemetry: what it may run through, and the goal. Lower the limit when the code gets smaller. */
export const GUARD_PATH: { readonly limit: PathSize; readonly target: PathSize } = {
  limit: { files: 20, functions: 70 },
  target: { files: 15, functions: 45 },
};

const CHILD = fileURLToPath(new URL('path-child.ts', import.meta.url));

/** The paths of a successful call: through `guard()`, cockatiel and opossum, in a process of its own. */
export const tracePaths = async (sdk: Sdk): Promise<readonly Path[]> => (await reportOf(CHILD, [sdk])) as Path[];

export const pathSize = ({ files }: Path): PathSize => ({
  files: files.length,
  functions: files.reduce((sum, { functions }) => sum + functions.length, 0),
});

/** What comes before the part of a URL that tells the file. */
const FOLDER = /^.*\/(?=packages\/|node_modules\/(?!.*\/node_modules\/))/;

const listOf = ({ name, files }: Path): string =>
  [`${name}:`, ...files.map(({ url, functions }) => `  ${url.replace(FOLDER, '')}: ${functions.join(', ')}`)].join(
    '\n',
  );

/** `npm run bench -- path`. Returns the text to print. */
export const pathReport = async (args: string[]): Promise<string> => {
  const { values } = parseArgs({ args, options: { list: { type: 'boolean', default: false } } });
  const [off, on] = [await tracePaths('none'), await tracePaths('metrics')];
  const cells = (path: Path | undefined) => (path ? Object.values(pathSize(path)).map(String) : []);
  const { files, functions } = GUARD_PATH.target;
  return [
    table([
      ['A call that succeeds runs through', 'files', 'functions', 'files, metrics on', 'functions, metrics on'],
      ...off.map((path, index) => [path.name, ...cells(path), ...cells(on[index])]),
      ['target of guard()', String(files), String(functions)],
    ]),
    ...(values.list ? off.map(listOf) : []),
  ].join('\n\n');
};
