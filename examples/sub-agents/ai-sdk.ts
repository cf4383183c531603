/** An agent of the AI SDK with a sub-agent in a tool: one tree in the report, and one trace. Both models follow a script. */
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { nestedScripts } from '@breakerbox/scripted-models/sub-agents';
import { startTelemetry } from '@breakerbox/telemetry';
import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'writer' });
const { outer, inner } = nestedScripts('research');
const session = createBreakerbox({ agent: 'writer', limits: { calls: 50 } }).session({ span: true });
const common = { prepareStep: breakerPrepareStep(session), stopWhen: isStepCount(10) }; // for both agents

const inputSchema = z.object({ query: z.string() });
const search = tool({ description: 'Searches', inputSchema, execute: async ({ query }) => `News of ${query}` });
const research = tool({
  description: 'Researches a subject',
  inputSchema,
  execute: async ({ query }) => {
    const tools = guardTools({ search }, session);
    const { text } = await generateText({ model: scriptedModel(inner).model, tools, prompt: query, ...common });
    return text;
  },
});

const tools = guardTools({ research }, session);
const { text } = await generateText({ model: scriptedModel(outer).model, tools, prompt: 'Write.', ...common });

console.log(`${text}\n\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
