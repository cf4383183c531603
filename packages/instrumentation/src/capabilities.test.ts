import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadCapabilities, parseCapabilitiesYaml } from './capabilities.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-capabilities-'));
});
afterAll(() => rm(folder, { recursive: true }));

const file = async (name: string, content: string | Uint8Array): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};

/** What is wrong, as `path: message` a line, without the name of the file. */
const refused = async (
  what: Promise<unknown> | (() => unknown),
): Promise<{ path: string; what: string; at: string }> => {
  const error: unknown = await (typeof what === 'function' ? Promise.resolve().then(what) : what).catch((one) => one);
  if (!(error instanceof BreakerboxConfigError)) throw new Error('it was not refused', { cause: error });
  const [head = ''] = error.message.split('\n');
  return {
    path: /^Breakerbox can't use this capability file '(.*)':$/.exec(head)?.[1] ?? head,
    what: error.issues.map(({ message }) => message).join('\n'),
    at: error.issues.map(({ path }) => path).join('\n'),
  };
};

const YAML = `
# What the agent can do without.
tools:
  web_search:
    provides: web search
    dependsOn: [proxy]
    fallback: &ask ask the user for a link
    alternatives:
      - { tool: news_search, degradation: low, note: recent items only }
  news_search:
    fallback: *ask
  orders: {}
`;

const TOOLS = {
  web_search: {
    provides: 'web search',
    dependsOn: ['proxy'],
    fallback: 'ask the user for a link',
    alternatives: [{ tool: 'news_search', degradation: 'low', note: 'recent items only' }],
  },
  news_search: { fallback: 'ask the user for a link' },
  orders: {},
};

describe('R1: a capability map from a file', () => {
  test.each(['map.yaml', 'map.yml', 'MAP.YAML'])('R1: from YAML: %s', async (name) => {
    const { tools, warnings } = await loadCapabilities(await file(name, YAML));
    expect(tools).toEqual(TOOLS);
    expect(warnings.map(({ path }) => path)).toEqual(['tools.orders']);
  });

  test('R1: from JSON, with tabs and a byte order mark', async () => {
    const path = await file('map.json', `\uFEFF${JSON.stringify({ tools: TOOLS }, null, '\t')}`);
    expect((await loadCapabilities(path)).tools).toEqual(TOOLS);
  });

  test('R1: by a file URL, also if it writes the name differently', async () => {
    const path = await file('a map #1.yaml', YAML);
    expect((await loadCapabilities(pathToFileURL(path))).tools).toEqual(TOOLS);
  });

  test('R1: a string, which may be JSON', () => {
    expect(parseCapabilitiesYaml(YAML).tools).toEqual(TOOLS);
    expect(parseCapabilitiesYaml(JSON.stringify({ tools: TOOLS })).tools).toEqual(TOOLS);
  });

  test('R1: the maps of the README can be used', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    const blocks = [...readme.matchAll(/^```yaml\n(# capabilities\.yaml.*?)^```$/gms)];
    const maps = blocks.map(([, map = '']) => parseCapabilitiesYaml(map));
    expect(maps.map(({ warnings }) => warnings)).toEqual([[]]);
  });
});

