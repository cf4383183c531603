import { gzipSync } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { withMarked } from '../../bench/src/marked.ts';
import type { Published } from './published.ts';
import { bundled } from './sizes.ts';

/** What is left of `createBreakerbox` in bytes, once a part has been left out with all parts before it. */
export interface Rung {
  readonly without: string;
  readonly minified: number;
  readonly gzipped: number;
}

/** The whole, before anything is left out. */
const WHOLE = 'nothing';

/**
 * The parts of core that decisions could be made without, the largest first: names with the rules that go with them, and their files. A
 * part that isn't there gives `undefined` for whatever is called in it, and what only it takes goes as well.
 */
const PARTS: readonly (readonly [string, RegExp])[] = [
  ['the classifier of errors (O2)', /\/outcome\/(?!taxonomy|untrusted)/],
  ['reports (Q)', /\/report\//],
  ['snapshot and restore (C11)', /(snapshot[\w-]*|restore)\.js$/],
  ['what refuses a bad configuration (E6)', /\/(config|checks|usage)\.js$/],
  ['maps from files, plans, chains (R, W)', /\/capability\/(file|scope|chains|graph|unblock|wording|text)\.js$/],
  ['what the model is told, in words', /\/(message|explain)\.js$/],
  ['last good results, freshness, checks, recovery (F, K)', /\/(last-good|freshness|precheck|recovery)\.js$/],
  ['the names of metrics and attributes', /\/semconv\.js$/],
  ['spans and log events', /\/(log-events|spans)\.js$/],
  ['windows of calls, time and tokens (C3)', /\/trips\//],
  ['digests of arguments (O5)', /\/digest[\w-]*\.js$/],
];

/** `createBreakerbox` of core as built in `workspace`, with one part fewer each time. */
export const ladderOf = async (core: Published, workspace: string): Promise<readonly Rung[]> => {
  const rungs: Rung[] = [];
  for (const [index, without] of [WHOLE, ...PARTS.map(([name]) => name)].entries()) {
    const gone = PARTS.slice(0, index).map(([, files]) => files);
    const { code } = await bundled(`export { createBreakerbox } from './dist/index.js'`, core, workspace, [
      empty(gone),
    ]);
    rungs.push({ without, minified: code.length, gzipped: gzipSync(code, { level: 9 }).length });
  }
  return rungs;
};

/** @throws Error when none of the files is in the bundle: a part has been renamed, and the ladder is wrong */
const empty = (parts: readonly RegExp[]): Plugin => ({
  name: 'parts left out',
  setup: ({ onLoad, onEnd }) => {
    const unseen = new Set(parts);
    onLoad({ filter: /\/packages\/core\/dist\/.*\.js$/ }, ({ path }) => {
      const part = parts.find((files) => files.test(path));
      if (part === undefined) return undefined;
      unseen.delete(part);
      return { contents: 'module.exports = {}', loader: 'js' };
    });
    onEnd(() => {
      if (unseen.size > 0) throw new Error(`The bundle has no files of ${[...unseen].join(', ')}. Correct PARTS.`);
    });
  },
});

/** The README of core with the figures of its report. */
export const withLadder = (readme: string, { gzipped, floor = [] }: RecordedLadder): string =>
  withMarked(readme, 'size', tableOf(gzipped, floor), 'packages/core/README.md');

export interface RecordedLadder {
  readonly gzipped: Readonly<Record<string, number>>;
  readonly floor?: readonly Rung[];
}

const tableOf = (sizes: RecordedLadder['gzipped'], floor: readonly Rung[]): string => {
  const [whole, ...rest] = floor;
  const last = rest.at(-1);
  if (whole === undefined || last === undefined) throw new Error('There is no ladder in the report of core.');
  const rows = rest.map((rung, index) => {
    const { minified, gzipped } = floor[index] ?? whole;
    const { without } = rung;
    return [without, bytes(minified - rung.minified), bytes(gzipped - rung.gzipped), bytes(rung.gzipped)];
  });
  return [
    `Minified and gzipped, \`createBreakerbox\` is ${kilo(whole.gzipped)} (${kilo(whole.minified)} without gzip), and all that core exports`,
    `${kilo(sizes['. (all)'] ?? 0)}. The aim was 15 kB, and it isn't met: what is left when every part of the table but the last is gone takes`,
    `${kilo(last.gzipped)} alone.`,
    '',
    '| part                                                  | minified | gzipped | left, gzipped |',
    '| ----------------------------------------------------- | -------: | ------: | ------------: |',
    ...rows.map(row),
    row(['circuits, probes, budget, systemic failure, counts', bytes(last.minified), bytes(last.gzipped), '0']),
    row(['**all**', bytes(whole.minified), bytes(whole.gzipped), '']),
  ].join('\n');
};

const row = ([part = '', ...numbers]: readonly string[]): string =>
  `| ${part.padEnd(53)} | ${['', '', ''].map((_, index) => (numbers[index] ?? '').padStart([8, 7, 13][index] ?? 0)).join(' | ')} |`;

const bytes = (count: number): string => count.toLocaleString('en-US');
const kilo = (count: number): string => `${(count / 1000).toFixed(1)} kB`;
