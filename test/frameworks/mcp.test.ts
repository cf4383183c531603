import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { guardMcpClient, type McpClient } from '@breakerbox/instrumentation/mcp';
import { runLoop, scriptedModel } from '@breakerbox/scripted-models/plain';
import * as sdk2 from '@modelcontextprotocol/client';
import { Client as Sdk1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as Sdk1Pair } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, McpServer as ServerOfSdk2 } from '@modelcontextprotocol/server';
import * as oldestSdk2 from 'mcp-client-oldest';
import { Client as OldestSdk1Client } from 'mcp-sdk-oldest/client/index.js';
import { InMemoryTransport as OldestSdk1Pair } from 'mcp-sdk-oldest/inMemory.js';
import { z } from 'zod';
import { contract } from './contract.ts';
import { type AgentRun, type Harness, type ToolBody, toolsByServer } from './harness.ts';
import { reply } from './own-loop.ts';

/** The parts of a client, of either version, that the suite needs. */
interface AnyClient extends McpClient {
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
}

/** A version of an SDK: how to connect its client to a server with the tools of a run, and where `callTool` takes options. */
interface Sdk {
  connect(tools: AgentRun['tools'], server: string): Promise<{ readonly client: AnyClient; close(): Promise<void> }>;
  readonly optionsAt: 0 | 1;
}

const who = { name: 'breakerbox-test', version: '0.0.0' };

const answer = async (body: ToolBody, q: string, signal: AbortSignal): Promise<CallToolResult> => {
  const result = await body({ q }, signal);
  if (typeof result === 'object' && result !== null && 'isError' in result) return result as CallToolResult;
  return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] };
};

/** A server as its author would write it: the SDK validates the arguments, and turns errors into text. */
const serve = async (tools: AgentRun['tools'], name: string, transport: Transport): Promise<McpServer> => {
  const server = new McpServer({ ...who, name });
  for (const [name, body] of Object.entries(tools)) {
    server.registerTool(name, { inputSchema: { q: z.string() } }, ({ q }, { signal }) => answer(body, q, signal));
  }
  await server.connect(transport);
  return server;
};

interface Parts {
  readonly Client: new (who: { name: string; version: string }) => AnyClient;
  readonly Pair: { createLinkedPair(): readonly [unknown, unknown] };
}

const inOneProcess = (optionsAt: 0 | 1, { Client, Pair }: Parts): Sdk => ({
  optionsAt,
  connect: async (tools, name) => {
    const [near, far] = Pair.createLinkedPair();
    const server = await serve(tools, name, far as Transport);
    const client = new Client(who);
    await client.connect(near as never);
    return { client, close: () => server.close() };
  },
});

/** SDK 2 on both sides, with the protocol of 2026-07-28: no connection, each request by itself. */
const modern: Sdk = {
  optionsAt: 0,
  connect: async (tools, name) => {
    const handler = createMcpHandler(() => {
      const server = new ServerOfSdk2({ ...who, name });
      for (const [name, body] of Object.entries(tools)) {
        const inputSchema = z.object({ q: z.string() });
        server.registerTool(name, { inputSchema }, ({ q }, { mcpReq }) => answer(body, q, mcpReq.signal));
      }
      return server;
    });
    const client = new sdk2.Client(who, { versionNegotiation: { mode: 'auto' } });
    const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
    await client.connect(new sdk2.StreamableHTTPClientTransport(new URL('http://mcp.invalid/'), { fetch }));
    if (client.getProtocolEra() !== 'modern')
      throw new Error('The client and the server did not agree on the protocol of 2026-07-28.');
    return { client, close: () => handler.close() };
  },
};

const harnessOf = (framework: string, { connect, optionsAt }: Sdk): Harness => ({
  framework,
  toolType: 'extension',
  run: async (agent) => {
    const { session, judging, script, timeoutMs, frameworkTimeoutMs, signal, deny = [] } = agent;
    const { model, heard } = scriptedModel(script);
    const undo: (() => Promise<void>)[] = [];
    const guards = new Map<string, AnyClient>();
    for (const [server, tools] of toolsByServer(agent)) {
      const { client, close } = await connect(tools, server);
      undo.push(close, () => client.close());
      const guarded = guardMcpClient(client, session, { ...judging, ...(timeoutMs !== undefined && { timeoutMs }) });
      for (const tool of Object.keys(tools)) guards.set(tool, guarded);
    }
    const [first] = guards.values();
    const options = { signal, ...(frameworkTimeoutMs && { timeout: frameworkTimeoutMs }) };
    const rest = (optionsAt === 0 ? [options] : [undefined, options]) as never[];
    const callTool = ({ tool, input }: { tool: string; input: unknown }): Promise<string> =>
      reply(async () => {
        if (deny.includes(tool)) return 'The user denied this call.';
        const guarded = guards.get(tool) ?? first; // A name that the model made up goes to any server.
        return guarded?.callTool({ name: tool, arguments: input } as { name: string }, ...rest);
      }, signal);
    try {
      const endTurn = () => (typeof session === 'function' ? session() : session).step();
      return { text: await runLoop(model, 'Go.', callTool, endTurn), heard: heard() };
    } finally {
      for (const step of undo.toReversed()) await step();
    }
  },
  lastTurnUntold: true,
  inBand: (text) => ({ isError: true, content: [{ type: 'text', text }] }),
  lacks: {
    responses: 'An MCP tool returns content, and no Response.',
    generators: 'An MCP tool returns one result.',
    toolSpansBeneath: "Tools run in the server's process, and the SDKs do not propagate trace context.",
    nativeSpan: 'The SDKs make no spans.',
    nested: 'The server turns the error into text.',
  },
});

const versionOf = (name: string): string => {
  const entry = createRequire(import.meta.url).resolve(name);
  const manifest = `${entry.slice(0, entry.indexOf('/dist/'))}/package.json`;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
};

const [newest1, oldest1] = ['@modelcontextprotocol/sdk/client/index.js', 'mcp-sdk-oldest/client/index.js'].map(
  versionOf,
);
const [newest2, oldest2] = ['@modelcontextprotocol/client', 'mcp-client-oldest'].map(versionOf);

for (const [framework, sdk] of [
  [`MCP SDK ${newest1}`, inOneProcess(1, { Client: Sdk1Client, Pair: Sdk1Pair })],
  [`MCP SDK ${oldest1}`, inOneProcess(1, { Client: OldestSdk1Client, Pair: OldestSdk1Pair })],
  [`MCP client ${newest2}`, inOneProcess(0, { Client: sdk2.Client, Pair: sdk2.InMemoryTransport })],
  [`MCP client ${newest2}, protocol of 2026-07-28`, modern],
  [`MCP client ${oldest2}`, inOneProcess(0, { Client: oldestSdk2.Client, Pair: oldestSdk2.InMemoryTransport })],
] as const) {
  contract(harnessOf(framework, sdk));
}
