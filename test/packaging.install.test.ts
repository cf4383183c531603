import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packAll } from './newcomer/pack.ts';
import { catalog } from './newcomer/workspace.ts';
import { startGrpcReceiver } from './packaging/grpc-receiver.ts';
import { NEWEST_NODE, nodeBinary, OWN_NODE } from './packaging/nodes.ts';
import { installedIn, makeBlank, type Project } from './packaging/project.ts';
import { entriesOf, leastNodes, type Published, published, readJson } from './packaging/published.ts';
import { run, runJson } from './packaging/run.ts';

/*
 * The tarballs in blank projects: ES modules and CommonJS, by npm and by pnpm, on the least Node of each line that `engines` admits and on
 * the newest ones, with none of the optional peers.
 */

const named = (name: string): Published => published.find((one) => one.name === name) ?? expect.fail(`no ${name}`);
const [core, instrumentation, telemetry] = ['core', 'instrumentation', 'telemetry'].map((one) =>
  named(`@breakerbox/${one}`),
) as [Published, Published, Published];
const LIBRARIES = published.filter(({ manifest }) => manifest.exports);
/** `--import` alone: what they do happens when they are loaded. */
const REGISTERS = LIBRARIES.flatMap(entriesOf).filter((entry) => entry.endsWith('/register'));

const PROJECTS = (['npm', 'pnpm'] as const).flatMap((installer) =>
  (['module', 'commonjs'] as const).map((type) => ({ installer, type })),
);

let above: string;
const folderOf = ({ installer, type }: Pick<Project, 'installer' | 'type'>): string =>
  join(above, `${installer}-${type}`);

beforeAll(async () => {
  above = await mkdtemp(join(tmpdir(), 'breakerbox-install-'));
  const tarballs = await packAll();
  const ours = LIBRARIES.map(({ name }) => name);
  const versions = new Set([...LIBRARIES.flatMap(leastNodes), NEWEST_NODE]);
  const usual = {
    type: 'module',
    installer: 'npm',
    ours: [core, instrumentation, telemetry].map(({ name }) => name),
  } as const;
  await Promise.all([
    ...PROJECTS.map((one) => makeBlank({ ...one, folder: folderOf(one), ours }, tarballs)),
    makeBlank({ ...usual, folder: join(above, 'usual') }, tarballs),
    makeBlank(
      { ...usual, folder: join(above, 'grpc'), others: [`@grpc/grpc-js@${catalog['@grpc/grpc-js']}`] },
      tarballs,
    ),
    ...[...versions].map(nodeBinary),
  ]);
}, 180_000);
afterAll(() => rm(above, { recursive: true, force: true }));

const SEEN = ['read the-news', 'ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED', 'refused: open'];

/** The entries that a version of Node has to load: those of the packages whose `engines` admit it. */
const entriesFor = (version: string): readonly string[] =>
  LIBRARIES.filter((one) => admits(one, version))
    .flatMap(entriesOf)
    .filter((entry) => !REGISTERS.includes(entry));

const admits = (one: Published, version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return one.manifest.engines.node.split('||').some((range) => {
    const [leastMajor = 0, leastMinor = 0] = (/[\d.]+/.exec(range)?.[0] ?? '').split('.').map(Number);
    const sameMajor = major === leastMajor && minor >= leastMinor;
    return sameMajor || (range.includes('>=') && major > leastMajor);
  });
};

const VERSIONS = [...new Set([...LIBRARIES.flatMap(leastNodes), OWN_NODE, NEWEST_NODE])].toSorted();

test('engines: core, fleet, instrumentation, alerts and dashboards from Node 20.19 and 22.12 on; what runs the OpenTelemetry SDK from 22.15', () => {
  expect(VERSIONS).toEqual(['20.19.0', '22.12.0', '22.15.0', '24.21.0', '26.10.0']);
  expect(
    published
      .filter((one) => admits(one, '20.19.0'))
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['alerts', 'core', 'dashboards', 'fleet', 'instrumentation'].map((one) => `@breakerbox/${one}`));
  expect(published.filter((one) => !admits(one, '22.15.0'))).toEqual([]);
  expect([core, instrumentation].filter((one) => admits(one, '20.18.0') || admits(one, '22.11.0'))).toEqual([]);
});

