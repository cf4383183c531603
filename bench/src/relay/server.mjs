/** An MCP server over stdio that does nothing but answer, so that the time of a call is that of the way. */
import { createInterface } from 'node:readline';

const RESULTS = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '0.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  // As many characters as asked for, or as many as came.
  'tools/call': ({ arguments: { text, size = text.length } }) => ({
    content: [{ type: 'text', text: 'x'.repeat(size) }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method]?.(params) ?? {} })}\n`);
}
