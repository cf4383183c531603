/** `node sdk-proxy.mjs COMMAND ARGS…`: a client and a server of the MCP SDK with a handler for each method, as proxies are usually made. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [command, ...args] = process.argv.slice(2);
const who = { name: 'sdk-proxy', version: '0.0.0' };
const client = new Client(who);
await client.connect(new StdioClientTransport({ command, args }));
const server = new Server(who, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => client.listTools(params));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params));
await server.connect(new StdioServerTransport());
process.stdin.once('end', () => client.close());
