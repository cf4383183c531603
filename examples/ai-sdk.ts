/** An agent of the AI SDK whose web search is out. With AI_GATEWAY_API_KEY in the environment a real model runs it. */
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { startTelemetry } from '@breakerbox/telemetry';
import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list

const search = (tool: string) => [{ tool, input: { query: 'circuit breakers' } }];
const script = [search('web_search'), search('web_search'), search('news_search'), 'The news: breakers are back.'];
const model = process.env.AI_GATEWAY_API_KEY ? 'openai/gpt-5-mini' : scriptedModel(script).model;

const inputSchema = z.object({ query: z.string() });
const tools = {
  web_search: tool({
    description: 'Searches the web',
    inputSchema,
    execute: async ({ query }, { abortSignal: signal = null }) => {
      const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal });
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      return response.text();
    },
  }),
  news_search: tool({
    description: 'Searches the news',
    inputSchema,
    execute: async ({ query }) => [`${query} are back`],
  }),
};

const box = createBreakerbox({
  agent: 'research-agent',
  tools: {
    web_search: {
      failureThreshold: 1,
      alternatives: [{ tool: 'news_search', degradation: 'low', note: 'recent items only' }],
    },
    news_search: { fallback: 'answer from what you know, and say so' },
  },
});
const session = box.session({ span: true });

const { text } = await generateText({
  model,
  tools: guardTools(tools, session, { timeoutMs: 10_000 }),
  prepareStep: breakerPrepareStep(session),
  stopWhen: isStepCount(10),
  prompt: 'What is new about circuit breakers?',
});

console.log(`${text}\n\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
