import asyncHooks from 'node:async_hooks';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build as esbuild, type Format, type Platform } from 'esbuild';
import { build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from './newcomer/commands.ts';
import { packAll } from './newcomer/pack.ts';
import { catalog } from './newcomer/workspace.ts';
import { makeBlank } from './packaging/project.ts';
import { entriesOf, published } from './packaging/published.ts';
import { run, runJson } from './packaging/run.ts';

/*
 * What people do with the packages once they are installed: they check types against them, make bundles that run where nothing is
 * installed, and call the command.
 */

const TYPESCRIPT_5 = '5.9.3';
/** The oldest that is tried: what came with the types of Node 24 needs as much. */
const OLDEST_TYPESCRIPT = '5.4.5';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-use-'));
  const ours = published.map(({ name }) => name);
  const others = [
    `typescript@${TYPESCRIPT_5}`,
    `oldest-typescript@npm:typescript@${OLDEST_TYPESCRIPT}`,
    `@types/node@${catalog['@types/node']}`,
  ];
  await makeBlank({ folder, type: 'module', installer: 'npm', ours, others }, await packAll());
  await writeFile(join(folder, 'required.cts'), REQUIRED);
  await writeFile(join(folder, 'entries.ts'), ENTRIES);
  await writeFile(join(folder, 'compiled.ts'), COMPILED);
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Here and no file, for this workspace's own TypeScript takes no CommonJS. */
const REQUIRED = `
import core = require('@breakerbox/core');
import instrumentation = require('@breakerbox/instrumentation');
import telemetry = require('@breakerbox/telemetry');

export const started: telemetry.TelemetryHandle = telemetry.startTelemetry({ prometheus: false });
const session: core.Session = core.createBreakerbox({ agent: 'typed', tools: { search: {} } }).session();
export const search = instrumentation.guard(session, 'search', async (query: string) => query.length);
// @ts-expect-error The types are there: an input that doesn't fit is seen.
search(1);
`;

/** Every entry of every package. */
const ENTRIES = published
  .flatMap(entriesOf)
  .map(
    (entry, index) => `import * as entry${index} from '${entry}';\nexport const one${index}: object = entry${index};\n`,
  )
  .join('');

/** What a compiler makes CommonJS of. */
const COMPILED = `
import { createBreakerbox, type Session } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { parseCapabilitiesYaml } from '@breakerbox/instrumentation/capabilities';

const session: Session = createBreakerbox({ agent: 'compiled', tools: parseCapabilitiesYaml('tools: { search: {} }').tools }).session();
const search = guard(session, 'search', async (query: string) => query.length);
search('four').then((length: number) => process.stdout.write(JSON.stringify({ length, commonjs: typeof module })));
`;

const OLDEST_TSC = 'node_modules/oldest-typescript/bin/tsc';
const TSC_5 = 'node_modules/typescript/bin/tsc';
const TSC_7 = join(ROOT, 'node_modules/typescript/bin/tsc');

const tsc = (compiler: string, ...args: readonly string[]) =>
  run(process.execPath, [compiler, '--strict', '--target', 'es2022', '--types', 'node', ...args], folder);
/** How a compiler finds packages, where that isn't called as the modules are. */
const RESOLUTIONS: Readonly<Record<string, string>> = { esnext: 'bundler', commonjs: 'node10' };
const NOTHING_WRONG = { code: 0, stdout: '', stderr: '' };

// Libraries too: `skipLibCheck` is false, so that our own types have to be right.
test.each([
  { as: 'TypeScript 5, as Node resolves', tsc: TSC_5, module: 'nodenext', files: ['consumer.ts', 'required.cts'] },
  { as: 'TypeScript 7, as Node resolves', tsc: TSC_7, module: 'nodenext', files: ['consumer.ts', 'required.cts'] },
  { as: 'TypeScript 7, as bundlers resolve', tsc: TSC_7, module: 'esnext', files: ['consumer.ts'] },
  { as: 'the oldest TypeScript, as Node resolves', tsc: OLDEST_TSC, module: 'nodenext', files: ['consumer.ts'] },
  { as: 'the oldest TypeScript, for CommonJS', tsc: OLDEST_TSC, module: 'commonjs', files: ['consumer.ts'] },
  { as: 'TypeScript 5, for CommonJS', tsc: TSC_5, module: 'commonjs', files: ['consumer.ts'] },
])('$as, has the types of the packages', async ({ tsc: compiler, module, files }) => {
  const resolution = ['--module', module, '--moduleResolution', RESOLUTIONS[module] ?? module];
  expect(await tsc(compiler, '--noEmit', ...resolution, ...files)).toEqual(NOTHING_WRONG);
});

describe('TypeScript for CommonJS, which reads no `exports`', () => {
  const old = ['--module', 'commonjs', '--moduleResolution', 'node10'];

  // What an adapter's types take from a framework that isn't installed is left alone.
  test.each([OLDEST_TSC, TSC_5])('finds every entry: %s', async (compiler) => {
    expect(await tsc(compiler, '--noEmit', '--skipLibCheck', ...old, 'entries.ts')).toEqual(NOTHING_WRONG);
  });

  test('makes a program that runs', async () => {
    expect(await tsc(TSC_5, '--outDir', 'compiled', ...old, 'compiled.ts')).toEqual(NOTHING_WRONG);
    await writeFile(join(folder, 'compiled/package.json'), JSON.stringify({ type: 'commonjs' }));
    const ran = await runJson(process.execPath, ['compiled.js'], join(folder, 'compiled'));
    expect(ran).toEqual({ length: 4, commonjs: 'object' });
  });
});

const SEEN = ['read the-news', 'ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED', 'refused: open'];

/** Runs a bundle where nothing is installed. */
const runAlone = async (name: string, code: string, type: 'module' | 'commonjs'): Promise<unknown> => {
  const empty = join(folder, '..', `${folder.split('/').at(-1)}-${name}`);
  await mkdir(empty, { recursive: true });
  try {
    await writeFile(join(empty, 'package.json'), JSON.stringify({ type }));
    await writeFile(join(empty, 'bundle.js'), code);
    const say = 'Promise.resolve(seen).then((all) => process.stdout.write(JSON.stringify(all)));';
    const load = type === 'module' ? `import { seen } from './bundle.js';` : `const { seen } = require('./bundle.js');`;
    await writeFile(join(empty, 'main.js'), `${load}\n${say}\n`);
    return await runJson(process.execPath, ['main.js'], empty);
  } finally {
    await rm(empty, { recursive: true, force: true });
  }
};

test.each<{ format: Format; platform: Platform; type: 'module' | 'commonjs' }>([
  { format: 'esm', platform: 'node', type: 'module' },
  { format: 'cjs', platform: 'node', type: 'commonjs' },
])('esbuild makes one file of an agent ($format)', async ({ format, platform, type }) => {
  const { outputFiles, warnings } = await esbuild({
    absWorkingDir: folder,
    entryPoints: ['agent.mjs'],
    bundle: true,
    minify: true,
    format,
    platform,
    write: false,
    logLevel: 'silent',
  });
  expect(warnings).toEqual([]);
  expect(await runAlone(`esbuild-${format}`, outputFiles[0]?.text ?? '', type)).toEqual(SEEN);
});

/** What browsers and workers have as well, of what the packages and the AI SDK take: no `process`, no `require`, no module of Node. */
const EDGE = {
  performance,
  setTimeout,
  clearTimeout,
  queueMicrotask,
  structuredClone,
  crypto,
  AbortController,
  AbortSignal,
  DOMException,
  URL,
  Headers,
  ReadableStream,
  TransformStream,
  TextEncoder,
  TextDecoder,
  TextDecoderStream,
};

/** Runs a bundle where there is no Node, with what it finds outside of itself. */
const runOnEdge = (code: string, outside: Readonly<Record<string, unknown>> = {}): Promise<unknown> => {
  const require = (name: string): unknown => outside[name] ?? expect.fail(`There is no ${name} on an edge.`);
  const about = createContext({ ...EDGE, ...(Object.keys(outside).length > 0 && { require }) });
  return runInContext(`${code}\nbundle.seen`, about) as Promise<unknown>;
};

/** The packages as they were installed; the AI SDK and its scripted model as they are in the workspace. */
const forEdge = (entry: string, external: string[] = []) =>
  esbuild({
    absWorkingDir: folder,
    entryPoints: [entry],
    bundle: true,
    format: 'iife',
    globalName: 'bundle',
    platform: 'browser',
    external,
    nodePaths: [join(ROOT, 'test/node_modules')],
    write: false,
    logLevel: 'silent',
  });

describe('esbuild makes one file for where there is no Node, and it runs there', () => {
  test.each([
    { of: 'core', entry: 'edge.mjs', seen: ['call', 'call', 'call', 'skip: open', 'network'] },
    { of: 'an agent with guard()', entry: 'agent.mjs', seen: SEEN },
  ])('$of', async ({ entry, seen }) => {
    const { outputFiles, warnings } = await forEdge(entry);
    expect(warnings).toEqual([]);
    const code = outputFiles[0]?.text ?? '';
    expect(code).not.toMatch(/\brequire\(|from ['"]node:|\bprocess\.\w/);
    expect(await runOnEdge(code)).toEqual(seen);
  });

  test('agents of the AI SDK, with generateText and streamText', async () => {
    const { outputFiles } = await forEdge('edge-ai-sdk.mjs');
    const heard = ['fetch failed', 'fetch failed', 'fetch failed', 'is unavailable'];
    expect(await runOnEdge(outputFiles[0]?.text ?? '')).toEqual([heard, heard]);
  });

  test('withSession, where the platform has `node:async_hooks`', async () => {
    const { outputFiles } = await forEdge('edge-session.mjs', ['node:async_hooks']);
    const seen = await runOnEdge(outputFiles[0]?.text ?? '', { 'node:async_hooks': asyncHooks });
    expect(seen).toEqual(['one', 'other']);
    await expect(forEdge('edge-session.mjs')).rejects.toThrow('Could not resolve "node:async_hooks"');
  });
});

test('Vite makes one file of an agent', async () => {
  await vite({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: 'agent.mjs',
      outDir: 'vite',
      minify: true,
      rollupOptions: { output: { entryFileNames: 'agent.js' } },
    },
  });
  expect(await runAlone('vite', await readFile(join(folder, 'vite/agent.js'), 'utf8'), 'module')).toEqual(SEEN);
});

const npx = (...args: readonly string[]) => run('npx', ['--no-install', 'breakerbox', ...args], folder);

test('npx breakerbox bundle writes dashboards, alerts and runbooks', async () => {
  const { code, stderr } = await npx('bundle', '--out', 'bundle');
  expect([code, stderr]).toEqual([0, '']);
  const written = await readdir(join(folder, 'bundle'));
  expect(written.toSorted()).toEqual(['README.md', 'alertmanager', 'dashboards', 'grafana', 'prometheus', 'runbooks']);
  expect(await readdir(join(folder, 'bundle/dashboards'))).toHaveLength(4);
});

test('npx breakerbox without a command says what there is', async () => {
  const { stdout, stderr } = await npx('--help');
  expect(stderr).toBe('');
  for (const command of ['mcp', 'ctl', 'console', 'replay', 'classify', 'check', 'bundle', 'capabilities'])
    expect(stdout).toContain(command);
});
