import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommand } from '../test-support-command.ts';
import { checkCommand } from './check-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'breakerbox-check-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const sound = file(
  'breakerbox.yaml',
  'agent: a\nbudget: { failures: 4 }\ntools: { search: { profile: fast }, read: {} }\n',
);
const map = file('capabilities.yaml', 'tools: { a: { fallback: ask } }\n');
const faulty = file('wrong.yaml', 'defaults:\n  failureTreshold: 4\ntools:\n  search: { cooldownMs: -1 }\n');

const run = (...given: readonly string[]) => runCommand(checkCommand, given, 120);

describe('E6, M8: breakerbox check', () => {
  test('E6: valid files are named with their tools, and the exit code is 0', async () => {
    expect(await run(sound, map)).toMatchObject({
      out: `${sound}: valid, 2 tools\n${map}: valid, 1 tool\n`,
      err: '',
      code: 0,
    });
  });

  test('E6: a fault has its line, its place and the fix, other files are checked too, and the exit code is 1', async () => {
    const { out, err, code } = await run(faulty, sound);
    expect(out).toBe(`${sound}: valid, 2 tools\n`);
    expect(err).toContain(`breakerbox check: Breakerbox can't use this configuration file '${faulty}':`);
    expect(err).toMatch(/line 2, defaults\.failureTreshold: .*failureThreshold/);
    expect(err).toMatch(/line 4, tools\.search\.cooldownMs: /);
    expect(code).toBe(1);
  });

  test('E6: a fault in a capability map has its line too', async () => {
    const path = file('capabilities-wrong.yaml', 'tools:\n  a:\n    falback: ask\n');
    expect((await run(path)).err).toMatch(/line 3, tools\.a\.falback: .*fallback/);
  });

  test('E6: a file with a list or a text is told what to write, and nothing else', async () => {
    const { err } = await run(file('list.yaml', '- a\n'));
    expect(err).toMatch(/:\n {2}file: is not an object\. Write settings such as [^\n]+\n$/);
  });

  test('E6: a file that is not there is a fault', async () => {
    const { err, code } = await run(join(folder, 'none.yaml'));
    expect(err).toContain('none.yaml');
    expect(code).toBe(1);
  });

  test.each([
    ['without tools', 'budget: { failures: 0 }\nlimits: { calls: -1 }\n', ['budget.failures', 'limits.calls']],
    ['with tools', 'maxDepth: 5\ntools: { a: { probes: 0, fallback: 7, cooldownMs: -1 }, b: {} }\n', undefined],
    ['with a setting of a wrong type', 'budget: [4]\nbudgets: 3\n', ['budget', 'budgets']],
  ])('a file with a setting that no capability map has is a configuration: %s', async (name, text, paths) => {
    const [{ kind, errors }] = JSON.parse((await run('--json', file(`settings ${name}.yaml`, text))).out);
    expect(kind).toBe('configuration');
    if (paths !== undefined) expect(errors.map(({ path }: { path: string }) => path)).toEqual(paths);
  });

  test('E6: a file of another name is what it has fewer faults as', async () => {
    const own = file('map.yaml', 'tools:\n  a: { provides: pages, dependsOn: [proxy] }\n');
    const settings = file('settings.yaml', 'agent: a\ntools:\n  a: { cooldownMs: 5000 }\n  b: { falback: ask }\n');
    const { out } = await run('--json', own, settings, sound);
    expect(JSON.parse(out)).toMatchObject([
      { kind: 'capabilities', valid: true, tools: 1 },
      { kind: 'configuration', valid: false, errors: [{ path: 'tools.b.falback' }] },
      { kind: 'configuration', valid: true },
    ]);
  });

  test('E6: --json has all of it, the line beside the path, and --as says what a file is', async () => {
    const broken = file('broken.yaml', 'tools: [\n  a');
    const { out, code } = await run('--json', '--as', 'capabilities', map, faulty, broken, join(folder, 'none.yaml'));
    expect(JSON.parse(out)).toMatchObject([
      { file: map, kind: 'capabilities', valid: true, errors: [], tools: 1 },
      {
        file: faulty,
        kind: 'capabilities',
        valid: false,
        errors: [
          { line: 1, path: 'defaults' },
          { line: 4, path: 'tools.search.cooldownMs' },
        ],
      },
      { errors: [{ line: 2, column: 4, path: 'file', message: expect.stringContaining('not valid YAML') }] },
      { errors: [{ path: 'file', message: expect.stringContaining('ENOENT') }] },
    ]);
    expect(code).toBe(1);
  });
});
