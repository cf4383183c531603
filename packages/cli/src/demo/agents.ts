import { type Breakerbox, createBreakerbox, type Session, type ToolConfig } from '@breakerbox/core';
import { guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { type ToolSet, tool } from 'ai';
import { z } from 'zod';
import { getJson } from './http-get.ts';
import type { McpServer } from './mcp-server.ts';
import type { Duty } from './plan.ts';
import { type Service, startService } from './services.ts';

/** What the tools stand on. */
export interface World {
  readonly services: Readonly<Record<ServiceName, Service>>;
  readonly mcp: McpServer;
}

export type ServiceName = 'search' | 'news' | 'weather' | 'pages' | 'orders' | 'tickets' | 'deployments' | 'logs';

/** One agent of the fleet. */
export interface Agent {
  readonly name: string;
  readonly box: Breakerbox;
  /** Milliseconds of thought before each step. */
  readonly thinkMs: number;
  /** What a session does, in batches. */
  readonly duties: readonly Duty[];
  /** All of its tools, those that only stand in for others last. */
  readonly toolNames: readonly string[];
  /** The tools of a session, guarded. */
  tools(session: Session): ToolSet;
  /** What somebody looks at before letting a paused session go on. */
  readonly dependsOn: readonly { healthy(): Promise<boolean>; readonly name: string }[];
}

/**
 * Cooldowns are the one setting of the boxes that is scaled: 3 s, doubling to 12 s, where the default is 60 s, doubling to
 * 300 s. Three failures open a circuit and five pause a session, as anywhere.
 */
const DEFAULTS = { cooldownMs: 3000, maxCooldownMs: 12_000 };

/** The time-out that turns a service that hangs into a failure. */
const TOOL_TIMEOUT_MS = 800;

/** Starts the HTTP services, all well. */
export const startServices = async (): Promise<World['services']> => ({
  search: await startService('search', (query) => ({ hits: [`about ${query.get('q')}`] })),
  news: await startService('news', (query) => ({ headlines: [`today on ${query.get('topic')}`] })),
  weather: await startService('weather', (query) => ({ city: query.get('q'), celsius: 12 })),
  pages: await startService('pages', (query) => ({ page: query.get('q'), text: 'lorem ipsum' })),
  orders: await startService('orders', (query) => ({ order: query.get('q'), status: 'shipped' })),
  tickets: await startService('tickets', (query) => ({ ticket: query.get('q'), created: true })),
  deployments: await startService('deployments', () => ({
    web: '1.4.2',
    api: '2.0.1',
    asOf: new Date().toISOString(),
  })),
  logs: await startService('logs', (query) => ({ query: query.get('q'), lines: [] })),
});

/** What the capability map says of a tool (R1), and what else it needs. */
type ToolSettings = Readonly<Record<string, ToolConfig>>;

const PROXY = ['egress-proxy'];

const RESEARCH_TOOLS: ToolSettings = {
  web_search: {
    provides: 'web search',
    dependsOn: PROXY,
    alternatives: [
      {
        tool: 'news_search',
        degradation: 'low',
        note: 'recent items only',
        // With it, guardTools calls the alternative in place, and the model need not ask again (R4).
        adapt: ({ q }: { readonly q: string }) => ({ topic: q }),
      },
    ],
  },
  read_page: { provides: 'pages by their address' },
  get_weather: { provides: 'the weather of a city', dependsOn: PROXY, fallback: 'leave the weather out, and say so' },
  news_search: { provides: 'news of the last 30 days' },
};

const SUPPORT_TOOLS: ToolSettings = {
  lookup_order: { provides: 'where an order is' },
  create_ticket: { provides: 'tickets', fallback: 'write the complaint down for the shift lead' },
};

const MCP_TOOL = 'get-sum';
const SAME_QUESTION = 'list_deployments';

const OPS_TOOLS: ToolSettings = {
  [SAME_QUESTION]: { provides: 'what is deployed', labelFreshness: true, serveStaleMs: 60_000 },
  query_logs: { provides: 'logs', fallback: 'ask the one who is on call to look at the logs' },
  [MCP_TOOL]: {
    provides: 'sums',
    // Without `adapt`: the model is told, and calls it itself.
    alternatives: [{ tool: 'calculator', degradation: 'low', note: 'in this process' }],
  },
  calculator: { provides: 'sums' },
};

/** The fleet. The names of tools are what dashboards and alerts show. */
export const createAgents = ({ services, mcp }: World): readonly Agent[] => [
  createAgent('research-agent', 380, RESEARCH_TOOLS, {
    duties: [
      { name: 'sources', tools: ['web_search', 'read_page'] },
      { name: 'weather', tools: ['get_weather'] },
    ],
    tools: {
      web_search: httpTool(services.search),
      read_page: httpTool(services.pages),
      get_weather: httpTool(services.weather),
      news_search: newsTool(services.news),
    },
    dependsOn: [services.search, services.pages, services.weather, services.news],
  }),
  createAgent('support-agent', 420, SUPPORT_TOOLS, {
    duties: [
      { name: 'orders', tools: ['lookup_order'] },
      { name: 'complaints', tools: ['create_ticket'] },
    ],
    tools: { lookup_order: httpTool(services.orders), create_ticket: httpTool(services.tickets) },
    dependsOn: [services.orders, services.tickets],
  }),
  createAgent('ops-agent', 350, OPS_TOOLS, {
    duties: [
      { name: 'releases', tools: [SAME_QUESTION] },
      { name: 'logs', tools: ['query_logs'] },
      { name: 'costs', tools: [MCP_TOOL] },
    ],
    tools: {
      [SAME_QUESTION]: httpTool(services.deployments),
      query_logs: httpTool(services.logs),
      calculator: calculator(),
    },
    mcp,
    dependsOn: [services.deployments, services.logs, mcp],
  }),
];

interface Parts extends Pick<Agent, 'duties' | 'dependsOn'> {
  readonly tools: ToolSet;
  /** The server of {@link MCP_TOOL}, for the agent that has it. */
  readonly mcp?: McpServer;
}

const createAgent = (name: string, thinkMs: number, settings: ToolSettings, parts: Parts): Agent => {
  const { duties, tools, mcp, dependsOn } = parts;
  return {
    name,
    // Tools are declared here, so that their series are there before the first call.
    box: createBreakerbox({ agent: name, defaults: DEFAULTS, tools: settings }),
    thinkMs,
    duties,
    toolNames: Object.keys(settings),
    tools: (session) => ({
      ...guardTools(tools, session, { timeoutMs: TOOL_TIMEOUT_MS }),
      ...(mcp && { [MCP_TOOL]: mcpTool(mcp, session) }),
    }),
    dependsOn,
  };
};

const httpTool = (service: Service): ToolSet[string] =>
  tool({
    description: `Asks the ${service.name} service`,
    inputSchema: z.object({ q: z.string() }),
    execute: ({ q }, { abortSignal }) => getJson(service.url, { q }, abortSignal),
  });

const newsTool = (service: Service): ToolSet[string] =>
  tool({
    description: 'Finds recent news',
    inputSchema: z.object({ topic: z.string() }),
    execute: ({ topic }, { abortSignal }) => getJson(service.url, { topic }, abortSignal),
  });

const SUMMANDS = z.object({ a: z.number(), b: z.number() });

const calculator = (): ToolSet[string] =>
  tool({ description: 'Adds two numbers', inputSchema: SUMMANDS, execute: ({ a, b }) => ({ sum: a + b }) });

const mcpTool = (mcp: McpServer, session: Session): ToolSet[string] =>
  tool({
    description: 'Adds two numbers, on an MCP server',
    inputSchema: SUMMANDS,
    execute: ({ a, b }, { abortSignal }) => {
      // At each call, because the client is another one after a restart of the server.
      const client = guardMcpClient(mcp.client, session, { tools: [MCP_TOOL], timeoutMs: TOOL_TIMEOUT_MS });
      return client.callTool({ name: MCP_TOOL, arguments: { a, b } }, undefined, {
        ...(abortSignal && { signal: abortSignal }),
      });
    },
  });

/** The arguments that the scripted model gives to a tool at its n-th call. */
export const toolInput = (toolName: string, n: number): unknown => {
  if (toolName === MCP_TOOL) return { a: n, b: 40 };
  // Always the same: only then is there a last good result for the same question (F2).
  return { q: toolName === SAME_QUESTION ? 'production' : `${toolName} ${n}` };
};
