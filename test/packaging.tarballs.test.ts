import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from './newcomer/commands.ts';
import { packAll, packedWorkspace, type Tarballs } from './newcomer/pack.ts';
import { catalog } from './newcomer/workspace.ts';
import { type Manifest, OWN_MANIFEST, published, readJson } from './packaging/published.ts';

/*
 * What a release would publish, looked at as a registry gets it. The packages are read from the workspace and their entries from
 * `exports`, so that a new one is checked without a word here.
 */

let workspace: string;
let tarballs: Tarballs;
beforeAll(async () => {
  workspace = await packedWorkspace();
  tarballs = await packAll();
}, 180_000);

const tarballOf = (name: string): string => tarballs.get(name) ?? expect.fail(`${name} was not packed`);
const bytesOf = (name: string): Promise<Uint8Array<ArrayBuffer>> => readFile(tarballOf(name));

const filesOf = async (name: string): Promise<readonly string[]> => {
  const listed = await runCommand('tar', ['-tzf', tarballOf(name)], '.');
  return listed
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
};

const manifestOf = async (name: string): Promise<Manifest> =>
  JSON.parse(await runCommand('tar', ['-xzOf', tarballOf(name), 'package/package.json'], '.')) as Manifest;

test('a release publishes these, and everything else in the workspace is private', () => {
  expect(published.map(({ name }) => name).toSorted()).toEqual([
    '@breakerbox/alerts',
    '@breakerbox/control',
    '@breakerbox/core',
    '@breakerbox/dashboards',
    '@breakerbox/fleet',
    '@breakerbox/instrumentation',
    '@breakerbox/telemetry',
    'breakerbox',
  ]);
});

test.each(['breakerbox', '@breakerbox/telemetry'])(
  '%s has the licence of each package whose code it carries',
  async (name) => {
    const read = (file: string) => runCommand('tar', ['-xzOf', tarballOf(name), `package/dist/${file}`], '.');
    const names = (await read('BUNDLED.txt')).trim().split('\n').slice(2);
    const licences = await read('LICENSES.txt');
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((line) => !licences.includes(`\n${line}\n`))).toEqual([]);
    for (const [licence, words] of Object.entries({
      MIT: 'Permission is hereby granted',
      'Apache-2.0': 'TERMS AND CONDITIONS',
    })) {
      if (names.some((line) => line.endsWith(`, ${licence}`))) expect(licences).toContain(words);
    }
  },
);

