import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';

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
