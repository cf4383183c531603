/** An agent of Mastra with a sub-agent: one tree in the report, and one trace. Both models follow a script. */
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerHooks, breakerProcessor } from '@breakerbox/instrumentation/mastra';
import { scriptedModel } from '@breakerbox/scripted-models/mastra';
import { nestedScripts } from '@breakerbox/scripted-models/sub-agents';
import { startTelemetry } from '@breakerbox/telemetry';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

process.env.MASTRA_TELEMETRY_DISABLED ??= '1'; // Mastra's own, which tells its makers of features in use
const telemetry = startTelemetry({ serviceName: 'writer' });
const { outer, inner } = nestedScripts('agent-researcher', { prompt: 'breakers' });
const session = createBreakerbox({ agent: 'writer', limits: { calls: 50 } }).session({ span: true });
const guards = { hooks: breakerHooks(session), inputProcessors: [breakerProcessor(session)] }; // for both agents

const search = createTool({
  id: 'search',
  description: 'Searches',
  inputSchema: z.object({ query: z.string() }),
  execute: async ({ query }) => `News of ${query}`,
});
const researcher = new Agent({
  id: 'researcher',
  name: 'Researcher',
  description: 'Researches a subject',
  instructions: 'Search.',
  model: scriptedModel(inner).model,
  tools: { search },
  ...guards,
});
const writer = new Agent({
  id: 'writer',
  name: 'Writer',
  instructions: 'Write an article.',
  model: scriptedModel(outer).model,
  agents: { researcher }, // the tool `agent-researcher`
  ...guards,
});
new Mastra({ agents: { writer }, logger: false });
const { text } = await writer.generate('Write.', { maxSteps: 10 });

console.log(`${text}\n\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
