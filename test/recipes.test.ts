import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startOpenAiApi } from '@breakerbox/scripted-models/openai-api';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { fencesOf } from '../docs/snippets/fences.ts';
import { startReceiver } from '../docs/snippets/receiver.ts';
import { freePort } from '../packages/demo/src/child.ts';
import { runCommand } from './newcomer/commands.ts';
import { packAll } from './newcomer/pack.ts';
import { typecheck } from './newcomer/project.ts';

/** Recipes with the packages that they are for. The others run in docs/. */

const DOWN = 'http://127.0.0.1:2/';

let folder: string;
let ours: readonly string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-recipes-'));
  const tarballs = await packAll();
  ours = ['core', 'instrumentation', 'telemetry'].map((name) => `file:${tarballs.get(`@breakerbox/${name}`)}`);
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const recipe = (heading: string, starts = ''): string =>
  fencesOf('docs/recipes.md').findLast(
    (one) => one.heading === heading && one.language === 'ts' && one.code.startsWith(starts),
  )?.code ?? expect.fail(`There is no recipe for ${heading}.`);

/** A blank project with these files and packages. */
const project = async (name: string, packages: readonly string[], files: Readonly<Record<string, string>>) => {
  const home = join(folder, name);
  for (const [path, text] of Object.entries({ 'package.json': '{"private":true,"type":"module"}', ...files })) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  // These packages ask for peers of versions that exclude each other.
  const flags = ['--legacy-peer-deps', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  await runCommand('npm', ['install', ...flags, ...packages, ...ours], home);
  return home;
};

const HEAD = `import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
const readPage = async ({ url }: { url: string }, { signal }: { signal: AbortSignal }): Promise<string> =>
  (await fetch(url, { signal })).text();
`;

const FOUR_TURNS = (call: string) => `
const url = '${DOWN}';
for (let turn = 0; turn < 4; turn += 1) {
  const answer: unknown = await (async () => ${call})().catch((error: Error) => error.message);
  console.log(String(answer));
  session.step();
}
process.exit();
`;

interface Recipe {
  readonly packages: readonly string[];
  readonly imports: string;
  /** Calls the tool as the framework does. */
  readonly call: string;
}

const ZOD = `import { z } from 'zod';\n`;

/** By the headings of docs/recipes.md. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  Genkit: {
    packages: ['genkit@1.42.0'],
    imports: `import { genkit, z } from 'genkit';\nconst ai = genkit({});`,
    call: 'fetch_page({ url })',
  },
  Strands: {
    packages: ['@strands-agents/sdk@1.19.0'],
    imports: `${ZOD}import { tool } from '@strands-agents/sdk';`,
    call: 'fetch_page.invoke({ url })',
  },
  'TanStack AI': {
    packages: ['@tanstack/ai@0.58.0'],
    imports: `${ZOD}import { toolDefinition } from '@tanstack/ai';`,
    call: 'fetch_page.execute?.({ url })',
  },
  LlamaIndex: {
    packages: ['@llamaindex/core@0.6.23'],
    imports: `${ZOD}import { tool } from '@llamaindex/core/tools';`,
    call: 'fetch_page.call({ url })',
  },
  VoltAgent: {
    packages: ['@voltagent/core@2.10.0', 'ai@6.0.326'],
    imports: `${ZOD}import { createTool } from '@voltagent/core';`,
    call: 'fetch_page.execute?.({ url })',
  },
  OpenCode: {
    packages: ['@opencode-ai/plugin@1.18.33'],
    imports: `import { tool } from '@opencode-ai/plugin';`,
    call: '(await Pages()).tool.fetch_page.execute({ url }, { abort: new AbortController().signal } as never)',
  },
  pi: {
    packages: ['@mariozechner/pi-agent-core@0.73.1', 'typebox'],
    imports: `import type { AgentTool } from '@mariozechner/pi-agent-core';
import { Type } from 'typebox';
const parameters = Type.Object({ url: Type.String() });`,
    call: "(fetch_page satisfies AgentTool<typeof parameters>).execute('id', { url })",
  },
};

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  },
  include: ['*.ts'],
};

test('each recipe for a framework is right for its types, and the fourth call of a dead tool is not made', async () => {
  const programs = Object.entries(RECIPES).map(
    ([name, { imports, call }]) =>
      [`${name.replace(' ', '-')}.ts`, `${HEAD}${imports}\n${recipe(name)}${FOUR_TURNS(call)}`] as const,
  );
  const packages = Object.values(RECIPES).flatMap((one) => one.packages);
  const home = await project('frameworks', [...packages, 'zod', '@types/node'], {
    'tsconfig.json': JSON.stringify(TSCONFIG),
    ...Object.fromEntries(programs),
    'OpenCode-hooks.ts': `${recipe('OpenCode', 'import {')}
import type { Plugin } from '@opencode-ai/plugin';
Breakers satisfies Plugin;
`,
  });
  expect(await typecheck(home)).toBe('');
  for (const [file] of programs) {
    const lines = (await runCommand(process.execPath, [file], home)).trim().split('\n').slice(-4);
    expect({ file, lines }).toEqual({
      file,
      lines: [...Array(3).fill('fetch failed'), expect.stringMatching(/^Tool 'fetch_page' is unavailable/)],
    });
  }
}, 300_000);

test('OpenCode itself runs no fourth call of a dead tool, and its other tools work', async () => {
  const fetched = [{ tool: 'webfetch', input: { url: `${DOWN}page`, format: 'text' } }];
  const read = [{ tool: 'read', input: { filePath: 'opencode.json' } }];
  const api = await startOpenAiApi([fetched, fetched, fetched, fetched, read, 'Done.']);
  onTestFinished(() => api.stop());
  const home = await project('opencode', ['opencode-ai@1.18.33', '@opentelemetry/api'], {
    '.opencode/plugin/breakers.ts': recipe('OpenCode', 'import {'),
    'opencode.json': JSON.stringify({
      model: 'scripted/model',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: api.url, apiKey: 'none' },
          models: { model: {} },
        },
      },
      permission: { webfetch: 'allow', read: 'allow' },
    }),
  });
  await runCommand(process.execPath, ['postinstall.mjs'], join(home, 'node_modules/opencode-ai'));
  const own = { HOME: home, PWD: home, OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' };
  await runCommand(join(home, 'node_modules/.bin/opencode'), ['run', '--title', 'test', 'Read it.'], home, own);
  const [first, second, third, fourth, file] = api.heard();
  expect([first, second, third]).toEqual(Array(3).fill(expect.stringContaining('Transport error')));
  expect(fourth).toMatch(/^Tool 'webfetch' is unavailable/);
  expect(file).toContain('@ai-sdk/openai-compatible');
}, 300_000);

test('Next.js sends its telemetry after the answer, and steps of Vercel Workflow share a circuit', async () => {
  const home = await project(
    'next',
    ['next@16.4.6', 'react@19', 'react-dom@19', 'workflow@4.8.9', 'typescript@5', '@types/node', '@types/react@19'],
    {
      'app/layout.tsx':
        'export default ({ children }: { children: React.ReactNode }) => <html><body>{children}</body></html>;',
      'app/page/route.ts': recipe('Next.js', 'import { createBreakerbox'),
      'workflows/read.ts': recipe('Vercel Workflow', 'import { guard'),
      'workflows/breakers.ts': recipe('Vercel Workflow', '// workflows/breakers.ts'),
      'next.config.ts': `import { withWorkflow } from 'workflow/next';\nexport default withWorkflow({});`,
      'app/run/route.ts': `import { start } from 'workflow/api';
import { readPages } from '../../workflows/read';
export const GET = async () => Response.json(await (await start(readPages, [['${DOWN}a', '${DOWN}b']])).returnValue);`,
    },
  );
  const next = join(home, 'node_modules/next/dist/bin/next');
  await runCommand(process.execPath, [next, 'build'], home);

  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  const port = `${await freePort()}`;
  const variables = { PORT: port, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, NEXT_TELEMETRY_DISABLED: '1' };
  const server = spawn(process.execPath, [next, 'start', '-H', '127.0.0.1', '-p', port], {
    cwd: home,
    stdio: 'ignore',
    env: { ...process.env, ...variables },
  });
  onTestFinished(() => void server.kill());
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  await expect
    .poll(
      () =>
        get('/').then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true);

  const answers: string[] = [];
  for (let request = 0; request < 4; request += 1) answers.push(await get(`/page?url=${DOWN}`));
  expect(answers).toEqual([...Array(3).fill('fetch failed'), expect.stringContaining('[breakerbox:not-called]')]);
  await expect.poll(() => receiver.paths, { timeout: 10_000 }).toContain('/v1/metrics');

  // The step of page a is tried four times: the fourth is not made, and neither is that of page b.
  const pages = JSON.parse(await get('/run')) as readonly string[];
  expect(pages).toEqual(Array(2).fill(expect.stringMatching(/^Tool 'fetch_page' is unavailable/)));
}, 300_000);
