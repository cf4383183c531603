import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Client as ClientOfSdk2,
  StreamableHTTPClientTransport as HttpOfSdk2,
  InMemoryTransport as PairOfSdk2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpOfSdk1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport as PairOfSdk1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const resolver = createRequire(import.meta.url);

/** A real MCP server from npm, and how it is started. */
export interface NpmServer {
  readonly name: 'everything' | 'filesystem' | 'memory';
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const scriptOf = (name: NpmServer['name']): string => {
  const manifest = resolver.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const { bin } = resolver(manifest) as { bin: Record<string, string> };
  return join(dirname(manifest), bin[`mcp-server-${name}`] ?? 'has no such bin');
};

const command = ({ name, args = [], env = {} }: NpmServer) => ({
  command: process.execPath,
  args: [scriptOf(name), ...args],
  env: { ...env },
  stderr: 'ignore' as const,
});

const who = { name: 'breakerbox-test', version: '0.0.0' };

/** What the tests need of the clients of both majors, whose types differ in the rest. */
export interface TestClient {
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    ...rest: never[]
  ): Promise<{ content: unknown; isError?: unknown; structuredContent?: unknown }>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

/** The client of one major. */
export interface Sdk {
  /** The arguments after the parameters of `callTool`, with these options. */
  withOptions(options: object): never[];
  create(): {
    readonly client: TestClient;
    /** Starts a server and connects to it over stdio, again if the connection before is closed; the id of its process. */
    start(server: NpmServer): Promise<number>;
    /** Connects to one over streamable HTTP. */
    join(url: string): Promise<void>;
  };
}

const pidOf = ({ pid }: { readonly pid: number | null }): number => {
  if (pid === null) throw new Error('The MCP server did not start.');
  return pid;
};

export const sdks: Readonly<Record<'SDK 1' | 'SDK 2', Sdk>> = {
  'SDK 1': {
    withOptions: (options) => [undefined, options] as never[],
    create: () => {
      const client = new ClientOfSdk1(who);
      return {
        client: client as TestClient,
        start: async (server) => {
          const transport = new StdioOfSdk1(command(server));
          await client.connect(transport);
          return pidOf(transport);
        },
        join: (url) => client.connect(new HttpOfSdk1(new URL(url)) as Transport),
      };
    },
  },
  'SDK 2': {
    withOptions: (options) => [options] as never[],
    create: () => {
      const client = new ClientOfSdk2(who);
      return {
        client: client as TestClient,
        start: async (server) => {
          const transport = new StdioOfSdk2(command(server));
          await client.connect(transport);
          return pidOf(transport);
        },
        join: (url) => client.connect(new HttpOfSdk2(new URL(url))),
      };
    },
  },
};

/** The everything server listens on all addresses, and can't say on which port: this is put before it. */
export const ON_LOOPBACK = `import net from 'node:net';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, ...rest) {
  this.once('listening', () => process.stderr.write('PORT ' + this.address().port + '\\n'));
  return listen.call(this, port, '127.0.0.1', ...rest);
};`;

/** Starts the everything server on streamable HTTP, as a process of its own. Port 0: any that is free. */
export const startHttpServer = async (wanted = 0): Promise<{ pid: number; port: number; url: string }> => {
  const preload = `data:text/javascript,${encodeURIComponent(ON_LOOPBACK)}`;
  const child = spawn(process.execPath, ['--import', preload, scriptOf('everything'), 'streamableHttp'], {
    env: { ...process.env, PORT: `${wanted}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said: string[] = [];
  const port = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      said.push(line);
      const found = /^PORT (\d+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`The everything server did not start: ${said.join('\n')}`)));
    child.once('error', reject);
  });
  return { pid: child.pid ?? 0, port: Number(port), url: `http://127.0.0.1:${port}/mcp` };
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
