/**
 * An AWS Lambda handler whose web search is out. A store takes the session from one call to the next, so that a circuit that opened in
 * one process is open in the other. With AI_GATEWAY_API_KEY in the environment a real model answers.
 */

import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { restore, snapshot } from '@breakerbox/core/snapshot';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { startTelemetry } from '@breakerbox/telemetry';
import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';

const script = [[{ tool: 'web_search', input: { query: 'circuit breakers' } }], 'This is from what I know.'];
const model = () => (process.env.AI_GATEWAY_API_KEY ? 'openai/gpt-5-mini' : scriptedModel(script).model);

const tools = {
  web_search: tool({
    description: 'Searches the web',
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }, { abortSignal: signal = null }) => {
      const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal });
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      return response.text();
    },
  }),
};

/** Where snapshots are between two calls: a table of DynamoDB, Redis. They are JSON, without arguments or results. */
export interface Store {
  get(conversation: string): Promise<string | undefined> | string | undefined;
  set(conversation: string, snapshot: string): unknown;
}

export const createHandler = (store: Store) => {
  const box = createBreakerbox({ agent: 'support', tools: { web_search: { failureThreshold: 1 } } });

  return async ({ conversation, question }: { conversation: string; question: string }) => {
    const kept = await store.get(conversation);
    const session = kept ? restore(box, JSON.parse(kept)) : box.session({ id: conversation });
    if (session.view().state === 'paused_budget') session.resume(); // the next question lets it go on
    try {
      const { text } = await generateText({
        model: model(),
        tools: guardTools(tools, session, { timeoutMs: 10_000 }),
        prepareStep: breakerPrepareStep(session),
        stopWhen: isStepCount(10),
        prompt: question,
      });
      return { answer: text, report: formatReport(report(session)) };
    } finally {
      const json = JSON.stringify(snapshot(session));
      session.end();
      await store.set(conversation, json);
    }
  };
};

if (import.meta.main) {
  const telemetry = startTelemetry({ serviceName: 'support' });
  const store = new Map<string, string>();
  for (const question of ['What is new about circuit breakers?', 'And in Europe?']) {
    const { answer, report } = await createHandler(store)({ conversation: 'conversation-7', question }); // as in another process
    console.log(`${answer}\n\n${report}\n`);
  }
  await telemetry.shutdown();
}
