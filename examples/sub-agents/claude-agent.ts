/** An agent of the Claude Agent SDK with a sub-agent: one tree in the report, and one trace. The model follows a script. */
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerHooks } from '@breakerbox/instrumentation/claude-agent';
import { scriptedModel } from '@breakerbox/scripted-models/claude-agent';
import { nestedScripts } from '@breakerbox/scripted-models/sub-agents';
import { startTelemetry } from '@breakerbox/telemetry';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'writer' });
const ask = { description: 'research', prompt: 'Search.', subagent_type: 'researcher', run_in_background: false };
const { outer, inner } = nestedScripts('Task', ask, 'mcp__tools__search');
const [task = '', ...rest] = outer;
const scripted = await scriptedModel([task, ...inner, ...rest]); // One API answers both agents.
const session = createBreakerbox({ agent: 'writer', limits: { calls: 50 } }).session({ span: true });

const search = tool('search', 'Searches', { query: z.string() }, async ({ query }) => ({
  content: [{ type: 'text', text: `News of ${query}` }],
}));
const agent = query({
  prompt: 'Write.',
  options: {
    ...scripted.options,
    agents: { researcher: { description: 'Researches a subject', prompt: 'Search.' } },
    mcpServers: { tools: createSdkMcpServer({ name: 'tools', tools: [search] }) },
    allowedTools: ['Task', 'mcp__tools__search'],
    hooks: breakerHooks(session),
  },
});
for await (const message of agent) if (message.type === 'result' && 'result' in message) console.log(message.result);

console.log(`\n${formatReport(report(session))}`);
await scripted.stop();
session.end();
await telemetry.shutdown();
