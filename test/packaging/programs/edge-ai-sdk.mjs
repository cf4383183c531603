// Agents of the AI SDK where there is no Node: one that waits for its answer, and one that streams it.
import { createBreakerbox } from '@breakerbox/core';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';

const search = tool({
  inputSchema: jsonSchema({ type: 'object' }),
  execute: async () => {
    throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  },
});
const script = [...['a', 'b', 'c', 'd'].map((query) => [{ tool: 'search', input: { query } }]), 'Done.'];

const heardIn = async (run) => {
  const session = createBreakerbox({ agent: 'edge' }).session();
  const { model, heard } = scriptedModel(script);
  const tools = guardTools({ search }, session);
  const settings = { model, tools, prepareStep: breakerPrepareStep(session), stopWhen: isStepCount(9), prompt: 'go' };
  await run(settings);
  session.end();
  return heard().map((text) => text.match(/fetch failed|is unavailable/)?.[0]);
};

export const seen = Promise.all([
  heardIn(generateText),
  heardIn((settings) => streamText({ ...settings, onError: () => {} }).consumeStream()),
]);
