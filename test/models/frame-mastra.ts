import { guardModels } from '@breakerbox/instrumentation/mastra';
import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import type { Frame } from './frames.ts';
import { modelOf } from './providers.ts';
import { FORMATS } from './recordings.ts';

process.env.MASTRA_TELEMETRY_DISABLED = '1';

/** An agent of Mastra without logs. */
export const agentOf = (model: unknown, more: object = {}): Agent => {
  const agent = new Agent({ id: 'agent', name: 'Agent', instructions: 'Be of use.', model: model as never, ...more });
  new Mastra({ agents: { agent }, logger: false });
  return agent;
};

const weather = createTool({
  id: 'weather',
  description: 'Weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async () => 'sunny',
});

/** Mastra on models of the AI SDK 7. */
export const mastraFrame: Frame<MastraModelConfig> = {
  formats: FORMATS,
  guard: (box, format, [one, two], options, second) =>
    guardModels(box, {
      models: [modelOf(format, { url: one }), { model: modelOf(second, { url: two }, 'fallback'), key: 'second' }],
      ...options,
    }) as MastraModelConfig,
  ask: async (model, isStream, abortSignal) => {
    const agent = agentOf(model);
    if (!isStream) {
      return agent.generate('Hi', { abortSignal: abortSignal as AbortSignal }).then(
        ({ text, error }) => ({ text, error }),
        (error: unknown) => ({ text: '', error }),
      );
    }
    const output = await agent.stream('Hi', { abortSignal: abortSignal as AbortSignal });
    let text = '';
    for await (const part of output.textStream) text += part;
    return { text, error: output.error };
  },
  loop: async (model) => (await agentOf(model, { tools: { weather } }).generate('Weather?')).text,
};
