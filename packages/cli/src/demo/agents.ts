import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import { guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { type ToolSet, tool } from 'ai';
import { z } from 'zod';
import { getJson } from './http-get.ts';
import type { McpServer } from './mcp-server.ts';
import { type Service, startService } from './services.ts';

/** What the tools stand on. */
export interface World {
  readonly services: Readonly<Record<ServiceName, Service>>;
  readonly mcp: McpServer;
}

export type ServiceName = 'search' | 'weather' | 'pages' | 'orders' | 'tickets' | 'deployments' | 'logs';

/** One agent of the fleet. */
export interface Agent {
  readonly name: string;
  readonly box: Breakerbox;
  /** Milliseconds of thought before each step. */
  readonly thinkMs: number;
  /** The tools in the order in which a session asks them. */
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
  weather: await startService('weather', (query) => ({ city: query.get('q'), celsius: 12 })),
  pages: await startService('pages', (query) => ({ page: query.get('q'), text: 'lorem ipsum' })),
  orders: await startService('orders', (query) => ({ order: query.get('q'), status: 'shipped' })),
  tickets: await startService('tickets', (query) => ({ ticket: query.get('q'), created: true })),
  deployments: await startService('deployments', (query) => ({ service: query.get('q'), version: '1.4.2' })),
  logs: await startService('logs', (query) => ({ query: query.get('q'), lines: [] })),
});

/** The fleet. The names of tools are what dashboards and alerts show. */
export const createAgents = ({ services, mcp }: World): readonly Agent[] => [
  httpAgent('research-agent', 380, {
    web_search: services.search,
    get_weather: services.weather,
    read_page: services.pages,
  }),
  httpAgent('support-agent', 420, { lookup_order: services.orders, create_ticket: services.tickets }),
  withMcp(httpAgent('ops-agent', 350, { list_deployments: services.deployments, query_logs: services.logs }), mcp),
];

const httpAgent = (name: string, thinkMs: number, byTool: Readonly<Record<string, Service>>): Agent => {
  const toolNames = Object.keys(byTool);
  const box = createBreakerbox({
    agent: name,
    defaults: DEFAULTS,
    // Declared here, so that their series are there before the first call.
    tools: Object.fromEntries(toolNames.map((tool) => [tool, {}])),
  });
  const tools = Object.fromEntries(Object.entries(byTool).map(([tool, service]) => [tool, httpTool(service)]));
  return {
    name,
    box,
    thinkMs,
    toolNames,
    tools: (session) => guardTools(tools, session, { timeoutMs: TOOL_TIMEOUT_MS }),
    dependsOn: Object.values(byTool),
  };
};

const httpTool = (service: Service): ToolSet[string] =>
  tool({
    description: `Asks the ${service.name} service`,
    inputSchema: z.object({ q: z.string() }),
    execute: ({ q }, { abortSignal }) => getJson(service.url, { q }, abortSignal),
  });

const MCP_TOOL = 'get-sum';

const withMcp = (agent: Agent, mcp: McpServer): Agent => {
  agent.box.declare(MCP_TOOL);
  return {
    ...agent,
    toolNames: [...agent.toolNames, MCP_TOOL],
    dependsOn: [...agent.dependsOn, mcp],
    tools: (session) => ({ ...agent.tools(session), [MCP_TOOL]: mcpTool(mcp, session) }),
  };
};

const mcpTool = (mcp: McpServer, session: Session): ToolSet[string] =>
  tool({
    description: 'Adds two numbers, on an MCP server',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }, { abortSignal }) => {
      // At each call, because the client is another one after a restart of the server.
      const client = guardMcpClient(mcp.client, session, { tools: [MCP_TOOL], timeoutMs: TOOL_TIMEOUT_MS });
      return client.callTool({ name: MCP_TOOL, arguments: { a, b } }, undefined, {
        ...(abortSignal && { signal: abortSignal }),
      });
    },
  });

/** The arguments that the scripted model gives to a tool. */
export const toolInput = (toolName: string, n: number): unknown =>
  toolName === MCP_TOOL ? { a: n, b: 40 } : { q: `${toolName} ${n}` };
