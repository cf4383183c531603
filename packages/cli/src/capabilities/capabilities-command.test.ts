/** The command in this process with its own terminal, and once as a process of its own. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../test-support-command.ts';
import { capabilitiesCommand } from './capabilities-command.ts';

const MAP = `
tools:
  web_search:
    provides: web search
    dependsOn: [proxy, dns]
    alternatives:
      - { tool: news_search, degradation: low, note: recent items only }
      - { tool: fetch_page }
    fallback: ask the user for a link
  news_search: { provides: news of the last 30 days, fallback: ask the user for a link }
  fetch_page: { provides: pages by their address }
`;
const SOUND = 'tools: { a: { fallback: ask } }';
const FAULTY = 'tools:\n  a: { alternatives: [{ tool: b }], falback: ask }\n';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-capabilities-'));
});
afterAll(() => rm(folder, { recursive: true }));

const file = async (text: string): Promise<string> => {
  const path = join(folder, 'map.yaml');
  await writeFile(path, text);
  return path;
};

const run = async (columns: number, path: string, ...flags: readonly string[]) => {
  const seen = await runCommand(capabilitiesCommand, [path, ...flags], columns);
  return { ...seen, out: seen.out.replaceAll(folder, '.') };
};

describe('R1: breakerbox capabilities', () => {
  test('R1: shows the map as a table, with its warnings', async () => {
    const { code, out, err } = await run(120, await file(MAP));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n\n1 warning\n')[0]).toBe(
      [
        './map.yaml: 3 tools',
        '',
        'tool         provides                  alternatives                          fallback                 depends on',
        '─'.repeat(114),
        'web_search   web search                news_search (low): recent items only  ask the user for a link  proxy, dns',
        '                                       fetch_page (unknown)',
        '─'.repeat(114),
        'news_search  news of the last 30 days  -                                     ask the user for a link  -',
        '─'.repeat(114),
        'fetch_page   pages by their address    -                                     -                        -',
      ].join('\n'),
    );
    expect(out).toMatch(/\n\n1 warning\n {2}tools\.fetch_page: has neither .*\n$/);
  });

  test('R1: fits 80 columns, as the README shows it', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const [, shown = ''] = /^```text\n(capabilities\.yaml: \d.*?)\n\n1 warning/ms.exec(readme) ?? [];
    const { out } = await run(80, await file(MAP));
    expect(out.replace('./map.yaml', 'capabilities.yaml').split('\n\n1 warning\n')[0]).toBe(shown);
    expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test('R1: if the words do not fit, the table is wider than the terminal', async () => {
    const { out } = await run(20, await file(MAP));
    expect(out).toMatch(/^news_search/m);
    expect(out).toContain('fetch_page');
  });

  test('R1: shows a map without tools and without warnings', async () => {
    expect(await run(80, await file('tools: {}'))).toEqual({ code: 0, out: './map.yaml: 0 tools\n', err: '' });
    expect((await run(80, await file(SOUND))).out).not.toContain('warning');
  });

  test('R1: lists all faults of a map on stderr, and exits with 1', async () => {
    const path = await file(FAULTY);
    const { code, out, err } = await run(80, path);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`breakerbox capabilities: Breakerbox can't use this capability file '${path}':\n`);
    expect(err).toContain('tools.a.alternatives[0].tool: ');
    expect(err).toContain('tools.a.falback: ');
  });

  test.each([
    [MAP, 1],
    [SOUND, 0],
  ])('R1: --strict: %j exits with %d', async (text, code) => {
    expect((await run(80, await file(text), '--strict')).code).toBe(code);
  });

  test('R1: --json: prints a valid map', async () => {
    const path = await file(MAP);
    const { code, out } = await run(80, path, '--json', '--strict');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      valid: true,
      tools: { web_search: { alternatives: [{ tool: 'news_search', degradation: 'low' }, { tool: 'fetch_page' }] } },
      warnings: [{ path: 'tools.fetch_page' }],
    });
  });

  test('R1: --json: prints the faults of an invalid map', async () => {
    const { code, out, err } = await run(80, await file(FAULTY), '--json');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    const { valid, errors } = JSON.parse(out) as { valid: boolean; errors: { path: string }[] };
    expect([valid, errors.length]).toEqual([false, 2]);
  });

  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not have these
  const UNSAFE = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]/;

  test('R1: shows control characters of a map, and does not send them to the terminal', async () => {
    const { out } = await run(80, await file('tools: { a: { provides: "x\\e[31my\\r\\nz", fallback: ask } }'));
    expect(out).not.toMatch(UNSAFE);
    expect(out).toContain('x\\u{1b}[31my\\u{d} ');
  });

  test.each([
    ['a name', 'tools: { "a\\e[2J\\u202e": { falback: ask } }'],
    ['a key', 'tools: { a: { "b\\e[2J\\u009b": ask } }'],
    ['a value', 'tools: { a: { alternatives: [{ tool: "b\\e[2J\\r" }] } }'],
    ['an alias', 'tools: { a: *b\u001b }'],
    ['a line of its own', 'tools: { "a\\nbreakerbox: all is well\\e[2J": { falback: ask } }'],
  ])('R1: shows control characters in %s of an invalid map, each fault on one line', async (_, text) => {
    const { code, err } = await run(80, await file(text));
    expect(code).toBe(1);
    expect(err).not.toMatch(UNSAFE);
    expect(err).toContain('\\u{1b}');
    expect(err.trimEnd().split('\n').slice(1)).toEqual([expect.stringMatching(/^ {2}\S/)]);
  });

  test('R1: shows control characters in the file name and in a warning', async () => {
    const { err } = await run(80, join(folder, 'no\u001b[2J\nsuch.yaml'));
    expect(err).not.toMatch(UNSAFE);
    expect(err).toContain('no\\u{1b}[2J');
    const { out } = await run(80, await file('tools: { "a\\nb": {} }'));
    expect(out).toContain('  tools.a\\nb: has neither');
  });

  test('R1: as a process: has the exit code of the command', async () => {
    const main = fileURLToPath(new URL('../main.ts', import.meta.url));
    const start = (...flags: readonly string[]) =>
      promisify(execFile)(process.execPath, ['--conditions=breakerbox-source', main, 'capabilities', ...flags]);
    const path = await file(SOUND);
    expect((await start(path)).stdout).toContain('map.yaml: 1 tool\n');
    const missing = { code: 1, stdout: '', stderr: expect.stringContaining('ENOENT') };
    await expect(start(join(folder, 'nowhere.yaml'))).rejects.toMatchObject(missing);
    await expect(start()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('missing required') });
  });
});
