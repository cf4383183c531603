import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { breakerHooks } from '@breakerbox/instrumentation/claude-agent';
import { scriptedModel } from '@breakerbox/scripted-models/claude-agent';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { z } from 'zod';
import { contract } from './contract.ts';
import type { AgentRun, Harness, ToolBody } from './harness.ts';

const PREFIX = 'mcp__t__';

/** The tools of a run are those of an MCP server, whose name Claude Code puts before theirs. */
const renamed = (step: ScriptedStep): ScriptedStep =>
  typeof step === 'string' ? step : step.map(({ tool, input }) => ({ tool: `${PREFIX}${tool}`, input }));

const bare = (name: string): string => name.replace(PREFIX, '');

const toolOf = (name: string, body: ToolBody) =>
  tool(name, `Tool ${name}`, { q: z.string() }, async (input, extra) => {
    const result = await body(input, (extra as { signal?: AbortSignal }).signal);
    if (typeof result === 'object' && result !== null && 'isError' in result) return result as never;
    return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] };
  });

const run = async ({ session, tools, script, frameworkTimeoutMs, signal, deny = [] }: AgentRun) => {
  const { options, heard, stop } = await scriptedModel(script.map(renamed));
  const abortController = new AbortController();
  signal?.addEventListener('abort', () => abortController.abort());
  const server = createSdkMcpServer({
    name: 't',
    tools: Object.entries(tools).map(([name, body]) => toolOf(name, body)),
  });
  let text = '';
  try {
    const agent = query({
      prompt: 'Go.',
      options: {
        ...options,
        ...(frameworkTimeoutMs && { env: { ...options.env, MCP_TOOL_TIMEOUT: `${frameworkTimeoutMs}` } }),
        abortController,
        mcpServers: { t: server },
        canUseTool: async (name, input) =>
          deny.includes(bare(name))
            ? { behavior: 'deny', message: 'The user refused this call.' }
            : { behavior: 'allow', updatedInput: input },
        hooks: breakerHooks(session, { nameOf: bare, signal: abortController.signal }),
      },
    });
    for await (const message of agent) if (message.type === 'result' && 'result' in message) text = message.result;
    return { text, heard: heard() };
  } finally {
    await stop();
  }
};

const manifest = join(
  dirname(createRequire(import.meta.url).resolve('@anthropic-ai/claude-agent-sdk')),
  'package.json',
);

const harness: Harness = {
  framework: `Claude Agent SDK ${JSON.parse(readFileSync(manifest, 'utf8')).version}`,
  run,
  inBand: (text) => ({ isError: true, content: [{ type: 'text', text }] }),
  lacks: {
    timeoutMs: 'Hooks are told of calls, and cannot end them; MCP_TOOL_TIMEOUT does it for the tools of MCP servers.',
    generators: 'A tool of MCP answers once.',
    toolSpansBeneath: 'Claude Code runs the tools, or asks for them, where no context of ours is.',
    nativeSpan: "Claude Code's spans are made in its own process.",
  },
};

contract(harness);
