/**
 * The MCP client that the conformance suite asks for, made with SDK 2: `node client.mjs URL`, or `node client.mjs command args… URL` for a
 * server over stdio whose last argument is the address. The suite names the scenario and the protocol in the environment.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_PROTOCOL_VERSION: version = '' } = process.env;
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const [command, ...args] = process.argv.slice(2);

const isStateless = version >= '2026';
const client = new Client(
  { name: 'conformance-client', version: '0.0.0' },
  {
    capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
    ...(isStateless && { versionNegotiation: { mode: 'auto' } }),
  },
);
client.setRequestHandler('elicitation/create', () => ({
  action: 'accept',
  content: scenario.startsWith('elicitation') ? {} : { confirmed: true },
}));
await client.connect(
  args.length === 0 ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args }),
);

const { tools } = await client.listTools();
/** What a scenario wants as the arguments of a tool. */
const ARGUMENTS = {
  add_numbers: { a: 5, b: 3 },
  json_schema_echo: { schema: tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema },
};
const calls = toolCalls ?? tools.map(({ name }) => ({ name, arguments: ARGUMENTS[name] ?? {} }));
for (const call of calls) await client.callTool(call);

if (scenario === 'http-standard-headers') {
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}
await client.close();