describe('R1, E6: invalid files', () => {
  test('R1, E6: a file that does not exist', async () => {
    const path = join(folder, 'nowhere.yaml');
    const { what, ...rest } = await refused(loadCapabilities(path));
    expect(rest).toEqual({ path, at: 'file' });
    expect(what).toMatch(/^doesn't exist \(ENOENT\)\. Correct the path/);
  });

  test.each(['.yaml', '.json'])(
    'R1, E6: a file of more than 128 KB, which is not read to its end: %s',
    async (extension) => {
      const path = join(folder, `long${extension}`);
      await writeFile(path, `{"tools": {"a": {"fallback": "${'x'.repeat(2_000_000)}"}}}`);
      expect(await refused(loadCapabilities(path))).toMatchObject({
        path,
        what: expect.stringMatching(/^has more than 128 KB/),
      });
    },
  );

  test('R1, E6: a text with a thousand faults: the first hundred are listed', () => {
    const parse = () => parseCapabilitiesYaml(`tools:\n${'  a: {}\n'.repeat(1_001)}`);
    expect(parse).toThrow(/line 102, column 3: is a duplicate key.*\n {2}… and .* more\. Fix the ones above first\./);
  });

  test('R1, E6: a text of more than 128 KB', () => {
    expect(() => parseCapabilitiesYaml(`# ${'x'.repeat(128_000)}`)).toThrow(/has more than 128 KB/);
  });

  test.each([
    ['map.toml', /^ends in \.toml, .* Rename the file to end in one of \.yaml, \.yml, \.json\.$/],
    ['map', /^has no extension, /],
    ['map.constructor', /^ends in \.constructor/],
  ])('R1, E6: a file name with the wrong extension: %s', async (name, what) => {
    const path = await file(name, YAML);
    expect(await refused(loadCapabilities(path))).toEqual({ path, at: 'file', what: expect.stringMatching(what) });
  });

  test('R1, E6: bytes that are not UTF-8', async () => {
    const path = await file('latin.yaml', Uint8Array.of(0x74, 0xfc, 0x72));
    expect((await refused(loadCapabilities(path))).what).toMatch(/UTF-8/);
  });

  test.each([undefined, 5, '', new URL('http://127.0.0.1/map.yaml')])('E6: %s is not a path', async (path) => {
    await expect(loadCapabilities(path as string)).rejects.toThrow(BreakerboxUsageError);
    await expect(loadCapabilities(path as string)).rejects.toThrow(/Give a path such as/);
  });

  test('E6: a value that is not a string', () => {
    expect(() => parseCapabilitiesYaml(undefined as unknown as string)).toThrow(BreakerboxUsageError);
  });
});

describe('R1, E6: content that is not allowed', () => {
  test.each([
    ['a bracket that is never closed', 'tools:\n  a: { fallback: [x\n', 'line 3, column 1', /is not valid YAML/],
    ['tabs', 'tools:\n\ta: {}\n', 'line 2, column 1', /is not valid YAML: Tabs/],
    ['an unknown tag', 'tools:\n  a: !!secret x\n', 'line 2, column 6', /tag/i],
    ['an alias of nothing', 'tools:\n  a: *missing\n', 'line 2, column 6', /\*missing has no complete anchor/],
    ['an alias of what it is in', 'tools: &all\n  a: *all\n', 'line 2, column 6', /\*all has no complete anchor/],
    ['a key twice', 'tools:\n  a: {}\n  b: {}\n  a: {}\n', 'line 4, column 3', /is a duplicate key/],
    ['a second document', 'tools: {}\n---\ntools: {}\n', 'line 2, column 1', /second document/],
  ])('R1, E6: YAML: %s', async (_, text, at, what) => {
    const path = await file('bad.yaml', text);
    const rejection = await refused(loadCapabilities(path));
    expect(rejection).toMatchObject({ path, what: expect.stringMatching(what) });
    expect(rejection.at.split('\n')).toContain(at);
    expect(rejection.what).toMatch(/(Correct|Remove|Put)[^.]*\.$/);
  });

  test.each([
    ['a comma too many', '{"tools": {\n  "a": {},\n}}', 'line 3, column 1', /is not valid JSON/],
    ['a key twice', '{"tools": {\n  "a": {},\n  "a": {}\n}}', 'line 3, column 3', /is a duplicate key/],
    ['YAML', YAML, 'text', /is not valid JSON/],
  ])('R1, E6: JSON: %s', async (_, text, at, what) => {
    const path = await file('bad.json', text);
    expect(await refused(loadCapabilities(path))).toEqual({ path, at, what: expect.stringMatching(what) });
  });

  test('R1, E6: aliases that expand to millions of values are rejected before expansion', async () => {
    const levels = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(', ')}]`);
    const path = await file('bomb.yaml', `l0: &l0 [x]\n${levels.join('\n')}\ntools: {}\n`);
    const { what } = await refused(loadCapabilities(path));
    expect(what).toMatch(/^has aliases that can't be expanded \(.*\)\. Write out/);
  });

  test.each([
    ['brackets', '['.repeat(100_000), 'line 1'],
    ['objects', `tools:\n  a: ${'{a: '.repeat(40)}`, 'line 2'],
    ['dashes', '- '.repeat(50_000), 'line 1'],
    ['JSON', `{"tools": ${'['.repeat(100_000)}`, 'line 1'],
  ])('R1, E6: endless nesting is rejected before a parser reads it: %s', async (form, text, at) => {
    const path = await file(`deep.${form === 'JSON' ? 'json' : 'yaml'}`, text);
    const what = expect.stringMatching(/^has more than 32 levels .*Correct the text\.$/);
    expect(await refused(loadCapabilities(path))).toEqual({ path, at, what });
  });

  test('R1, E6: brackets in texts are no levels', () => {
    const text = '['.repeat(100);
    expect(
      parseCapabilitiesYaml(`tools:\n  a:\n    fallback: "${text}"\n    provides: >\n      ${text}\n`).warnings,
    ).toEqual([]);
  });

  test.each(['.yaml', '.json'])('R1, E6: too many tools, and texts that fill the prompt: %s', async (extension) => {
    const tools = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, { fallback: 'ask' }]));
    const read = async (map: object) => loadCapabilities(await file(`much${extension}`, JSON.stringify(map)));
    expect(Object.keys((await read({ tools: tools(1_000) })).tools)).toHaveLength(1_000);
    expect(await refused(read({ tools: tools(1_001) }))).toMatchObject({
      at: 'line 1, tools',
      what: 'has 1001 tools, but at most 1000 can be in one file. Leave out tools that the agent does not have.',
    });
    const a = { alternatives: [{ tool: 'b', note: 'x'.repeat(1_001) }] };
    const b = { fallback: 'x'.repeat(90_000), provides: 'x'.repeat(1_000) };
    expect(await refused(read({ tools: { a, b } }))).toMatchObject({
      at: 'line 1, tools.a.alternatives[0].note\nline 1, tools.b.fallback',
      what: expect.stringMatching(/^has 1001 characters.*\nhas 90000 characters, .* Shorten it to 1000 at most\.$/),
    });
  });

  test.each(['', '# nothing\n', '- a\n- b\n', 'just a text\n', 'null\n'])('R1, E6: not an object: %j', async (text) => {
    expect((await refused(loadCapabilities(await file('none.yaml', text)))).what).toMatch(/Give an object/);
  });

  test('R1, E6: the error names the file and lists every fault that the validator of core finds, with its line', async () => {
    const text = 'tools:\n  a: { alternatives: [{ tool: b }], falback: x }\n  c: { adapt: 5, provides: 7 }\n';
    const path = await file('wrong.yaml', text);
    const rejection = await refused(loadCapabilities(path));
    expect(rejection.path).toBe(path);
    expect(rejection.at.split('\n').toSorted()).toEqual([
      'line 2, tools.a.alternatives[0].tool',
      'line 2, tools.a.falback',
      'line 3, tools.c.adapt',
      'line 3, tools.c.provides',
    ]);
  });

  test('R1: names of properties of Object.prototype are ordinary names', () => {
    const { tools } = parseCapabilitiesYaml('tools:\n  constructor: { fallback: x }\n  12: { fallback: y }\n');
    expect(Object.keys(tools).toSorted()).toEqual(['12', 'constructor']);
    expect(Object.getPrototypeOf(parseCapabilitiesYaml('tools: { __proto__: { fallback: x } }').tools)).toBe(
      Object.prototype,
    );
  });
});
