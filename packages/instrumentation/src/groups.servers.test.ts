import { createMCPClient } from '@ai-sdk/mcp';
import { scriptedModel as aiSdkModel } from '@breakerbox/scripted-models/ai-sdk';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { MCPToolset } from '@google/adk/tools/mcp';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { MCPClient } from '@mastra/mcp';
import { generateText, isStepCount, type ToolSet } from 'ai';
import { expect, onTestFinished, test } from 'vitest';
import { breakerPrepareStep, guardTools } from './ai-sdk/ai-sdk.ts';
import { breakerTelemetry } from './ai-sdk/breaker-telemetry.ts';
import { BreakerPlugin } from './google-adk/google-adk.ts';
import { breakerMiddleware, guardTools as guardLangChainTools } from './langchain/langchain.ts';
import { breakerHooks, breakerProcessor } from './mastra/mastra.ts';
import { adkRun } from './test-support/adk-run.ts';
import { httpMcpServer } from './test-support/http-mcp-server.ts';
import { runAgent } from './test-support/langchain-agents.ts';
import { agentOf } from './test-support/mastra-agent.ts';
import { type Watched, watchedSession } from './test-support/watched-session.ts';

/** An agent of a framework whose tools are those of two servers; the prefixes of the names that the model sees. */
interface Agent {
  readonly prefixes?: readonly [string, string];
  readonly groups: (urls: readonly [string, string]) => readonly unknown[];
  /** Connects to both servers, and gives the run to the end of a script. */
  connect(
    watched: Watched,
    urls: readonly [string, string],
  ): Promise<(script: readonly ScriptedStep[]) => Promise<unknown>>;
}

const named = () => ['files', 'web'];

const aiSdkTools = async (clients: readonly (readonly [name: string | undefined, url: string])[]): Promise<ToolSet> => {
  const sets: ToolSet[] = [];
  for (const [clientName, url] of clients) {
    const client = await createMCPClient({ transport: { type: 'http', url }, ...(clientName && { clientName }) });
    onTestFinished(() => client.close());
    sets.push((await client.tools()) as ToolSet);
  }
  return Object.assign({}, ...sets);
};

const langChainClient = ([files, web]: readonly [string, string], options: object): MultiServerMCPClient => {
  const mcpServers = { files: { transport: 'http', url: files }, web: { transport: 'http', url: web } } as const;
  const client = new MultiServerMCPClient({ ...options, mcpServers });
  onTestFinished(() => client.close());
  return client;
};

const agents: Readonly<Record<string, Agent>> = {
  'AI SDK, guardTools': {
    groups: named,
    connect: async ({ session }, [files, web]) => {
      const own = await aiSdkTools([
        ['files', files],
        ['web', web],
      ]);
      const tools = guardTools(own, session);
      const stopWhen = isStepCount(20);
      return (script) => {
        const { model } = aiSdkModel(script);
        return generateText({ model, tools, prompt: 'go', stopWhen, prepareStep: breakerPrepareStep(session) });
      };
    },
  },
  'AI SDK, breakerTelemetry': {
    groups: named,
    connect: async ({ session }, [files, web]) => {
      const tools = await aiSdkTools([
        ['files', files],
        ['web', web],
      ]);
      const telemetry = { integrations: [breakerTelemetry(session)] } as object;
      const stopWhen = isStepCount(20);
      return (script) => generateText({ model: aiSdkModel(script).model, tools, prompt: 'go', stopWhen, telemetry });
    },
  },
  'LangChain, names with the server': {
    prefixes: ['files__', 'web__'],
    groups: named,
    connect: async ({ session }, urls) => {
      const tools = await langChainClient(urls, { prefixToolNameWithServerName: true }).getTools();
      return (script) => runAgent([breakerMiddleware(session)], tools, script, { recursionLimit: 60 });
    },
  },
  'LangChain, the tools of each server': {
    groups: named,
    connect: async ({ session }, urls) => {
      const servers = await langChainClient(urls, {}).initializeConnections();
      const tools = Object.entries(servers).flatMap(([group, own]) => guardLangChainTools(own, session, { group }));
      return (script) => runAgent([breakerMiddleware(session)], tools, script, { recursionLimit: 60 });
    },
  },
  Mastra: {
    prefixes: ['files_', 'web_'],
    groups: named,
    connect: async ({ session }, [files, web]) => {
      const enableServerLogs = false;
      const servers = {
        files: { url: new URL(files), enableServerLogs },
        web: { url: new URL(web), enableServerLogs },
      };
      const client = new MCPClient({ id: `test-${files}`, servers, timeout: 5_000 });
      onTestFinished(() => client.disconnect());
      const tools = await client.listTools();
      const group = (tool: string) => tools[tool]?.mcpMetadata?.serverName;
      const config = {
        tools,
        hooks: breakerHooks(session, { group }),
        inputProcessors: [breakerProcessor(session, { group })],
      };
      return (script) => agentOf(script, config).agent.generate('go', { maxSteps: 20 });
    },
  },
  'Google ADK': {
    groups: (urls) => urls.map((url) => expect.stringMatching(new RegExp(`^${new URL(url).host}#[0-9a-f]{6}$`))),
    connect: async ({ session }, urls) => {
      const sets = urls.map((url) => new MCPToolset({ type: 'StreamableHTTPConnectionParams', url }));
      // ADK lists the tools of a toolset before each turn, and a dead server would end the run there.
      const tools = (await Promise.all(sets.map((set) => set.getTools()))).flat();
      return async (script) => (await adkRun(script, tools, [new BreakerPlugin(session)])).say('go');
    },
  },
  'Google ADK, toolsets with a prefix': {
    prefixes: ['files_', 'web_'],
    groups: named,
    connect: async ({ session }, urls) => {
      const sets = urls.map(
        (url, at) => new MCPToolset({ type: 'StreamableHTTPConnectionParams', url }, [], ['files', 'web'][at]),
      );
      const tools = (await Promise.all(sets.map((set) => set.getTools()))).flat();
      return async (script) => (await adkRun(script, tools, [new BreakerPlugin(session)])).say('go');
    },
  },
};

const read = { tool: 'read', input: {} };
const list = { tool: 'list', input: {} };
const news = { tool: 'news', input: {} };

test.each(Object.keys(agents))('C13: a dead MCP server does not stop the tools of another one: %s', async (name) => {
  const { prefixes: [first, second] = ['', ''], groups, connect } = agents[name] as Agent;
  const [files, web] = [await httpMcpServer(['read', 'list']), await httpMcpServer(['news'])];
  const watched = watchedSession();
  const { session, box, decisions } = watched;
  const events: unknown[] = [];
  box.on('systemic.detected', (event) => events.push(event));
  const play = await connect(watched, [files.url, web.url]);
  files.die();

  const dead = [read, list].map((call) => [{ ...call, tool: first + call.tool }]);
  await play([...dead, ...dead, ...dead, [{ ...news, tool: second + news.tool }], 'Done.']);

  expect(web.calls).toEqual(['news']);
  expect(decisions.at(-1)).toBe(`${second}news: call`);
  expect(events).toEqual([]);
  expect(session.view().state).toBe('active');
  const group = (tool: string) => session.peek(tool)?.group;
  expect([`${first}list`, `${second}news`].map(group)).toEqual(groups([files.url, web.url]));
});
