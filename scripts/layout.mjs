// What Biome cannot hold of the layout: the vocabulary of file names and exported names, one place per name, the layers of core, and
// comments there that cite one rule.
// `npm run check` runs it. CONTRIBUTING.md has the words, biome.json the directions of imports.
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
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
  news: /^packages\/(demo\/src\/tools|instrumentation\/src\/test-support\/sdk-loops)\.ts$/,
};

/**
 * The layers of core, from the ground. A file imports from its own layer and from those below it, types included. A folder ends with a
 * slash. A file that is named by itself is in another layer than the rest of its folder.
 */
const LAYERS = [
  [
    'ground: words, time, safe reads and what is read from errors and arguments',
    'reasons safely clock checks/ telemetry/semconv warnings/ classify/ loop-guard/',
  ],
  [
    'pure parts',
    'circuit/ budget/ freshness/ limits/ routing/ precheck events passes counted-errors unusable written-rejections',
  ],
  ['settings and series of tools', 'config/ tool telemetry/series telemetry/logs telemetry/readers'],
  [
    'judging, and circuits in use',
    'outcome circuit/key-circuits tracked-circuit in-flight copied-circuits session-tools session-memory telemetry/otel-binding',
  ],
  [
    'permits, stores and views',
    'permit probes-under-way circuit-store view session-api mistakes call-history copied-calls overrides telemetry/spans telemetry/failure-spans pending-changes',
  ],
  [
    'ledgers, the registry and telemetry',
    'failure-ledgers ledger-side telemetry/ box-context session-settings circuit-registry models/model-contexts',
  ],
  ['barriers', 'engine/'],
  ['sessions and boxes', 'session-internals session-views child-session session breakerbox tool-history models/'],
  ['functions over sessions and boxes', 'report/ snapshot/ scope/ control/ fleet/'],
  ['entries', 'index internal'],
];

const CORE = 'packages/core/src/';
/** The reference model and the rules' tests import anything. */
const isLayered = (path) => path.startsWith(CORE) && isSource(path) && !path.startsWith(`${CORE}rules/`);

/** The number of a file's layer; -1 for none. The longest name in the list counts. */
const layerOf = (path) => {
  const file = path.slice(CORE.length).replace(/\.ts$/, '');
  const named = LAYERS.flatMap(([, names], layer) => names.split(' ').map((name) => ({ name, layer })));
  const fitting = named.filter(({ name }) => (name.endsWith('/') ? file.startsWith(name) : file === name));
  return fitting.toSorted((a, b) => b.name.length - a.name.length)[0]?.layer ?? -1;
};

const upwards = ({ path, text }) => {
  if (!isLayered(path)) return [];
  const own = layerOf(path);
  if (own === -1)
    return [`${path}: it is in no layer of core. Add its folder, or the file, to LAYERS in scripts/layout.mjs.`];
  return [...text.matchAll(/ from '(\.[^']+)'/g)].flatMap(([, to]) => {
    const target = posix.join(dirname(path), to);
    const other = isLayered(target) ? layerOf(target) : -1;
    if (other <= own) return [];
    return [
      `${path}: it imports ${target}, which is in a higher layer (${LAYERS[other][0]}). Move what both need down to '${LAYERS[own][0]}' or below.`,
    ];
  });
};

/** The folder of a file of core, as `path` imports it. Undefined for files of no folder: LAYERS has their places. */
const folderOf = (path) => {
  const file = path.slice(CORE.length);
  if (file === 'telemetry/semconv.ts') return file; // All take their names from it.
  return file.includes('/') ? file.split('/')[0] : undefined;
};

/** Two folders that import each other can't be read one after the other. */
const bothWays = (files) => {
  const imports = new Map();
  for (const { path, text } of files.filter(({ path }) => isLayered(path))) {
    for (const [, to] of text.matchAll(/ from '(\.[^']+)'/g)) {
      const target = posix.join(dirname(path), to);
      const [from, other] = [folderOf(path), folderOf(target)];
      if (from !== undefined && other !== undefined && from !== other) imports.set(`${from} ${other}`, [path, target]);
    }
  }
  return [...imports].flatMap(([pair, [path, target]]) => {
    const [from, other] = pair.split(' ');
    const back = imports.get(`${other} ${from}`);
    if (back === undefined || from > other) return [];
    return [
      `${path}: it imports ${target}, and ${back[0]} imports ${back[1]}. Folders of core import one way: move one of the files.`,
    ];
  });
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

const COMMENT = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g;
const RULE = /\b[A-Z]\d{1,2}\b/g;

/** A reader looks up one rule. A comment that needs two is about two things. */
const manyRules = ({ path, text }) =>
  isLayered(path)
    ? [...text.matchAll(COMMENT)].flatMap(({ 0: comment, index }) => {
        const rules = [...new Set(comment.match(RULE))];
        const line = text.slice(0, index).split('\n').length;
        return rules.length > 1
          ? [`${path}:${line}: the comment cites ${rules.join(' and ')}. Cite the one rule that explains it most.`]
          : [];
      })
    : [];

/** What is wrong with the files, one line for each fault: where, what, and how to fix it. */
export const faults = (files) => {
  const basenames = files.map(({ path }) => ({ path, key: basename(path) }));
  const declared = files.flatMap(({ path, text }) =>
    exportsOf(text).flatMap(({ name, own }) => (own && isSource(path) ? [{ path, key: name }] : [])),
  );
  return [
    ...files.flatMap(vocabulary),
    ...files.flatMap(upwards),
    ...bothWays(files),
    ...files.flatMap(manyRules),
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
