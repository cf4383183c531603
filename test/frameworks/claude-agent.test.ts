import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { CanUseTool, Options } from '@anthropic-ai/claude-agent-sdk';
import * as newest from '@anthropic-ai/claude-agent-sdk';
import { createBreakerbox } from '@breakerbox/core';
import { breakerHooks, guardQuery } from '@breakerbox/instrumentation/claude-agent';
import { scriptedModel } from '@breakerbox/scripted-models/claude-agent';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import * as oldest from 'claude-agent-sdk-oldest';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { contract } from './contract.ts';
import { type AgentRun, type Harness, type ToolBody, toolsByServer } from './harness.ts';

type Sdk = typeof newest;

/** The tools of a run belong to MCP servers. Claude Code prefixes the names of tools with the names of their servers. */
const fullName = ({ servers = {} }: AgentRun, tool: string): string => `mcp__${servers[tool] ?? 'tools'}__${tool}`;

const renamed =
  (run: AgentRun) =>
  (step: ScriptedStep): ScriptedStep =>
    typeof step === 'string' ? step : step.map(({ tool, input }) => ({ tool: fullName(run, tool), input }));

const bare = (name: string): string => name.replace(/^mcp__.+?__/, '');

const toolOf = ({ tool }: Sdk, name: string, body: ToolBody) =>
  tool(name, `Tool ${name}`, { q: z.string() }, async (input, extra) => {
    const result = await body(input, (extra as { signal?: AbortSignal }).signal);
    if (typeof result === 'object' && result !== null && 'isError' in result) return result as never;
    return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] };
  });

const personSaying =
  (deny: readonly string[]): CanUseTool =>
  async (name, input) =>
    deny.includes(bare(name))
      ? { behavior: 'deny', message: 'The user denied this call.' }
      : { behavior: 'allow', updatedInput: input };

const run = async (sdk: Sdk, agentRun: AgentRun) => {
  const { session, tools, judging, script, frameworkTimeoutMs, signal, deny = [], approve = [] } = agentRun;
  const { options, heard, stop } = await scriptedModel(script.map(renamed(agentRun)));
  const abortController = new AbortController();
  const abort = (): void => abortController.abort();
  signal?.addEventListener('abort', abort);
  const serve = ([name, tools]: [string, AgentRun['tools']]) => [
    name,
    sdk.createSdkMcpServer({
      name,
      tools: Object.entries(tools).map(([tool, body]) => toolOf(sdk, tool, body)),
    }),
  ];
  const isAsked = (name: string): boolean => deny.includes(name) || approve.includes(name);
  let text = '';
  try {
    const agent = sdk.query({
      prompt: 'Go.',
      options: {
        ...options,
        ...(frameworkTimeoutMs && { env: { ...options.env, MCP_TOOL_TIMEOUT: `${frameworkTimeoutMs}` } }),
        abortController,
        mcpServers: Object.fromEntries(toolsByServer(agentRun).map(serve)),
        allowedTools: Object.keys(tools).flatMap((name) => (isAsked(name) ? [] : fullName(agentRun, name))),
        ...(deny.length + approve.length > 0 && { canUseTool: personSaying(deny) }),
        hooks: breakerHooks(session, { ...judging, nameOf: bare, signal: abortController.signal }),
      },
    });
    for await (const message of agent) if (message.type === 'result' && 'result' in message) text = message.result;
    return { text, heard: heard() };
  } finally {
    signal?.removeEventListener('abort', abort);
    await stop();
  }
};

const versionOf = (name: string): string => {
  const folder = dirname(createRequire(import.meta.url).resolve(name));
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
};

/** Each runs its own binary. */
const harness = (sdk: Sdk, name: string): Harness => ({
  framework: `Claude Agent SDK ${versionOf(name)}`,
  run: (agent) => run(sdk, agent),
  toolType: 'extension',
  lastTurnUntold: true,
  inBand: (text) => ({ isError: true, content: [{ type: 'text', text }] }),
  asksInTool: true, // The person is asked after the decision.
  lacks: {
    inPlace: 'Hooks cannot call another tool.',
    advice: 'Hooks cannot change the text of an error, so the advice is context beside it.',
    note: 'Hooks cannot change a result, so what is left of a limit is context beside it.',
    timeoutMs: 'Hooks see calls, but cannot end them. MCP_TOOL_TIMEOUT does that for the tools of MCP servers.',
    generators: 'An MCP tool returns one result.',
    toolSpansBeneath: 'Claude Code runs or requests the tools outside of our context.',
    nativeSpan: 'Claude Code makes its spans in its own process.',
    nested: 'Claude Code gives hooks only the text of an error.',
  },
});

contract(harness(newest, '@anthropic-ai/claude-agent-sdk'));
contract(harness(oldest as unknown as Sdk, 'claude-agent-sdk-oldest'));

/** Each turn uses 2 tokens. The newest version tells the totals of the whole conversation, the oldest those of a query. */
test.each([
  ['newest', newest],
  ['oldest', oldest as unknown as Sdk],
])('D3: a conversation that is resumed or forked counts once: the %s version', async (_, sdk) => {
  const { options, stop } = await scriptedModel(['One.', 'Two.', 'Three.', 'Four.']);
  const box = createBreakerbox({ agent: 'writer', limits: { tokens: 100 } });
  const say = async (more: Options) => {
    const session = box.session(); // As in another process.
    const running = sdk.query({ prompt: 'Go.', options: { ...options, persistSession: true, ...more } });
    let conversation = '';
    for await (const message of guardQuery(running, session)) conversation = message.session_id ?? conversation;
    const [used] = session.view().limits?.map(({ used }) => used) ?? [];
    session.end();
    return { conversation, used };
  };
  try {
    const first = await say({});
    const resumed = await say({ resume: first.conversation });
    const forked = await say({ resume: first.conversation, forkSession: true });
    expect(forked.conversation).not.toBe(first.conversation);
    expect([first, resumed, forked].map(({ used }) => used)).toEqual([2, 2, 2]);
  } finally {
    await stop();
  }
});