describe.each(PROJECTS)('a blank project ($type) by $installer', (project) => {
  test('has none of the optional peers', async () => {
    const optional = LIBRARIES.flatMap(({ manifest }) => Object.keys(manifest.peerDependenciesMeta ?? {}));
    const installed = await installedIn(folderOf(project));
    expect(installed.filter((one) => optional.includes(one))).toEqual([]);
    expect(installed).toContain('@breakerbox/core');
  });

  test.each(VERSIONS)('on Node %s loads every entry, and guards tools', async (version) => {
    const program = project.type === 'module' ? 'imports.mjs' : 'requires.cjs';
    const entries = entriesFor(version);
    expect(entries).toEqual(expect.arrayContaining(['@breakerbox/core', '@breakerbox/instrumentation/langchain']));
    const node = await nodeBinary(version);
    // Node 22.12 could `require` ES modules, and said at each first time that it was an experiment.
    const args = ['--disable-warning=ExperimentalWarning', program, ...entries];
    expect(await runJson(node, args, folderOf(project))).toEqual({ loaded: entries, seen: SEEN });
  });

  test.each(VERSIONS.filter((version) => admits(telemetry, version)))('on Node %s has metrics', async (version) => {
    const env = { OTEL_LOG_LEVEL: 'warn' };
    const node = await nodeBinary(version);
    const { seen, metrics, grpc } = await runJson<{ seen: unknown; metrics: string; grpc: boolean }>(
      node,
      ['metrics.mjs'],
      folderOf(project),
      env,
    );
    expect(seen).toEqual(SEEN);
    expect(grpc).toBe(false); // Only configured exporters are loaded.
    expect(metrics).toMatch(
      /^breakerbox_decisions_total\{[^\n]*gen_ai_tool_name="search"[^\n]*breakerbox_decision="skip"[^\n]*\} 1$/m,
    );
  });

  test.each(REGISTERS)('node --import %s starts', async (entry) => {
    const env = { OTEL_EXPORTER_PROMETHEUS_PORT: '0', BREAKERBOX_AGENT: 'newcomer' };
    const ran = await run(process.execPath, ['--import', entry, 'imports.mjs'], folderOf(project), env);
    expect(ran).toEqual({ code: 0, stdout: JSON.stringify({ loaded: [], seen: SEEN }), stderr: '' });
  });
});

test('`require` of an entry that is for `--import` says so, and that of any other works', async () => {
  const folder = folderOf({ installer: 'npm', type: 'commonjs' });
  const { code, stderr } = await run(
    process.execPath,
    ['requires.cjs', '@breakerbox/instrumentation/register'],
    folder,
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining('ERR_REQUIRE_ASYNC_MODULE')]);
});

describe('core, instrumentation and telemetry', () => {
  /** Bytes of the files below a folder. */
  const sizeOf = async (folder: string): Promise<number> => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => lstat(join(parentPath, name)));
    return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
  };

  test('are at most 25 packages and 12 MB beside the OpenTelemetry API', async () => {
    const modules = join(above, 'usual/node_modules');
    const { packages } = readJson<{ packages: object }>(join(modules, '.package-lock.json'));
    const names = Object.keys(packages).filter((path) => path !== 'node_modules/@opentelemetry/api');
    expect(names).toContain('node_modules/@breakerbox/telemetry');
    expect(names.length).toBeLessThanOrEqual(25);
    const bytes = (await sizeOf(modules)) - (await sizeOf(join(modules, '@opentelemetry/api')));
    expect(bytes).toBeLessThan(12_000_000);
  });

  /** Metrics, spans and log events by OTLP over gRPC, and what the agent and its log showed. */
  const overGrpc = async (folder: string) => {
    await using receiver = await startGrpcReceiver();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const { code, stdout, stderr } = await run(process.execPath, ['metrics.mjs'], join(above, folder), env);
    const { seen, metrics } = JSON.parse(stdout) as { seen: unknown; metrics: string };
    expect({ code, seen }).toEqual({ code: 0, seen: SEEN });
    expect(metrics).toContain('breakerbox_decisions_total{');
    return { stderr, services: receiver.services() };
  };

  test('OTLP over gRPC without @grpc/grpc-js is one line that says what to install; all else works', async () => {
    const { stderr, services } = await overGrpc('usual');
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/which is not installed\. .*not sent\. .* npm install @grpc\/grpc-js, or set /),
    ]);
    expect(services).toEqual([]);
  });

  test('OTLP over gRPC with @grpc/grpc-js sends every signal', async () => {
    const { stderr, services } = await overGrpc('grpc');
    expect(stderr).toBe('');
    expect(services).toEqual(['LogsService', 'MetricsService', 'TraceService']);
  });
});
