import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';

/** A real MCP server over HTTP with these tools. Each answers with its name. */
export const httpMcpServer = async (tools: readonly string[], path = '/mcp') => {
  let dead = false;
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    if (dead) return void request.socket.destroy();
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const mcp = new McpServer({ name: 'test', version: '1.0.0' });
    for (const name of tools) {
      mcp.registerTool(name, { annotations: { readOnlyHint: true } }, async () => {
        calls.push(name);
        return { content: [{ type: 'text', text: `${name} answers` }] };
      });
    }
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await mcp.connect(transport as Transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    calls,
    /** From now on it drops each connection. */
    die: () => {
      dead = true;
    },
  };
};
