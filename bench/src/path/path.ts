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

/**
 * Calls through `guard()` without telemetry, with an object as input: what they may run through, and the goal. Lower a limit when the
 * code gets smaller.
 */
export const GUARD_PATHS: Readonly<Record<string, { readonly limit: PathSize; readonly target: PathSize }>> = {
  'guard()': { limit: { files: 23, functions: 84 }, target: { files: 20, functions: 64 } },
  'guard(), skipped': { limit: { files: 29, functions: 83 }, target: { files: 28, functions: 105 } },
  'guard(), third failure': { limit: { files: 58, functions: 336 }, target: { files: 46, functions: 250 } },
};

const CHILD = fileURLToPath(new URL('path-child.ts', import.meta.url));

/** The paths of calls through `guard()`, and of a successful call through cockatiel and opossum, in a process of its own. */
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
  return [
    table([
      ['A call runs through', 'files', 'functions', 'files, metrics on', 'functions, metrics on'],
      ...off.map((path, index) => [path.name, ...cells(path), ...cells(on[index])]),
      ...Object.entries(GUARD_PATHS).map(([name, { target }]) => [
        `target of ${name}`,
        String(target.files),
        String(target.functions),
      ]),
    ]),
    ...(values.list ? off.map(listOf) : []),
  ].join('\n\n');
};
