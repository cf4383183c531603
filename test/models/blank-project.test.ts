import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT, runCommand } from '../newcomer/commands.ts';
import { packAll, type Tarballs } from '../newcomer/pack.ts';
import { catalog, npmOverrides } from '../newcomer/workspace.ts';
import { NPM_QUIET } from '../packaging/nodes.ts';
import { run } from '../packaging/run.ts';
import { answers, loopbackProvider, refuses } from './loopback-provider.ts';
import { errorBody, TEXT } from './recordings.ts';

/* What docs/models.md tells to write, in a blank project with our tarballs, while the provider of the first model answers 529. */

const DOCS = readFileSync(join(ROOT, 'docs/models.md'), 'utf8');
const sectionOf = (title: string): string =>
  DOCS.split(/^## /m).find((one) => one.startsWith(`${title}\n`)) ?? expect.fail(`docs/models.md has no ${title}`);
/** The model of a section whose table shows it before and after. */
const afterOf = (title: string): string => {
  const [, model] = /\| `model: (guardModels\(box, .+?\))` of `/.exec(sectionOf(title)) ?? [];
  return model ?? expect.fail(`${title} shows no model`);
};
const programOf = (title: string): string => {
  const [, program] = /^```ts\n(.*?)^```$/ms.exec(sectionOf(title)) ?? [];
  return program ?? expect.fail(`${title} has no program`);
};

const boxOf = (entry: string): string => `
import { createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation/${entry}';
const box = createBreakerbox({ agent: 'research-agent' });
`;
const four = (ask: string): string => `for (let request = 0; request < 4; request += 1) console.log(${ask});\n`;
const OF_AI_SDK = `
import { anthropic } from '@ai-sdk/anthropic';
import { openai } from '@ai-sdk/openai';
`;
const PROVIDERS = ['@ai-sdk/anthropic@4.0.105', '@ai-sdk/openai@4.0.118'];
const pinned = (name: string): string => `${name}@${catalog[name]}`;

interface Case {
  readonly title: string;
  readonly packages: readonly string[];
  readonly program: () => string;
  readonly variables: (url: string) => Readonly<Record<string, string>>;
}

/** Addresses with the version of the API, and without. */
const variablesOf =
  (anthropicPath: string): Case['variables'] =>
  (url) => ({
    ANTHROPIC_BASE_URL: `${url}${anthropicPath}`,
    ANTHROPIC_API_KEY: 'none',
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    MASTRA_TELEMETRY_DISABLED: '1',
    LANGSMITH_TRACING: 'false',
  });

const CASES: readonly Case[] = [
  {
    title: 'AI SDK',
    packages: [pinned('ai'), ...PROVIDERS],
    variables: variablesOf('/v1'),
    program: () => `${programOf('AI SDK')}\n${four(`await ask('Hi')`)}`,
  },
  {
    title: 'AI SDK, with tools and a session',
    packages: [pinned('ai'), ...PROVIDERS],
    variables: variablesOf('/v1'),
    program: () => `${OF_AI_SDK}${boxOf('ai-sdk')}
import { guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { generateText, jsonSchema, tool } from 'ai';
const session = box.session({ id: 'conversation' });
const inputSchema = jsonSchema({ type: 'object', properties: {} });
const tools = { weather: tool({ description: 'Weather', inputSchema, execute: async () => 'sunny' }) };
const model = guardModels(box, { models: [anthropic('claude-opus-5'), openai('gpt-5')], session });
${four(`(await generateText({ model, maxRetries: 0, prompt: 'Hi', tools: guardTools(tools, session) })).text`)}`,
  },
  {
    title: 'LangChain',
    packages: [
      pinned('langchain'),
      pinned('@langchain/core'),
      pinned('@langchain/openai'),
      '@langchain/anthropic@1.5.11',
    ],
    variables: variablesOf(''),
    program: () => `${boxOf('langchain')}
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
const agent = createAgent({ model: ${afterOf('LangChain')}, tools: [] });
${four(`(await agent.invoke({ messages: 'Hi' })).messages.at(-1).text`)}`,
  },
  {
    title: 'Mastra',
    packages: [pinned('@mastra/core'), ...PROVIDERS],
    variables: variablesOf('/v1'),
    program: () => `${OF_AI_SDK}${boxOf('mastra')}
import { Agent } from '@mastra/core/agent';
const model = ${afterOf('Mastra')};
const agent = new Agent({ id: 'agent', name: 'Agent', instructions: 'Be of use.', model });
${four(`(await agent.generate('Hi')).text`)}`,
  },
  {
    title: 'OpenAI Agents',
    packages: [pinned('@openai/agents'), pinned('zod')],
    variables: variablesOf(''),
    program:
      () => `${programOf('OpenAI Agents').replace(/'https:\/\/api\.groq\.com\/openai\/v1'/, 'process.env.OPENAI_BASE_URL')}
import { run } from '@openai/agents';
${four(`(await run(agent, 'Hi')).finalOutput`)}`,
  },
  {
    title: "Anthropic's SDK",
    packages: [pinned('@anthropic-ai/sdk')],
    variables: variablesOf(''),
    program: () => `${programOf("Anthropic's SDK")}\n${four(`(await ask('Hi')).content[0].text`)}`,
  },
];

let folder: string;
let tarballs: Tarballs;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-models-'));
  tarballs = await packAll();
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('4 requests in an outage of the first model are 4 answers', () => {
  test.each(CASES)('L1, L5: $title', { timeout: 300_000 }, async ({ title, packages, program, variables }) => {
    const project = join(folder, title.replaceAll(/\W/g, '-'));
    await mkdir(project);
    const manifest = { name: 'blank', private: true, type: 'module', overrides: npmOverrides };
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(project, 'agent.ts'), program());
    const ours = ['core', 'instrumentation'].map((name) => `file:${tarballs.get(`@breakerbox/${name}`)}`);
    await runCommand('npm', ['install', ...NPM_QUIET, ...ours, ...packages], project);

    const provider = await loopbackProvider();
    const isPrimary = ({ model }: Record<string, unknown>): boolean => model === 'claude-opus-5' || model === 'gpt-5';
    const first: unknown[] = [];
    provider.behave((call) => {
      const [before = call.body.model] = first;
      first.push(call.body.model);
      if (call.body.model !== before || !isPrimary(call.body)) return answers(call);
      refuses(529, errorBody(call.format, 529, 'overloaded_error', 'Overloaded'))(call);
    });
    const ran = await run(process.execPath, ['agent.ts'], project, variables(provider.url));
    expect(ran).toEqual({ code: 0, stdout: `${TEXT}\n`.repeat(4), stderr: '' });
    expect(provider.calls.length).toBe(2 + 4); // Two failures open the circuit.
  });
});
