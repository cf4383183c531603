/** The command in this process, and once as a process of its own. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DEFAULT_SETTINGS } from '@breakerbox/alerts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BundleReport } from './bundle-report.ts';
import { runBundle, type TestFolder, testFolder } from './test-support.ts';

let at: TestFolder;
beforeEach(async () => {
  at = await testFolder();
});
afterEach(() => at.remove());

const json = async (...flags: readonly string[]): Promise<BundleReport> =>
  JSON.parse((await runBundle('--json', ...flags)).out);

describe('breakerbox bundle', () => {
  it('prints what it wrote, what it left out, and what to read', async () => {
    const { code, out, err } = await runBundle('--out', at.out);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/out: \d+ files \(\d+ written\)\n\n {2}README\.md\n {2}dashboards\/ +4 files\n/);
    expect(out).toContain('note: grafana/alerting is left out');
    expect(out).toContain('--grafana-url');
    expect(out).toMatch(/README\.md there says what to do with each file\.\n$/);
    expect(Object.keys(await at.files()).filter((path) => path.startsWith('out/grafana/'))).toEqual([
      'out/grafana/provisioning/dashboards/breakerbox.yml',
    ]);
  });

  it('changes nothing when it runs again', async () => {
    await runBundle('--out', at.out);
    expect((await runBundle('--out', at.out)).out).toMatch(/out: (\d+) files \(\1 unchanged\)/);
  });

  it('lists files that differ, and writes nothing', async () => {
    await runBundle('--out', at.out);
    const before = await at.files();
    const { code, out, err } = await runBundle('--out', at.out, '--set', 'openFor=10m', '--only', 'rules');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^breakerbox bundle: nothing was written:\n {2}README\.md: .*--force/);
    expect(err).toMatch(/^ {2}prometheus\/rules\/breakerbox\.alerts\.yml: exists and differs\. .*--force/m);
    expect(err).not.toContain('inhibit_rules');
    expect(await at.files()).toEqual(before);
    expect((await runBundle('--out', at.out, '--set', 'openFor=10m', '--force')).out).toMatch(/ overwritten, /);
    expect(await at.files()).not.toEqual(before);
  });

  it.each([
    ['dashboards', /^(README\.md|dashboards\/.+\.json|grafana\/provisioning\/.+)$/],
    ['rules', /^(README\.md|prometheus\/(rules|operator)\/.+\.yml|alertmanager\/.+)$/],
    ['runbooks', /^(README\.md|runbooks\/\w+\.md)$/],
  ])('writes only the part %s', async (part, expected) => {
    await runBundle('--out', at.out, '--only', part);
    const paths = Object.keys(await at.files()).map((path) => path.replace('out/', ''));
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) expect(path).toMatch(expected);
  });

  it('reports all faults at once', async () => {
    const { code, err } = await runBundle('--selector', 'job=a', '--set', 'opnFor=1m', '--only', 'rulez');
    expect(code).toBe(1);
    expect(err.trimEnd().split('\n').slice(1)).toEqual([
      expect.stringMatching(/^ {2}--out: is missing/),
      expect.stringMatching(/^ {2}--selector: a value must be in quotes/),
      expect.stringMatching(/^ {2}--only: .* The parts are rules,/),
      expect.stringMatching(/^ {2}--set opnFor: .* The settings are openFor,/),
    ]);
    expect(await at.files()).toEqual({});
  });

  it.each([
    [['--out', ''], /--out: is empty/],
    [['--out', '--json'], /--out: is "--json", which looks like a flag.*\.\/--json/],
    [['--out', 'x', '--settings', 'a.yml', '--settings', 'b.yml'], /--settings: is given 2 times/],
  ])('%j is an error', async (flags, reason) => {
    const { code, err } = await runBundle(...flags);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(reason) });
  });

  it('keeps a README of the repository, and does not suggest --force', async () => {
    await writeFile(join(at.folder, 'README.md'), '# Ours\n');
    for (const flags of [[], ['--force']]) {
      const { code, err } = await runBundle('--out', at.folder, ...flags);
      expect(code).toBe(1);
      expect(err).toMatch(/^ {2}README\.md: was not written by breakerbox bundle.*folder of its own, such as --out/m);
    }
    expect(await at.files()).toEqual({ 'README.md': '# Ours\n' });
  });

  it('shows control characters in flags, and does not send them to the terminal', async () => {
    const { err } = await runBundle('--out', at.out, '--selector', 'job=\u001b[2J', '--set', '\u001b[2J\n=1');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not have these
    expect(err).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expect(err.trimEnd().split('\n')).toHaveLength(3);
  });

  it('--json: prints the files that were written', async () => {
    const report = await json('--out', at.out, '--data-source', 'p:Prom', '--set', 'openFor=10m');
    expect(report).toMatchObject({
      made: true,
      out: at.out,
      options: { dataSource: { uid: 'p', name: 'Prom' }, folder: 'Breakerbox', settings: { openFor: '10m' } },
      notes: [
        expect.stringContaining('Prometheus operator, or grafana/alerting. With two of them'),
        expect.stringContaining('--grafana-url'),
      ],
    });
    if (!report.made) return;
    const written = await at.files();
    expect(report.files.map(({ path }) => `out/${path}`).toSorted()).toEqual(Object.keys(written));
    for (const { path, bytes, fate } of report.files) {
      expect({ path, bytes, fate }).toEqual({
        path,
        bytes: Buffer.byteLength(written[`out/${path}`] ?? ''),
        fate: 'written',
      });
    }
  });

  it('--json: prints the faults', async () => {
    expect(await json('--out', at.out, '--folder', '')).toEqual({
      made: false,
      errors: [{ path: '--folder', message: expect.stringContaining('is empty') }],
    });
    await writeFile(at.out, '');
    expect(await json('--out', at.out)).toMatchObject({ made: false, errors: [{ path: at.out }] });
  });

  it('reports what Kubernetes would reject, with the flag', async () => {
    const labels = ['--rule-label', 'release', '--rule-label', 'team=a b'];
    expect(await json('--out', at.out, '--namespace', 'Monitoring', ...labels)).toEqual({
      made: false,
      errors: [
        { path: '--rule-label release', message: expect.stringContaining('has no =') },
        { path: '--namespace', message: expect.stringMatching(/"Monitoring".* such as monitoring$/) },
        { path: '--rule-label team', message: expect.stringContaining('"a b"') },
      ],
    });
    expect(await at.files()).toEqual({});
  });

  it('--list-settings: prints every setting, and writes nothing', async () => {
    const { code, out } = await runBundle('--list-settings');
    expect(code).toBe(0);
    for (const name of Object.keys(DEFAULT_SETTINGS)) expect(out).toMatch(new RegExp(`^${name} `, 'm'));
    const listed: readonly { name: string; default: unknown }[] = JSON.parse(
      (await runBundle('--list-settings', '--json', '--out', at.out)).out,
    );
    expect(Object.fromEntries(listed.map((one) => [one.name, one.default]))).toEqual(DEFAULT_SETTINGS);
    expect(await at.files()).toEqual({});
  });

  it('documents its flags in the README', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const { stdout } = await start('--help');
    const flags = [...stdout.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag]) => flag);
    expect(flags.length).toBeGreaterThan(10);
    for (const flag of flags) expect(readme).toContain(`| \`${flag}`);
  });

  it('as a process: has the exit code of the command', async () => {
    const rejected = { code: 1, stdout: '', stderr: expect.stringContaining('--out: is missing') };
    await expect(start()).rejects.toMatchObject(rejected);
    await expect(start('--nonsense')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('--nonsense') });
  });

  it.each([
    [['--nonsense', '--json'], '--nonsense'],
    [['--json', '--out'], '--out'],
    [['--json', 'excess'], 'breakerbox bundle'],
  ])('--json: prints a document, even if the flags cannot be parsed: %j', async (flags, path) => {
    const error: unknown = await start(...flags).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 1, stderr: '' });
    const { stdout } = error as { readonly stdout: string };
    expect(JSON.parse(stdout)).toEqual({ made: false, errors: [{ path, message: expect.any(String) }] });
    expect((await start('--json', '--help')).stdout).toMatch(/^Usage/);
  });
});

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

const start = (...flags: readonly string[]) =>
  promisify(execFile)(process.execPath, ['--conditions=breakerbox-source', MAIN, 'bundle', ...flags]);
