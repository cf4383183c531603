/** An agent of Mastra whose web search is out. With OPENAI_API_KEY in the environment a real model runs it. */
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerHooks, breakerProcessor } from '@breakerbox/instrumentation/mastra';
import { scriptedModel } from '@breakerbox/scripted-models/mastra';
import { startTelemetry } from '@breakerbox/telemetry';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

process.env.MASTRA_TELEMETRY_DISABLED ??= '1'; // Mastra's own, which tells its makers of features in use
const telemetry = startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list

const search = (tool: string) => [{ tool, input: { query: 'circuit breakers' } }];
const script = [search('web_search'), search('web_search'), search('news_search'), 'The news: breakers are back.'];
const model = process.env.OPENAI_API_KEY ? 'openai/gpt-5-mini' : scriptedModel(script).model;

const inputSchema = z.object({ query: z.string() });
const tools = {
  web_search: createTool({
    id: 'web_search',
    description: 'Searches the web',
    inputSchema,
    execute: async ({ query }, { abortSignal: signal = null }) => {
      const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal });
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      return response.text();
    },
  }),
  news_search: createTool({
    id: 'news_search',
    description: 'Searches the news',
    inputSchema,
    execute: async ({ query }) => [`${query} are back`],
  }),
};
const session = createBreakerbox({
  agent: 'research-agent',
  tools: {
    web_search: {
      failureThreshold: 1,
      alternatives: [{ tool: 'news_search', degradation: 'low', note: 'recent items only' }],
    },
    news_search: { fallback: 'answer from what you know, and say so' },
  },
}).session({ span: true });

const agent = new Agent({
  id: 'researcher',
  name: 'Researcher',
  instructions: 'You answer from what your tools find.',
  model,
  tools,
  hooks: breakerHooks(session),
  inputProcessors: [breakerProcessor(session, { timeoutMs: 10_000 })],
});
const { text } = await agent.generate('What is new about circuit breakers?', { maxSteps: 10 });

console.log(`${text}\n\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
