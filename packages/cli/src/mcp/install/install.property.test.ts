import fc from 'fast-check';
import jsonc from 'jsonc-parser';
import { expect, test } from 'vitest';
import { folderWithCommand, machine } from './test-support-install.ts';

/** White space and comments between any two tokens. */
const gap = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', ' ', '\n  ', '\r\n\t', '\n\n    ') },
  { weight: 1, arbitrary: fc.constantFrom(' /* a, "b": { */ ', ' // c ]\n  ', '/**/') },
);

const word = fc.oneof(
  fc.constantFrom('-y', '--', 'npx', 'mcp', 'C:\\x', 'ü', '--flag=1', 'https://a.test', '', ' ', '"'),
  fc.string(),
);
/** A string as JSON, also with needless escapes. */
const literal = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(value, fc.boolean())
    .map(([text, isEscaped]) =>
      isEscaped
        ? `"${[...text].map((sign) => (sign.length === 1 ? `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}` : sign)).join('')}"`
        : JSON.stringify(text),
    );

type Member = readonly [key: string, value: string];

const object = (members: readonly Member[], gaps: readonly string[], hasComma: boolean): string => {
  let at = 0;
  const next = (): string => gaps[at++ % gaps.length] ?? '';
  const parts = members.map(([key, value]) => `${next()}${key}${next()}:${next()}${value}${next()}`);
  return `{${parts.join(',')}${hasComma && members.length > 0 ? ',' : ''}${next()}}`;
};

const gaps = fc.array(gap, { minLength: 1, maxLength: 7 });
const array = (items: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(fc.array(items, { maxLength: 4 }), gaps, fc.boolean()).map(([all, between, hasComma]) => {
    const parts = all.map((item, index) => `${between[index % between.length]}${item}`);
    return `[${parts.join(',')}${hasComma && all.length > 0 ? ',' : ''}${between.at(-1)}]`;
  });
const made = (members: fc.Arbitrary<readonly Member[]>): fc.Arbitrary<string> =>
  fc.tuple(members, gaps, fc.boolean()).map(([all, between, hasComma]) => object(all, between, hasComma));

const extra = fc.subarray<Member>([
  ['"env"', '{"A": "b"}'],
  ['"timeout"', '1.50'],
  ['"disabled"', 'false'],
  ['"\\u0063wd"', '"/x"'],
]);
const shuffled = (members: fc.Arbitrary<readonly Member[]>) =>
  members.chain((all) => fc.shuffledSubarray([...all], { minLength: all.length }));

const stdio = made(
  shuffled(
    fc
      .tuple(literal(fc.constantFrom('npx', 'C:\\a b', 'ü', './x')), fc.option(array(literal(word))), extra)
      .map(([command, args, more]) => [
        ['"command"', command],
        ...(args === null ? [] : [['"args"', args] as const]),
        ...more,
      ]),
  ),
);
const headers = made(
  fc
    .uniqueArray(fc.constantFrom('Authorization', 'X-Key', 'x_key', 'X.Key'), { maxLength: 4 })
    .chain((names) => fc.tuple(...names.map((name) => fc.tuple(literal(fc.constant(name)), literal(word))))),
);
const http = made(
  shuffled(
    fc
      .tuple(
        literal(fc.constantFrom('https://a.test/mcp', 'http://localhost:1/?a=%20')),
        headers,
        fc.option(literal(fc.constantFrom('http', 'streamable-http'))),
        extra,
      )
      .map(([url, all, type, more]) => [
        ['"url"', url],
        ['"headers"', all],
        ...(type === null ? [] : [['"type"', type] as const]),
        ...more.filter(([key]) => key !== '"env"'),
      ]),
  ),
);
const config = fc
  .tuple(fc.array(fc.oneof(stdio, http), { maxLength: 4 }), gaps, fc.boolean(), fc.constantFrom('', '\uFEFF'))
  .map(([servers, between, hasComma, mark]) => {
    const all = object(
      servers.map((server, index) => [`"s${index}"`, server]),
      between,
      hasComma,
    );
    return `${mark}${between[0]}${object(
      [
        ['"before"', '[1.0, null]'],
        ['"mcpServers"', all],
        ['"z"', '"\\u0041"'],
      ],
      between,
      hasComma,
    )}\n`;
  });

const again = fc.subarray(['--launcher breakerbox', '--no-restart', '-- --agent desk --observe'], { minLength: 1 });

test('M8: after install, another install and uninstall every byte is as it was, whatever the layout', async () => {
  const at = machine({ path: folderWithCommand(machine()) });
  await fc.assert(
    fc.asyncProperty(config, fc.option(again), async (source, more) => {
      const path = at.put('.claude.json', source);
      const installed = await at.run('install', '--client', 'claude-code', '--write');
      expect(installed.code, installed.err).toBe(0);
      const wrapped = jsonc.parse(at.read(path).replace('\uFEFF', ''));
      const servers = Object.values<{ command: string; url?: string }>(wrapped.mcpServers);
      expect(servers.map(({ command, url }) => [command, url])).toEqual(servers.map(() => ['npx', undefined]));
      if (more !== null) {
        const words = ['install', '--client', 'claude-code', '--write', ...more.flatMap((one) => one.split(' '))];
        const updated = await at.run(...words);
        expect(updated.code, updated.err).toBe(0);
        expect((await at.run(...words)).out).toContain('Nothing was changed.');
      }
      const removed = await at.run('uninstall', '--client', 'claude-code', '--write');
      expect(removed.code, removed.err).toBe(0);
      expect(at.read(path)).toBe(source);
    }),
    { numRuns: 200 },
  );
});

test('M8: after install, a client that writes its file in its own way, and uninstall, every value is as it was', async () => {
  const at = machine();
  await fc.assert(
    fc.asyncProperty(config, fc.constantFrom(undefined, 2, '\t'), async (source, indent) => {
      const valuesOf = (text: string) => jsonc.parse(text.replace('\uFEFF', ''), [], { allowTrailingComma: true });
      const path = at.put('.claude.json', source);
      await at.run('install', '--client', 'claude-code', '--write');
      const written = { ...valuesOf(at.read(path)), startups: 1 };
      at.put('.claude.json', JSON.stringify(written, null, indent));
      await at.run('uninstall', '--client', 'claude-code', '--write');
      // As text, so that the order of fields counts too.
      expect(JSON.stringify(JSON.parse(at.read(path)))).toBe(JSON.stringify({ ...valuesOf(source), startups: 1 }));
    }),
    { numRuns: 200 },
  );
});
