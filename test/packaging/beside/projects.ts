/** A project as people have it before they install Breakerbox. */
export interface Neighbour {
  /** The package that it is about, with its version. */
  readonly name: string;
  /** What is installed with it. */
  readonly others?: readonly string[];
  /** For telemetry packages: sets up theirs. May export `counted`, the number of skips that their metrics have. */
  readonly setUp?: string;
  /** Whether their SDK takes metrics, so that `startTelemetry` does nothing. */
  readonly takesMetrics?: true;
}

const SDK_NODE = `
import { NodeSDK } from '@opentelemetry/sdk-node';
import { counted, reader } from './reader.mjs';
new NodeSDK({ metricReader: reader }).start();
export { counted };
`;

const VERCEL = `
import { registerOTel } from '@vercel/otel';
import { counted, reader } from './reader.mjs';
registerOTel({ serviceName: 'theirs', metricReaders: [reader] });
export { counted };
`;

const PHOENIX = `
import { register } from '@arizeai/phoenix-otel';
register({ projectName: 'theirs', url: 'http://127.0.0.1:2', batch: true });
`;

const TRACELOOP = `
import { initialize } from '@traceloop/node-server-sdk';
initialize({ appName: 'theirs', apiKey: 'none', baseUrl: 'http://127.0.0.1:2', silenceInitializationMessage: true });
`;

const DATADOG = `
import tracer from 'dd-trace';
tracer.init({ startupLogs: false, plugins: false });
new tracer.TracerProvider().register();
`;

const STRANDS = `
import { Agent } from '@strands-agents/sdk';
if (typeof Agent !== 'function') throw new Error('no Agent');
`;

export const TELEMETRY: readonly Neighbour[] = [
  { name: 'dd-trace@6.21.0', setUp: DATADOG },
  { name: '@vercel/otel@2.1.3', setUp: VERCEL, takesMetrics: true },
  { name: '@traceloop/node-server-sdk@0.27.0', setUp: TRACELOOP },
  { name: '@arizeai/phoenix-otel@2.1.0', setUp: PHOENIX },
  { name: '@opentelemetry/sdk-node@0.205.0', setUp: SDK_NODE, takesMetrics: true },
  { name: '@strands-agents/sdk@1.19.0', setUp: STRANDS },
];

/** A framework of an older version than most adapters are for. */
export interface OldFramework extends Neighbour {
  /** A program's body: prints JSON. `session` is one of a box; the framework's adapter is `adapter`. */
  readonly program: string;
  readonly adapter: string;
  readonly prints: unknown;
}

const tooOld = (where: string, needs: string, installed: string): string =>
  `BreakerboxUsageError: ${where} needs ${needs} or later, but version ${installed} is installed`;

/** What the adapter's functions say, up to the folder. */
const calling = (...calls: readonly string[]): string => `
const said = (call) => { try { call(); return 'works'; } catch (error) { return String(error).replace(/ \\(.*/s, ''); } };
say([${calls.map((call) => `said(() => ${call})`).join(', ')}]);
`;

const FAILING = `async () => { throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }); }`;

export const FRAMEWORKS: readonly OldFramework[] = [
  {
    name: 'ai@5.0.277',
    others: ['zod@4.6.7'],
    adapter: 'ai-sdk',
    program: `
import { tool } from 'ai';
import { z } from 'zod';
const { search } = adapter.guardTools({ search: tool({ inputSchema: z.object({}), execute: ${FAILING} }) }, session);
const seen = [];
for (let times = 0; times < 4; times += 1) await search.execute({}, { toolCallId: 'one', messages: [] }).catch(({ name }) => seen.push(name));
say(seen);
`,
    prints: ['Error', 'Error', 'Error', 'ToolUnavailableError'],
  },
  {
    name: 'langchain@0.3.37',
    others: ['@langchain/core@0.3.80', 'zod@3.25.76'],
    adapter: 'langchain',
    program: `
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
const [search] = adapter.guardTools([tool(${FAILING}, { name: 'search', schema: z.object({}) })], session);
const seen = [];
for (let times = 0; times < 4; times += 1) {
  await search.invoke({ type: 'tool_call', id: 'one', name: 'search', args: {} }).then(({ status }) => seen.push(status), ({ name }) => seen.push(name));
}
try { adapter.breakerMiddleware(session); } catch (error) { seen.push(String(error).replace(/ \\(.*/s, '')); }
say(seen);
`,
    prints: [
      'Error',
      'Error',
      'Error',
      'error',
      tooOld('breakerMiddleware() of @breakerbox/instrumentation/langchain', 'langchain 1.2.13', '0.3.37'),
    ],
  },
  {
    name: '@openai/agents@0.2.1',
    others: ['zod@4.6.7'],
    adapter: 'openai-agents',
    program: `
import { RunContext, tool } from '@openai/agents';
import { z } from 'zod';
const search = adapter.guardToolFactory(tool, session)({ name: 'search', description: 'x', parameters: z.object({}), execute: ${FAILING} });
const seen = [];
for (let times = 0; times < 4; times += 1) seen.push((await search.invoke(new RunContext(), '{}')).slice(0, 10));
try { adapter.breakerSteps(session); } catch (error) { seen.push(String(error).replace(/ \\(.*/s, '')); }
say(seen);
`,
    prints: [
      'An error o',
      'An error o',
      'An error o',
      "Tool 'sear",
      tooOld('breakerSteps() of @breakerbox/instrumentation/openai-agents', '@openai/agents 0.3.0', '0.2.1'),
    ],
  },
  {
    name: '@mastra/core@0.24.9',
    adapter: 'mastra',
    program: calling('adapter.breakerHooks(session)', 'adapter.breakerProcessor(session)'),
    prints: ['breakerHooks()', 'breakerProcessor()'].map((name) =>
      tooOld(`${name} of @breakerbox/instrumentation/mastra`, '@mastra/core 1.42.0', '0.24.9'),
    ),
  },
  {
    name: '@modelcontextprotocol/sdk@1.15.1',
    adapter: 'mcp',
    program: `
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
const [near, far] = InMemoryTransport.createLinkedPair();
const server = new McpServer({ name: 'web', version: '1.0.0' });
server.registerTool('search', { description: 'x' }, ${FAILING});
await server.connect(far);
const client = new Client({ name: 'agent', version: '1.0.0' });
await client.connect(near);
const guarded = adapter.guardMcpClient(client, session);
const seen = [];
for (let times = 0; times < 4; times += 1) seen.push((await guarded.callTool({ name: 'search' })).content[0].text.split('\\n')[0].slice(0, 24));
say(seen);
`,
    prints: [...Array(3).fill('connect ECONNREFUSED'), "Tool 'search' is unavail"],
  },
  {
    name: '@anthropic-ai/sdk@0.70.1',
    adapter: 'anthropic',
    program: calling('adapter.guardTools([], session)'),
    prints: [tooOld('guardTools() of @breakerbox/instrumentation/anthropic', '@anthropic-ai/sdk 0.84.0', '0.70.1')],
  },
];
