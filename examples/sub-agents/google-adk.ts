/** An agent of Google's ADK with a sub-agent in a tool: one tree in the report, and one trace. Both models follow a script. */
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { BreakerPlugin, breakerCallbacks } from '@breakerbox/instrumentation/google-adk';
import { scriptedModel } from '@breakerbox/scripted-models/google-adk';
import { nestedScripts } from '@breakerbox/scripted-models/sub-agents';
import { startTelemetry } from '@breakerbox/telemetry';
import { AgentTool, FunctionTool, InMemoryRunner, LlmAgent, LogLevel, setLogLevel } from '@google/adk';
import { context } from '@opentelemetry/api';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'writer' });
setLogLevel(LogLevel.WARN);
const { outer, inner } = nestedScripts('researcher', { request: 'breakers' });
const session = createBreakerbox({ agent: 'writer', limits: { calls: 50 } }).session({ span: true });

const search = new FunctionTool({
  name: 'search',
  description: 'Searches',
  parameters: z.object({ query: z.string() }),
  execute: async ({ query }) => `News of ${query}`,
});
const researcher = new LlmAgent({
  name: 'researcher',
  description: 'Researches a subject',
  model: scriptedModel(inner).model,
  tools: [search],
  ...breakerCallbacks(session), // An agent in a tool does not know the plugins of the runner.
});
const agent = new LlmAgent({
  name: 'writer',
  model: scriptedModel(outer).model,
  tools: [new AgentTool({ agent: researcher })],
});

const runner = new InMemoryRunner({ agent, plugins: [new BreakerPlugin(session)] });
const newMessage = { role: 'user', parts: [{ text: 'Write.' }] };
const run = async () => {
  for await (const { content } of runner.runEphemeral({ userId: 'reader', newMessage })) {
    for (const { text } of content?.parts ?? []) if (text) console.log(text);
  }
};
await context.with(session.context, run); // ADK's own spans belong to the session's
console.log(`\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
