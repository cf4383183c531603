/** An agent of LangChain whose web search is out. With OPENAI_API_KEY in the environment a real model runs it. */
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerMiddleware } from '@breakerbox/instrumentation/langchain';
import { scriptedModel } from '@breakerbox/scripted-models/langchain';
import { startTelemetry } from '@breakerbox/telemetry';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list

const search = (tool: string) => [{ tool, input: { query: 'circuit breakers' } }];
const script = [search('web_search'), search('web_search'), search('news_search'), 'The news: breakers are back.'];
const model = process.env.OPENAI_API_KEY ? new ChatOpenAI({ model: 'gpt-5-mini' }) : scriptedModel(script).model;

const schema = z.object({ query: z.string() });
const webSearch = tool(
  async ({ query }, { signal = null }) => {
    const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal });
    if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
    return response.text();
  },
  { name: 'web_search', description: 'Searches the web', schema },
);
const newsSearch = tool(async ({ query }) => `${query} are back`, {
  name: 'news_search',
  description: 'Searches the news',
  schema,
});

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

const agent = createAgent({
  model,
  tools: [webSearch, newsSearch],
  middleware: [breakerMiddleware(session, { timeoutMs: 10_000 })],
});
const { messages } = await agent.invoke({ messages: 'What is new about circuit breakers?' });

console.log(`${messages.at(-1)?.text}\n\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
