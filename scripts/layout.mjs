// What Biome cannot hold of the layout: the vocabulary of file names and exported names, and one place per name. `npm run check`
// runs it. CONTRIBUTING.md has the words, biome.json the directions of imports.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Words that no file, folder or exported name in the packages' sources contains, in singular or plural, and what to say. */
const WORDS = {
  expeditor: 'session',
  seat: 'session tool, tool entry',
  witness: 'observer',
  books: 'ledger, failure ledger',
  accounts: 'ledger, failure ledger',
  outlook: 'decision, decide',
  refusal: 'rejection',
  'held up': 'rejected',
  'stand in': 'fallback, route',
  'in its place': 'fallback, route',
  kitchen: 'adapter context',
  cook: 'tool executor',
  manners: 'response format',
  board: 'shared state',
  news: 'pending events',
  tell: 'flush',
  cell: 'series',
  hub: 'OpenTelemetry binding',
  shadow: 'dry run, observe only',
  trial: 'dry run, observe only',
};

/** Where a word of the list is right: `breakerbox hub` is a command, and a tool of the demo searches the news. */
const ALLOWED = {
  hub: /^packages\/cli\/src\/hub\b/,
  news: /^packages\/(cli\/src\/demo\/tools|instrumentation\/src\/test-support\/sdk-loops)\.ts$/,
};

/** Names that each adapter exports from its own entry, with the same meaning for its framework. */
const OF_EACH_ADAPTER = new Set(['guardTools', 'GuardToolsOptions', 'breakerHooks', 'BreakerHooksOptions']);

/** Files that may have the same basename as others of their package. */
const ANYWHERE = new Set(['index.ts']);

/** Files whose exports no other file of the package may confuse with its own. The reference model repeats the engine's names. */
const isSource = (path) => !/\.test\.ts$|\/test-support|\/src\/proof\//.test(path);

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|type|interface) ([\w$]+)/gm;
const LIST = /^export (?:type )?\{([^}]*)\}( from\b)?/gm;

/** `HalfOpenState`, `half-open.state` and `HALF_OPEN_STATE` are the words `half open state`. */
const wordsOf = (name) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .join(' ')
    .toLowerCase();

/** Exported names of a file's text, with `own`: whether the file declares it, rather than passing on another file's. */
const exportsOf = (text) => [
  ...[...text.matchAll(DECLARATION)].map(([, name]) => ({ name, own: true })),
  ...[...text.matchAll(LIST)].flatMap(([, list, from]) =>
    list
      .split(',')
      .map((item) => item.trim().split(/\s+/).at(-1))
      .filter((name) => name !== '')
      .map((name) => ({ name, own: from === undefined })),
  ),
];

const vocabulary = ({ path, text }) => {
  const names = [['the path', path.split('/src/')[1].replace(/\.ts$/, '')]];
  for (const { name } of exportsOf(text)) names.push([`the exported name ${name}`, name]);
  return names.flatMap(([what, name]) =>
    Object.entries(WORDS)
      .filter(([word]) => new RegExp(`\\b${word}s?\\b`).test(wordsOf(name)) && !ALLOWED[word]?.test(path))
      .map(([word, say]) => `${path}: ${what} says '${word}'. Say: ${say}.`),
  );
};

/** A fault for each file that has the key of an earlier file of its package. */
const repeated = (entries, message) => {
  const first = new Map();
  return entries.flatMap(({ path, key }) => {
    const id = `${path.split('/')[1]} ${key}`;
    if (!first.has(id)) first.set(id, path);
    return first.get(id) === path ? [] : [message(path, key, first.get(id))];
  });
};

/** What is wrong with the files, one line for each fault: where, what, and how to fix it. */
export const faults = (files) => {
  const basenames = files.map(({ path }) => ({ path, key: basename(path) }));
  const declared = files.flatMap(({ path, text }) =>
    exportsOf(text).flatMap(({ name, own }) => (own && isSource(path) ? [{ path, key: name }] : [])),
  );
  return [
    ...files.flatMap(vocabulary),
    ...repeated(
      basenames.filter(({ key }) => !ANYWHERE.has(key)),
      (path, _, before) => `${path}: ${before} has the same basename. Name each file after what only it does.`,
    ),
    ...repeated(
      declared.filter(({ key }) => !OF_EACH_ADAPTER.has(key)),
      (path, name, before) =>
        `${path}: ${before} exports ${name} too. Rename one, or export it in one place and import it.`,
    ),
  ];
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const paths = globSync('packages/*/src/**/*.ts', { cwd: root }).sort();
  const found = faults(paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })));
  for (const fault of found) process.stderr.write(`${fault}\n`);
  if (found.length > 0) process.exitCode = 1;
}
