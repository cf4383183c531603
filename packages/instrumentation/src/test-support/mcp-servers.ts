import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client as ClientOfSdk2, InMemoryTransport as PairOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport as PairOfSdk1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const resolver = createRequire(import.meta.url);

/** How to start a real MCP server from npm. */
const command = (name: 'everything' | 'filesystem', args: readonly string[]) => {
  const manifest = resolver.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const { bin } = resolver(manifest) as { bin: Record<string, string> };
  const script = join(dirname(manifest), bin[`mcp-server-${name}`] ?? 'has no such bin');
  return { command: process.execPath, args: [script, ...args], stderr: 'ignore' as const };
};

const who = { name: 'breakerbox-test', version: '0.0.0' };

/** Connects a client of each major to a server over stdio. */
export const sdks = {
  'SDK 1': async (name: 'everything' | 'filesystem', args: readonly string[]) => {
    const client = new ClientOfSdk1(who);
    const transport = new TransportOfSdk1(command(name, args));
    await client.connect(transport);
    return { client, pid: transport.pid };
  },
  'SDK 2': async (name: 'everything' | 'filesystem', args: readonly string[]) => {
    const client = new ClientOfSdk2(who);
    const transport = new TransportOfSdk2(command(name, args));
    await client.connect(transport);
    return { client, pid: transport.pid };
  },
};

interface ToolAnswer {
  content: { type: 'text'; text: string }[];
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
}

/** What a server of our own answers; a promise that never settles is a server that hangs. */
export interface Answers {
  list(): Promise<{ tools: { name: string; inputSchema: { type: 'object' }; outputSchema?: { type: 'object' } }[] }>;
  call(name: string, given: unknown): Promise<ToolAnswer>;
}

const serve = async (answers: Answers, transport: Transport): Promise<void> => {
  const server = new Server(who, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => answers.list());
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
    ...(await answers.call(params.name, params.arguments)),
  }));
  await server.connect(transport);
};

/** Connects a client of each major to a server of our own in this process. */
export const inMemory = {
  'SDK 1': async (answers: Answers) => {
    const [near, far] = PairOfSdk1.createLinkedPair();
    await serve(answers, far);
    const client = new ClientOfSdk1(who);
    await client.connect(near);
    return client;
  },
  'SDK 2': async (answers: Answers) => {
    const [near, far] = PairOfSdk2.createLinkedPair();
    await serve(answers, far as Transport);
    const client = new ClientOfSdk2(who);
    await client.connect(near);
    return client;
  },
};
