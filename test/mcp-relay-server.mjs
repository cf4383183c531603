/** An MCP server (see mcp-serve.mjs) with tools that work, fail or hang. It also prints text that is not JSON, as some servers do. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { serve } from './mcp-serve.mjs';

const text = (value, isError = false) => ({ content: [{ type: 'text', text: value }], ...(isError && { isError }) });

const TOOLS = {
  echo: ({ text: given }) => text(given),
  pid: () => text(`${process.pid}`),
  broken: () => text('connect ECONNREFUSED 127.0.0.1:5432', true),
  never: () => new Promise(() => {}),
};

await serve(() => {
  const server = new Server({ name: 'relay-test', version: '0.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => TOOLS[params.name](params.arguments));
  return server;
});
process.stdout.write('ready\n');
