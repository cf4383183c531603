import { createRequire } from 'node:module';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

/** A real MCP server over stdio that can be killed and started again. */
export interface McpServer {
  readonly name: string;
  /** The client of the latest start. Its calls fail while the server is down. */
  readonly client: Client;
  /** The pid of the server's process; undefined while it is down. */
  readonly pid: number | undefined;
  /** Kills the process, as the out-of-memory killer does. */
  kill(): Promise<void>;
  /** Starts the process again, with a new client. */
  restart(): Promise<void>;
  /** Asks it with MCP whether it works. */
  healthy(): Promise<boolean>;
  close(): Promise<void>;
}

const PING_LIMIT_MS = 1000;

/** Starts `@modelcontextprotocol/server-everything`. */
export const startMcpServer = async (): Promise<McpServer> => {
  let connection = await connect();

  return {
    name: 'mcp server-everything',
    get client() {
      return connection.client;
    },
    get pid() {
      return connection.transport.pid ?? undefined;
    },
    kill: async () => {
      const { transport, closed } = connection;
      if (transport.pid === null) return;
      process.kill(transport.pid, 'SIGKILL');
      await closed;
    },
    restart: async () => {
      await connection.client.close();
      connection = await connect();
    },
    healthy: async () => {
      try {
        await connection.client.ping({ timeout: PING_LIMIT_MS });
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.client.close(),
  };
};

interface Connection {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  /** Resolves when the process has ended. */
  readonly closed: Promise<void>;
}

const connect = async (): Promise<Connection> => {
  const script = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const transport = new StdioClientTransport({ command: process.execPath, args: [script, 'stdio'], stderr: 'ignore' });
  const client = new Client({ name: 'breakerbox-demo', version: '0.0.0' });
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  await client.connect(transport);
  return { client, transport, closed };
};
