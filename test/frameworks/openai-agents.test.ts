import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { breakerSteps, guardMcpServer, guardToolFactory } from '@breakerbox/instrumentation/openai-agents';
import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import * as newest from '@openai/agents';
import * as oldest from 'openai-agents-oldest';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { open, watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { contract } from './contract.ts';
import { type AgentEnd, type AgentRun, type Harness, toolsByServer } from './harness.ts';

type Sdk = typeof newest;

/** Runs an agent and counts its steps, as docs/frameworks.md tells users to. */
const runAgent = async (
  sdk: Sdk,
  { session, script, signal, deny = [] }: AgentRun,
  abilities: Partial<newest.AgentConfiguration>,
  stream = false,
): Promise<AgentEnd> => {
  const { model, heard } = scriptedModel(script);
  const agent = new sdk.Agent({ name: 'researcher', model, ...abilities });
  const runner = new sdk.Runner({ tracingDisabled: true });
  const options = {
    callModelInputFilter: breakerSteps(session),
    maxTurns: 20,
    toolNotFoundBehavior: 'return_error_to_model' as const,
    ...(signal && { signal }),
  };
  const turns = async (input: Parameters<typeof runner.run<typeof agent>>[1]) => {
    if (!stream) return runner.run(agent, input, options);
    const streamed = await runner.run(agent, input, { ...options, stream });
    await streamed.completed;
    signal?.throwIfAborted();
    return streamed;
  };
  let result = await turns('go');
  while (result.interruptions.length > 0) {
    for (const one of result.interruptions) {
      if (deny.length > 0) result.state.reject(one);
      else result.state.approve(one);
    }
    result = await turns(result.state);
  }
  return { text: `${result.finalOutput}`, heard: heard() };
};

const generators = 'The SDK waits for one result.';
const nativeSpan = 'The SDK traces to OpenAI, not to OpenTelemetry.';

const functionTools = (sdk: Sdk, framework: string, lacks: Harness['lacks'], stream = false): Harness => ({
  framework,
  inBand: (text) => ({ error: text }),
  lacks: { generators, nativeSpan, ...lacks },
  run: (agent) => {
    const { session, tools, servers, judging, timeoutMs, frameworkTimeoutMs, deny = [], approve = [] } = agent;
    const tool = guardToolFactory(sdk.tool, session, {
      inPlace: ['news'],
      ...judging,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(servers && { group: (tool) => servers[tool] }),
    });
    const made = Object.entries(tools).map(([name, body]) =>
      tool({
        name,
        description: `Does ${name}`,
        parameters: z.object({ q: z.string() }),
        needsApproval: [...deny, ...approve].includes(name),
        ...(frameworkTimeoutMs !== undefined && { timeoutMs: frameworkTimeoutMs }),
        execute: async (input, _context, details) => body(input, details?.signal),
      }),
    );
    return runAgent(sdk, agent, { tools: made }, stream);
  },
});

/** The tools of a run behind a real MCP server on loopback. Without sessions, because only a session could report an abort. */
const serveTools = async (tools: AgentRun['tools']) => {
  const server = createServer(async (request, response) => {
    const mcp = new McpServer({ name: 'tools', version: '1.0.0' });
    for (const [name, body] of Object.entries(tools)) {
      const inputSchema = { q: z.string() };
      mcp.registerTool(name, { inputSchema }, async (input) => asResult(await body(input, undefined)));
    }
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await mcp.connect(transport as Transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, stop };
};

const asResult = (result: unknown): CallToolResult =>
  typeof result === 'object' && result !== null && 'content' in result
    ? (result as CallToolResult)
    : { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] };

const mcpTools = (sdk: Sdk, framework: string): Harness => ({
  framework,
  toolType: 'extension',
  inBand: (text) => ({ isError: true, content: [{ type: 'text', text }] }),
  lacks: {
    responses: 'An MCP tool returns content, and no Response.',
    generators,
    nativeSpan,
    approval: 'The SDK does not ask for approval before it calls a tool of a local MCP server.',
    toolSpansBeneath: 'The tools run in another process, and the SDK does not send the span there.',
    toolSignal: 'The tools run in another process. The SDK only ends the request.',
    nested: 'The server turns the error into text.',
  },
  run: async (agent) => {
    const { session, judging, timeoutMs, frameworkTimeoutMs: timeout } = agent;
    const undo: (() => Promise<void>)[] = [];
    const connect = async ([name, tools]: [string, AgentRun['tools']]) => {
      const { url, stop } = await serveTools(tools);
      const server = new sdk.MCPServerStreamableHttp({ url, name, ...(timeout !== undefined && { timeout }) });
      undo.push(stop, () => server.close());
      await server.connect();
      return guardMcpServer(server, session, { ...judging, ...(timeoutMs !== undefined && { timeoutMs }) });
    };
    try {
      const mcpServers = await Promise.all(toolsByServer(agent).map(connect));
      return await runAgent(sdk, agent, { mcpServers });
    } finally {
      for (const step of undo.toReversed()) await step();
    }
  },
});

const lacksOfNewest = {
  errorText: "The SDK's text for an error leaves it out. Your own errorFunction may include it.",
};
contract(functionTools(newest, 'OpenAI Agents 0.20.0', lacksOfNewest));
contract(functionTools(newest, 'OpenAI Agents 0.20.0, streaming', lacksOfNewest, true));
contract(
  functionTools(oldest as unknown as Sdk, 'OpenAI Agents 0.3.0', {
    abort: 'Its tools do not learn that a run is aborted. Those of 0.14 and later do.',
    frameworkTimeout: 'Its tools have no time-out. Those of 0.5 and later do.',
    unknownTool: 'A tool name that the model made up ends the run. 0.12 and later have toolNotFoundBehavior.',
  }),
);
contract(mcpTools(newest, 'OpenAI Agents 0.20.0, MCP server'));

const VERSIONS: readonly (readonly [string, Sdk])[] = [
  ['0.20.0', newest],
  ['0.3.0', oldest as unknown as Sdk],
];

describe.each(VERSIONS)('OpenAI Agents %s asks the session before a person', (_, sdk) => {
  const turn = ['a', 'b'].map((q) => ({ tool: 'search', input: { q } }));
  const agentWith = (needsApproval: true | (() => Promise<boolean>)) => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1, probeAfterSteps: 1 } } });
    const { model, heard } = scriptedModel([turn, 'Done.', turn.slice(1), 'Done.']);
    const execute = vi.fn(async () => 'found');
    const parameters = z.object({ q: z.string() });
    const tool = guardToolFactory(sdk.tool, watched.session);
    const search = tool({ name: 'search', description: 'Searches', parameters, needsApproval, execute });
    const agent = new sdk.Agent({ name: 'researcher', model, tools: [search] });
    return { ...watched, heard, execute, agent, runner: new sdk.Runner({ tracingDisabled: true }) };
  };
  const rejected = expect.stringContaining("Tool 'search' is unavailable");

  test.each([
    ['true', true as const],
    ['a function', async () => true],
  ])('needsApproval is %s: no person approves a call that is rejected', async (_, needsApproval) => {
    const { session, agent, runner, heard, execute, decisions } = agentWith(needsApproval);
    open({ session });
    // However the circuit is when the tool would start: no person has approved the call.
    runner.on('agent_tool_start', () => session.control('search', 'disabled'));
    expect((await runner.run(agent, 'go')).interruptions).toEqual([]);
    expect(heard()).toEqual([rejected, rejected]);
    expect(decisions.slice(-2)).toEqual(['search: skip', 'search: skip']);
    const later = await runner.run(agent, 'and now?');
    expect(later.interruptions).toHaveLength(1); // The tool may run now.
    later.state.approve(later.interruptions[0] as (typeof later.interruptions)[number]);
    await runner.run(agent, later.state);
    expect(execute).toHaveBeenCalledOnce();
  });

  test('a call that a person has answered keeps the answer, and a probe is asked about', async () => {
    const { session, agent, runner, heard, execute } = agentWith(true);
    open({ session });
    session.step();
    const { interruptions, state } = await runner.run(agent, 'go');
    expect(interruptions).toHaveLength(2);
    const [first, second] = interruptions as [(typeof interruptions)[number], (typeof interruptions)[number]];
    state.approve(first);
    state.reject(second);
    session.control('search', 'forced_open');
    await runner.run(agent, state);
    expect(heard()).toEqual([rejected, expect.stringContaining('not approved')]);
    expect(execute).not.toHaveBeenCalled();
  });
});
