import {
  type Breakerbox,
  type BreakerboxConfig,
  createBreakerbox,
  type Session,
  type ToolConfig,
} from '@breakerbox/core';
import { guardModels, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { httpEndpoint } from '@breakerbox/instrumentation/checks';
import type { LanguageModel, ToolSet } from 'ai';
import type { AgentName } from './agent-names.ts';
import type { McpServer } from './mcp-server.ts';
import type { Duty, Plan } from './plan.ts';
import { type ScriptedModelOptions, scriptedModel } from './scripted-model.ts';
import { type Service, startService } from './services.ts';
import { calculator, httpTool, mcpTool, newsTool, pricedTool } from './tools.ts';

/** What the tools depend on. */
export interface World {
  readonly services: Readonly<Record<ServiceName, Service>>;
  readonly mcp: McpServer;
}

export type ServiceName =
  | 'search'
  | 'news'
  | 'weather'
  | 'pages'
  | 'orders'
  | 'tickets'
  | 'deployments'
  | 'logs'
  // The providers of support-agent's models.
  | 'claude'
  | 'gpt';

/** One agent of the fleet. */
export interface Agent {
  readonly name: AgentName;
  /** The configuration of the box. */
  readonly config: BreakerboxConfig;
  readonly box: Breakerbox;
  /** Milliseconds of thought before each step. */
  readonly thinkMs: number;
  /** The work of a session, in batches. */
  readonly duties: readonly Duty[];
  /** All of its tools. The last ones are called only as alternatives. */
  readonly toolNames: readonly string[];
  /** The tools of a session, guarded. */
  tools(session: Session): ToolSet;
  /** The model of a session, which follows its plan. */
  model(plan: Plan, options: ScriptedModelOptions): LanguageModel;
  /** What the operator checks before a paused session may continue. */
  readonly dependsOn: readonly { healthy(): Promise<boolean>; readonly name: string }[];
}

/**
 * What is scaled in the boxes, at pace 1. Three failures open a circuit and the failure budget is five, as in the defaults.
 *
 * | | here | default |
 * |---|---|---|
 * | cooldown | 3 s, doubling to 6 s | 60 s, doubling to 300 s |
 * | age of a pre-call check | 1 s | 30 s |
 */
const COOLDOWN_MS = 3000;
const MAX_COOLDOWN_MS = 6000;
const PRECHECK_AGE_MS = 1000;

/** The time-out that turns a service that hangs into a failure. */
const TOOL_TIMEOUT_MS = 800;

const STALE_MS = 60_000;

/** How long a list of deployments stays the same. A second request within this time gets the same list, and its label says so. */
const SNAPSHOT_MS = 5000;
const GIBBERISH = 'gibberish';
/** One order in so many has no time stamp, and one call in so many is nonsense. */
const UNDATED_EACH = 5;
const NONSENSE_EACH = 7;

/** Starts the HTTP services. All of them work. */
export const startServices = async (): Promise<World['services']> => ({
  search: await startService('search', (query) => ({ hits: [`about ${query.get('q')}`] }), { usualMs: 60 }),
  news: await startService('news', (query) => ({ headlines: [`today on ${query.get('topic')}`] }), { usualMs: 80 }),
  weather: await startService('weather', (query) => ({ city: query.get('q'), celsius: 12 }), { usualMs: 20 }),
  pages: await startService('pages', (query) => ({ page: query.get('q'), text: 'lorem ipsum' }), { usualMs: 100 }),
  orders: await startService(
    'orders',
    (query) => ({
      order: query.get('q'),
      status: 'shipped',
      asOf: endsIn(query.get('q'), UNDATED_EACH) ? null : now(),
    }),
    { usualMs: 25, understands: (query) => query.get('q')?.startsWith(GIBBERISH) === false },
  ),
  tickets: await startService('tickets', (query) => ({ ticket: query.get('q'), created: true }), { usualMs: 40 }),
  deployments: await startService(
    'deployments',
    () => ({ web: '1.4.2', api: '2.0.1', asOf: new Date(now() - (now() % SNAPSHOT_MS)).toISOString() }),
    { usualMs: 15 },
  ),
  logs: await startService('logs', (query) => ({ query: query.get('q'), lines: [] }), { usualMs: 70 }),
  claude: await startService('claude', () => ({ says: 'go on' })),
  gpt: await startService('gpt', () => ({ says: 'go on' })),
});

const now = (): number => Date.now();

/** Whether the number at the end of a text is a multiple of `each`. */
const endsIn = (text: string | null, each: number): boolean => Number(text?.split(' ').at(-1)) % each === 0;

/** The capability map's entry of a tool (R1), and its other settings. */
type ToolSettings = Readonly<Record<string, ToolConfig>>;

const PROXY = ['egress-proxy'];

const researchTools = ({ pages }: World['services']): ToolSettings => ({
  web_search: {
    provides: 'web search',
    dependsOn: PROXY,
    alternatives: [
      {
        tool: 'news_search',
        degradation: 'low',
        note: 'recent items only',
        // With `adapt`, and `inPlace` below, guardTools calls the alternative itself, and the model does not have to (R4).
        adapt: ({ q }: { readonly q: string }) => ({ topic: q }),
      },
    ],
  },
  read_page: {
    provides: 'pages by their address',
    // A pre-call check. Its failures cost neither circuit nor budget (K1).
    precheck: httpEndpoint(`${pages.url}/health`, { timeoutMs: 400 }),
    alternatives: [
      {
        tool: 'news_search',
        degradation: 'high',
        note: 'headlines about it, not the page',
        adapt: ({ q }: { readonly q: string }) => ({ topic: q }),
      },
    ],
  },
  get_weather: { provides: 'the weather of a city', dependsOn: PROXY, fallback: 'leave the weather out, and say so' },
  news_search: { provides: 'news of the last 30 days' },
});

const SUPPORT_TOOLS: ToolSettings = {
  lookup_order: { provides: 'where an order is', labelFreshness: true },
  create_ticket: { provides: 'tickets', fallback: 'write the complaint down for the shift lead' },
};

const MCP_TOOL = 'get-sum';
/** The group of the MCP server's tools (C13). Without it, the adapter uses the server's own name. */
const MCP_GROUP = 'everything';
const SAME_QUESTION = 'list_deployments';

const opsTools = (pace: number): ToolSettings => ({
  [SAME_QUESTION]: { provides: 'what is deployed', labelFreshness: true, serveStaleMs: STALE_MS * pace },
  query_logs: {
    provides: 'logs',
    labelFreshness: true,
    fallback: 'ask the engineer on call to look at the logs',
  },
  [MCP_TOOL]: {
    provides: 'sums',
    group: MCP_GROUP,
    // Without `adapt`: the model reads of the alternative, and calls it itself.
    alternatives: [{ tool: 'calculator', degradation: 'unknown', note: 'in this process' }],
  },
  calculator: { provides: 'sums' },
});

/** Which agents, and how fast. */
export interface FleetOptions {
  readonly names: readonly AgentName[];
  /** How many times slower than the script everything runs. */
  readonly pace: number;
}

/** The fleet, or some of its agents. Dashboards and alerts show these names of tools. */
export const createAgents = ({ services, mcp }: World, { names, pace }: FleetOptions): readonly Agent[] => {
  const timeoutMs = TOOL_TIMEOUT_MS * pace;
  const make: Readonly<Record<AgentName, () => Agent>> = {
    'research-agent': () =>
      createAgent('research-agent', pace, {
        thinkMs: 380,
        settings: researchTools(services),
        duties: [
          { name: 'sources', tools: ['web_search', 'read_page'] },
          { name: 'weather', tools: ['get_weather'] },
        ],
        tools: (session) => {
          const tools = {
            web_search: httpTool(services.search),
            read_page: httpTool(services.pages),
            get_weather: httpTool(services.weather),
            news_search: newsTool(services.news),
          };
          return guardTools(tools, session, { timeoutMs, inPlace: ['news_search'], toolApproval: {} });
        },
        dependsOn: [services.search, services.pages, services.weather, services.news],
      }),
    'support-agent': () =>
      createAgent('support-agent', pace, {
        thinkMs: 420,
        settings: SUPPORT_TOOLS,
        duties: [
          { name: 'orders', tools: ['lookup_order'] },
          { name: 'complaints', tools: ['create_ticket'] },
        ],
        tools: (session) => ({
          lookup_order: pricedTool(session, 'lookup_order', services.orders, {
            timeoutMs,
            freshness: (order) => ({ retrievedUnixMs: (order as { readonly asOf: number | null }).asOf }),
          }),
          create_ticket: pricedTool(session, 'create_ticket', services.tickets, { timeoutMs }),
        }),
        dependsOn: [services.orders, services.tickets],
        models: { 'anthropic/claude': services.claude, 'openai/gpt': services.gpt },
      }),
    'ops-agent': () =>
      createAgent('ops-agent', pace, {
        thinkMs: 350,
        settings: opsTools(pace),
        groups: [MCP_GROUP],
        // It may change production, so each failure counts until an operator resumes the run (B6).
        budget: 'strict',
        duties: [
          { name: 'releases', tools: [SAME_QUESTION] },
          { name: 'logs', tools: ['query_logs'] },
          { name: 'costs', tools: [MCP_TOOL] },
        ],
        tools: (session) => ({
          [SAME_QUESTION]: pricedTool(session, SAME_QUESTION, services.deployments, { timeoutMs }),
          query_logs: pricedTool(session, 'query_logs', services.logs, {
            timeoutMs,
            freshness: () => ({ verified: false }),
          }),
          ...guardTools({ calculator: calculator() }, session),
          [MCP_TOOL]: mcpTool(session, MCP_TOOL, mcp, timeoutMs),
        }),
        dependsOn: [services.deployments, services.logs, mcp],
      }),
  };
  return names.map((name) => make[name]());
};

interface Parts extends Pick<Agent, 'thinkMs' | 'duties' | 'tools' | 'dependsOn'> {
  readonly settings: ToolSettings;
  /** The providers of its models by name, the preferred one first. Default: a model without a provider, which never fails. */
  readonly models?: Readonly<Record<string, Service>>;
  /** Groups of the tools (C13). Default: none. */
  readonly groups?: readonly string[];
  /** Default: the rule `window`. */
  readonly budget?: 'strict';
}

const createAgent = (
  name: AgentName,
  pace: number,
  { settings, models = {}, groups = [], budget, thinkMs, ...parts }: Parts,
): Agent => {
  const cooldown = { cooldownMs: COOLDOWN_MS * pace, maxCooldownMs: MAX_COOLDOWN_MS * pace };
  // The tools are declared here, so their series exist before the first call.
  const config: BreakerboxConfig = {
    agent: name,
    defaults: cooldown,
    groups: Object.fromEntries(groups.map((group) => [group, cooldown])),
    precheckMaxAgeMs: PRECHECK_AGE_MS * pace,
    ...(budget && { budget }),
    models: Object.fromEntries(Object.keys(models).map((model) => [model, cooldown])),
    tools: settings,
  };
  const box = createBreakerbox(config);
  return {
    ...parts,
    name,
    config,
    box,
    model: (plan, options) => {
      const of = Object.entries(models).map(([model, provider]) =>
        scriptedModel(plan, { ...options, model, provider }),
      );
      // All follow the same plan, so another one goes on where the first has stopped.
      return of.length === 0 ? scriptedModel(plan, options) : guardModels(box, { models: of });
    },
    thinkMs: thinkMs * pace,
    toolNames: Object.keys(settings),
  };
};

/** The arguments that the scripted model gives to a tool at its n-th call. */
export const toolInput = (toolName: string, n: number): unknown => {
  if (toolName === MCP_TOOL) return { a: n, b: 40 };
  // Always the same, because a last good result answers only the same question (F2).
  if (toolName === SAME_QUESTION) return { q: 'production' };
  // Sometimes the model asks for nonsense. That is its own mistake, so it costs nothing (O1).
  if (toolName === 'lookup_order' && n % NONSENSE_EACH === NONSENSE_EACH - 1) return { q: `${GIBBERISH} ${n}` };
  return { q: `${toolName} ${n}` };
};
