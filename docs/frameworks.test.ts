import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import instrumentation from '../packages/instrumentation/package.json' with { type: 'json' };
import { SUPPORTED } from '../packages/instrumentation/src/versions.ts';
import { FEATURES } from '../test/frameworks/harness.ts';
import { catalog } from '../test/newcomer/workspace.ts';
import tests from '../test/package.json' with { type: 'json' };

const ROOT = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

const docs = read('docs/frameworks.md');

/** The cells of a table's lines; `\|` is no end of a cell. */
const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) =>
      cell
        .trim()
        .replaceAll('\\|', '|')
        .replace(/^`(.*)`$/, '$1'),
    );

const [, table = ''] = /^## What works with what\n\n.*\n\|-.*\n((?:\|.*\n)+)/m.exec(docs) ?? [];
const rows = table
  .trim()
  .split('\n')
  .map(cellsOf)
  .filter(([, name]) => name !== '')
  .map(([, name = '', newest = '', oldest = '', range = '']) => ({ name, newest, oldest, range }));

/** The versions of a package that the tests install beside that of the catalog: by an alias, or in a package of their own. */
const besides = (name: string): readonly string[] => {
  const own = globSync('test/frameworks/*/package.json', { cwd: fileURLToPath(ROOT) }).flatMap((path) => {
    const { dependencies = {} } = JSON.parse(read(path)) as { dependencies?: Record<string, string> };
    return dependencies[name] ?? [];
  });
  const aliased = Object.values(tests.devDependencies).flatMap((wanted) => {
    const [, alias, version = ''] = /^npm:(.+)@(.+)$/.exec(wanted) ?? [];
    return alias === name ? [version] : [];
  });
  return [...own, ...aliased];
};

/** `10.2.0` comes after `9.1.0`. */
const byNumber = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });

test('the table of what works with what has what the adapters support, and the newest and the oldest version that is tested', () => {
  const supported = Object.entries(SUPPORTED).map(([name, { least, below }]) => {
    expect([...besides(name)].sort(byNumber)[0]).toBe(least);
    return { name, newest: catalog[name], oldest: least, range: `>=${least} <${below}` };
  });
  const named = (one: { name: string }, other: { name: string }): number => one.name.localeCompare(other.name);
  expect([...rows].sort(named)).toEqual([...supported].sort(named));
});

/** In code, between quotes. */
const TEXT = String.raw`(?<quote>['"\`])(?<text>(?:\\.|(?!\k<quote>).)*)\k<quote>`;

const found = (source: string, pattern: string): readonly Readonly<Record<string, string>>[] =>
  [...source.matchAll(new RegExp(pattern, 'gs'))].map(({ groups = {} }) => groups);

/** The reasons in a suite's source: `approval: '…'`, or the same by a constant. */
const reasonsIn = (source: string): readonly string[] => {
  const feature = `(?:${FEATURES.join('|')})`;
  const written = found(source, String.raw`\b${feature}(?::| =)\s*${TEXT}`).map(({ text = '' }) => text);
  const named = found(source, String.raw`\b${feature}:\s*(?<name>\w+)`).flatMap(({ name = '' }) =>
    found(source, String.raw`\bconst ${name} =\s*${TEXT};`).map(({ text = '' }) => text),
  );
  return [...written, ...named].map((text) => text.replaceAll(/\\(.)/g, '$1'));
};

const suites = readdirSync(new URL('test/frameworks/', ROOT)).filter((name) => name.endsWith('.test.ts'));

/** Entries of instrumentation with a folder of their own; `config` reads files. */
const adapters = Object.keys(instrumentation.exports)
  .map((entry) => entry.slice('./'.length))
  .filter((name) => name !== 'config' && existsSync(new URL(`packages/instrumentation/src/${name}/${name}.ts`, ROOT)));

test.each(adapters)('the adapter %s passes the contract in a suite of its name', (name) => {
  expect(suites, 'copy the suite of another adapter, see CONTRIBUTING.md').toContain(`${name}.test.ts`);
  expect(read(`test/frameworks/${name}.test.ts`)).toMatch(/^ *(?:for .*)?contract\(/m);
});

const flat = docs.replaceAll(/\s+/g, ' ');

describe('what a framework has no place for, and is left out of its tests for that, is said word for word', () => {
  test.each(suites)('%s', (suite) => {
    const reasons = reasonsIn(read(`test/frameworks/${suite}`));
    expect(reasons.filter((reason) => !flat.includes(reason))).toEqual([]);
  });

  test('reasons are found in the source', () => {
    expect(new Set(suites.flatMap((suite) => reasonsIn(read(`test/frameworks/${suite}`)))).size).toBeGreaterThan(20);
  });
});
