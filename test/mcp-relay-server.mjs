/** An MCP server over stdio with tools that work, fail or hang. It also prints text that is not JSON, as some servers do. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const text = (value, isError = false) => ({ content: [{ type: 'text', text: value }], ...(isError && { isError }) });

const TOOLS = {
  echo: ({ text: given }) => text(given),
  pid: () => text(`${process.pid}`),
  broken: () => text('connect ECONNREFUSED 127.0.0.1:5432', true),
  never: () => new Promise(() => {}),
};

const server = new Server({ name: 'relay-test', version: '0.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => TOOLS[params.name](params.arguments));
await server.connect(new StdioServerTransport());
process.stdout.write('ready\n');
