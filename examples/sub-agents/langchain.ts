/** An agent of LangChain with a sub-agent in a tool: one tree in the report, and one trace. Both models follow a script. */
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { breakerMiddleware } from '@breakerbox/instrumentation/langchain';
import { scriptedModel } from '@breakerbox/scripted-models/langchain';
import { nestedScripts } from '@breakerbox/scripted-models/sub-agents';
import { startTelemetry } from '@breakerbox/telemetry';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';

const telemetry = startTelemetry({ serviceName: 'writer' });
const { outer, inner } = nestedScripts('research');
const session = createBreakerbox({ agent: 'writer', limits: { calls: 50 } }).session({ span: true });
const middleware = [breakerMiddleware(session)]; // for both agents

const schema = z.object({ query: z.string() });
const search = tool(async ({ query }) => `News of ${query}`, { name: 'search', description: 'Searches', schema });
const researcher = createAgent({ model: scriptedModel(inner).model, tools: [search], middleware });
const research = tool(
  async ({ query }) => {
    const { messages } = await researcher.invoke({ messages: query });
    return messages.at(-1)?.text;
  },
  { name: 'research', description: 'Researches a subject', schema },
);

const writer = createAgent({ model: scriptedModel(outer).model, tools: [research], middleware });
const { messages } = await writer.invoke({ messages: 'Write.' });

console.log(`${messages.at(-1)?.text}\n\n${formatReport(report(session))}`);
session.end();
await telemetry.shutdown();
