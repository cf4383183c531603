/** Serves an MCP server of SDK 1 over stdio, or with the argument `http` and a port (0: any) over streamable HTTP, where it prints its address. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const [, , transport, port = '0'] = process.argv;

/** @param make Gives a server, for one session. */
export const serve = async (make) => {
  if (transport !== 'http') return make().connect(new StdioServerTransport());
  const sessions = new Map();
  const begin = async () => {
    const made = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => sessions.set(id, made),
    });
    await make().connect(made);
    return made;
  };
  const http = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    // The SDK reads at most 4 MB by itself.
    const body = parts.length > 0 ? JSON.parse(Buffer.concat(parts).toString()) : undefined;
    const id = request.headers['mcp-session-id'];
    const session = id === undefined ? await begin() : sessions.get(id);
    if (session === undefined) response.writeHead(404).end();
    else await session.handleRequest(request, response, body);
  });
  http.listen(Number(port), '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`);
  });
};
