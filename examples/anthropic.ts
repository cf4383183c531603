/** An agent of Anthropic's tool runner whose web search is out. With ANTHROPIC_API_KEY in the environment a real model runs it. */
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { guardTools } from '@breakerbox/instrumentation/anthropic';
import { scriptedModel } from '@breakerbox/scripted-models/anthropic';
import { startTelemetry } from '@breakerbox/telemetry';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list

const search = (tool: string) => [{ tool, input: { query: 'circuit breakers' } }];
const script = [search('web_search'), search('web_search'), search('news_search'), 'The news: breakers are back.'];
const scripted = { apiKey: 'none', fetch: scriptedModel(script).fetch };
const client = new Anthropic(process.env.ANTHROPIC_API_KEY ? {} : scripted);

const inputSchema = z.object({ query: z.string() });
const tools = [
  betaZodTool({
    name: 'web_search',
    description: 'Searches the web',
    inputSchema,
    run: async ({ query }, context) => {
      const signal = context?.signal ?? null;
      const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal });
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      return response.text();
    },
  }),
  betaZodTool({
    name: 'news_search',
    description: 'Searches the news',
    inputSchema,
    run: async ({ query }) => `${query} are back`,
  }),
];

const session = createBreakerbox({
  agent: 'research-agent',
  tools: {
    web_search: {
      failureThreshold: 1,
      alternatives: [{ tool: 'news_search', degradation: 'low', note: 'recent items only' }],
    },
    news_search: { fallback: 'answer from what you know, and say so' },
  },
}).session();

const runner = client.beta.messages.toolRunner({
  model: 'claude-sonnet-5',
  max_tokens: 1_000,
  messages: [{ role: 'user', content: 'What is new about circuit breakers?' }],
  tools: guardTools(tools, session, { timeoutMs: 10_000 }),
});
for await (const _ of runner) {
  await runner.generateToolResponse(); // runs the tools of this turn, once
  session.step();
}
for (const block of (await runner.done()).content) if (block.type === 'text') console.log(block.text);

console.log(`\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
