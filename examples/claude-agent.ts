/** An agent of the Claude Agent SDK whose web search is out. With ANTHROPIC_API_KEY in the environment a real model runs it. */
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerHooks } from '@breakerbox/instrumentation/claude-agent';
import { scriptedModel } from '@breakerbox/scripted-models/claude-agent';
import { startTelemetry } from '@breakerbox/telemetry';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list

const search = (tool: string) => [{ tool: `mcp__research__${tool}`, input: { query: 'circuit breakers' } }];
const script = [search('web_search'), search('web_search'), search('news_search'), 'The news: breakers are back.'];
const scripted = process.env.ANTHROPIC_API_KEY ? undefined : await scriptedModel(script);

const inputSchema = { query: z.string() };
const research = createSdkMcpServer({
  name: 'research',
  tools: [
    tool('web_search', 'Searches the web', inputSchema, async ({ query }) => {
      const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`);
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return { content: [{ type: 'text', text: await response.text() }] };
    }),
    tool('news_search', 'Searches the news', inputSchema, async ({ query }) => ({
      content: [{ type: 'text', text: `${query} are back` }],
    })),
  ],
});

const session = createBreakerbox({
  agent: 'research-agent',
  tools: {
    mcp__research__web_search: {
      failureThreshold: 1,
      alternatives: [{ tool: 'mcp__research__news_search', degradation: 'low', note: 'recent items only' }],
    },
    mcp__research__news_search: { fallback: 'answer from what you know, and say so' },
  },
}).session({ span: true });

const agent = query({
  prompt: 'What is new about circuit breakers?',
  options: {
    ...scripted?.options,
    mcpServers: { research },
    allowedTools: ['mcp__research__web_search', 'mcp__research__news_search'],
    hooks: breakerHooks(session),
  },
});
for await (const message of agent) if (message.type === 'result' && 'result' in message) console.log(message.result);

console.log(`\n${formatReport(report(session))}`);
await scripted?.stop();
session.end();
await telemetry.shutdown();
