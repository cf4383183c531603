/**
 * A research agent of Google's ADK: `BreakerPlugin` guards the tools of all agents of the runner, and counts the turns.
 * Runs on a script; on Gemini if GOOGLE_API_KEY or GEMINI_API_KEY is set.
 */
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { BreakerPlugin } from '@breakerbox/instrumentation/google-adk';
import { scriptedModel } from '@breakerbox/scripted-models/google-adk';
import { startTelemetry } from '@breakerbox/telemetry';
import { FunctionTool, InMemoryRunner, LlmAgent, LogLevel, setLogLevel } from '@google/adk';
import { context } from '@opentelemetry/api';
import { z } from 'zod';

startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list
setLogLevel(LogLevel.WARN);

const session = createBreakerbox({
  agent: 'research-agent',
  tools: {
    web_search: { alternatives: [{ tool: 'news_search', degradation: 'low', note: 'recent items only' }] },
    news_search: {},
  },
}).session({ span: true });

const parameters = z.object({ query: z.string() });
const webSearch = new FunctionTool({
  name: 'web_search',
  description: 'Searches the web',
  parameters,
  execute: async ({ query }, context) => {
    const signal = context?.abortSignal ?? null;
    const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal }); // nothing listens here
    if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
    return response.text();
  },
});
const newsSearch = new FunctionTool({
  name: 'news_search',
  description: 'Searches the news of the last days',
  parameters,
  execute: async ({ query }) => `News of ${query}: tool breakers are in fashion.`,
});

const model =
  process.env.GOOGLE_API_KEY || process.env.GEMINI_API_KEY
    ? 'gemini-2.5-flash'
    : scriptedModel([
        ...['breakers', 'fuses', 'relays', 'switches'].map((query) => [{ tool: 'web_search', input: { query } }]),
        [{ tool: 'news_search', input: { query: 'breakers' } }],
        'The web search is out. The news say: tool breakers are in fashion.',
      ]).model;

const agent = new LlmAgent({ name: 'research_agent', model, tools: [webSearch, newsSearch] });
const runner = new InMemoryRunner({ agent, plugins: [new BreakerPlugin(session, { timeoutMs: 10_000 })] });
const newMessage = { role: 'user', parts: [{ text: 'Search the web for what is new in circuit breakers.' }] };
const run = async () => {
  for await (const { content } of runner.runEphemeral({ userId: 'reader', newMessage })) {
    for (const { text, functionResponse: result } of content?.parts ?? []) {
      if (result) console.log(`${result.name}: ${JSON.stringify(result.response)}`);
      if (text) console.log(`\n${text}`);
    }
  }
};
await context.with(session.context, run); // ADK's own spans belong to the session's
console.log(`\n${formatReport(report(session))}`);
session.end();
