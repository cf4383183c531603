/** An agent of OpenAI Agents with a sub-agent in a tool: one tree in the report, and one trace. Both models follow a script. */
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerSteps, guardToolFactory } from '@breakerbox/instrumentation/openai-agents';
import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import { nestedScripts } from '@breakerbox/scripted-models/sub-agents';
import { startTelemetry } from '@breakerbox/telemetry';
import { Agent, run, setTracingDisabled, tool } from '@openai/agents';
import { z } from 'zod';

setTracingDisabled(true); // The SDK's own traces go to OpenAI.
const telemetry = startTelemetry({ serviceName: 'writer' });
const { outer, inner } = nestedScripts('research');
const session = createBreakerbox({ agent: 'writer', limits: { calls: 50 } }).session({ span: true });
const guarded = guardToolFactory(tool, session);
const options = { callModelInputFilter: breakerSteps(session) }; // for both agents

const parameters = z.object({ query: z.string() });
const search = guarded({
  name: 'search',
  description: 'Searches',
  parameters,
  execute: async ({ query }) => `News of ${query}`,
});
const researcher = new Agent({ name: 'researcher', model: scriptedModel(inner).model, tools: [search] });
const research = guarded({
  name: 'research',
  description: 'Researches a subject',
  parameters,
  execute: async ({ query }) => (await run(researcher, query, options)).finalOutput,
});

const writer = new Agent({ name: 'writer', model: scriptedModel(outer).model, tools: [research] });
const { finalOutput } = await run(writer, 'Write.', options);

console.log(`${finalOutput}\n\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
