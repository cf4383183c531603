import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

/** An MCP server over stdio whose only tool never answers: `mcp.test.ts` kills it while the call waits. */
const server = new McpServer({ name: 'breakerbox-test', version: '0.0.0' });
server.registerTool('hang', {}, () => new Promise<never>(() => undefined));
await server.connect(new StdioServerTransport());