describe.each(published)('the tarball of $name', ({ name, folder, manifest }) => {
  test('has nothing that publint would fix', async () => {
    const { buffer } = await bytesOf(name);
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  test('holds what it needs, and nothing that is ours alone', async () => {
    const files = await filesOf(name);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
    expect(files.includes('dist/LICENSES.txt')).toBe(files.includes('dist/BUNDLED.txt'));
    const conditions = Object.values(manifest.exports ?? {}).flatMap(Object.values<string>);
    const named = [...conditions, ...Object.values(manifest.bin ?? {})].map((path) => path.replace('./', ''));
    expect(files).toEqual(expect.arrayContaining(named));
    expect(
      files.filter((path) =>
        /\.test\.|test-support|\/(proof|golden|mutation)\/.*\.ts|\.tmp\.|tsbuildinfo|\/\./.test(path),
      ),
    ).toEqual([]);
    // A source map leads to files that are there. The sources of carried packages are elsewhere.
    const maps = files.filter((path) => path.endsWith('.js.map'));
    const sources = maps.flatMap((path) =>
      readJson<{ sources: string[] }>(workspace, folder, path)
        .sources.filter((source) => !source.startsWith('node_modules/'))
        .map((source) => join(dirname(path), source)),
    );
    // The command is no library: a program does not step into it.
    expect(maps.length > 0).toBe(manifest.bin === undefined);
    expect(files).toEqual(expect.arrayContaining(sources));
  });

  test('lets tools read its manifest, where it says what else they may', async () => {
    const { exports } = await manifestOf(name);
    expect(exports === undefined ? OWN_MANIFEST : exports[OWN_MANIFEST]).toBe(OWN_MANIFEST);
  });

  test('asks for versions, and for nothing of this workspace', async () => {
    const { dependencies = {}, peerDependencies = {}, version } = await manifestOf(name);
    const asked = Object.entries({ ...peerDependencies, ...dependencies });
    expect(asked.filter(([, range]) => !/^[\^<>=\d]/.test(range))).toEqual([]);
    const ours = asked.filter(([one]) => published.some((other) => other.name === one));
    expect(ours).toEqual(ours.map(([one]) => [one, version]));
  });

  // An exact version is a copy of its own beside whatever the application has. OpenTelemetry's ask for each other in exact versions.
  test('leaves what it depends on to be shared, but for its own kind and OpenTelemetry', async () => {
    const { dependencies = {} } = await manifestOf(name);
    const ours = (one: string): boolean => published.some((other) => other.name === one);
    const others = Object.entries(dependencies).filter(([one]) => !ours(one) && !one.startsWith('@opentelemetry/'));
    expect(others.filter(([, range]) => !range.startsWith('^'))).toEqual([]);
    expect(others.filter(([one, range]) => catalog[one] !== undefined && range !== `^${catalog[one]}`)).toEqual([]);
  });

  test('has for each of its entries what a TypeScript looks for that reads no `exports`', () => {
    const { exports = {}, main, types, typesVersions } = manifest;
    const { '.': index, ...subpaths } = exports;
    expect([main, types]).toEqual([index?.default, index?.types]);
    const found = Object.entries(subpaths).map(([entry, conditions]) => [entry.slice(2), [conditions.types]]);
    expect(typesVersions?.['*'] ?? {}).toEqual(Object.fromEntries(found));
  });

  test('says where it comes from, and how it is published', () => {
    const { homepage, bugs, repository, publishConfig, keywords = [], description = '', license } = manifest;
    expect({ homepage, bugs, repository, publishConfig, license }).toEqual({
      homepage: `https://github.com/breakerbox/breakerbox/tree/main/${folder}#readme`,
      bugs: 'https://github.com/breakerbox/breakerbox/issues',
      repository: { type: 'git', url: 'git+https://github.com/breakerbox/breakerbox.git', directory: folder },
      publishConfig: { access: 'public', provenance: true },
      license: 'Apache-2.0',
    });
    expect(description.length).toBeGreaterThan(40);
    expect(keywords).toContain('circuit-breaker');
  });

  test('has peers for what the application shares with it, and only frameworks and readers are optional', () => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
    // An optional peer blocks `npm install` beside another version of it, or of its own peers, so npm isn't told of any: pnpm and Yarn
    // read in `peerDependenciesMeta` alone that any version may be there.
    const shared = manifest.bin === undefined ? { '@opentelemetry/api': '^1.9.0' } : {};
    expect(peerDependencies).toEqual(shared);
    expect(Object.values(peerDependenciesMeta)).toEqual(
      Object.keys(peerDependenciesMeta).map(() => ({ optional: true })),
    );
    expect(peerDependenciesMeta['@opentelemetry/api']).toBeUndefined();
  });
});

// ESM only: `require()` gives the ES module, as Node's own `require(esm)` does in every version that `engines` admits.
// packaging.install.test.ts runs that.
test.each(published.filter(({ manifest }) => manifest.exports))(
  '$name has types that are what the code is, in every way to resolve them',
  async ({ name, manifest }) => {
    const checked = await checkPackage(createPackageFromTarballData(await bytesOf(name)), {
      excludeEntrypoints: [OWN_MANIFEST],
    });
    if (checked.types === false) return expect.fail('there are no types');
    const entries = Object.keys(manifest.exports ?? {});
    expect(Object.keys(checked.entrypoints).toSorted()).toEqual(entries.toSorted());
    const meant = ['CJSResolvesToESM node16-cjs'];
    const seen = checked.problems.map((problem) =>
      problem.kind === 'NoResolution' || problem.kind === 'CJSResolvesToESM'
        ? `${problem.kind} ${problem.resolutionKind}`
        : JSON.stringify(problem),
    );
    expect(seen.filter((one) => !meant.includes(one))).toEqual([]);
  },
);
