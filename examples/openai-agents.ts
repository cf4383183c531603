/** An agent of the OpenAI Agents SDK whose web search is out. With OPENAI_API_KEY in the environment a real model runs it. */
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerSteps, guardToolFactory } from '@breakerbox/instrumentation/openai-agents';
import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import { startTelemetry } from '@breakerbox/telemetry';
import { Agent, run, setTracingDisabled, tool } from '@openai/agents';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list
if (!process.env.OPENAI_API_KEY) setTracingDisabled(true); // The SDK's own traces go to OpenAI.

const search = (tool: string) => [{ tool, input: { query: 'circuit breakers' } }];
const script = [search('web_search'), search('web_search'), search('news_search'), 'The news: breakers are back.'];
const model = process.env.OPENAI_API_KEY ? 'gpt-5-mini' : scriptedModel(script).model;

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

const guarded = guardToolFactory(tool, session, { timeoutMs: 10_000 }); // makes tools as the SDK's tool does
const parameters = z.object({ query: z.string() });
const tools = [
  guarded({
    name: 'web_search',
    description: 'Searches the web',
    parameters,
    execute: async ({ query }, _context, details) => {
      const signal = details?.signal ?? null;
      const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal });
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      return response.text();
    },
  }),
  guarded({
    name: 'news_search',
    description: 'Searches the news',
    parameters,
    execute: async ({ query }) => `${query} are back`,
  }),
];

const agent = new Agent({ name: 'researcher', model, tools });
const { finalOutput } = await run(agent, 'What is new about circuit breakers?', {
  callModelInputFilter: breakerSteps(session), // counts the turns
  toolNotFoundBehavior: 'return_error_to_model', // a name that it made up ends the run otherwise
});

console.log(`${finalOutput}\n\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
