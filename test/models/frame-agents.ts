import { guardModels } from '@breakerbox/instrumentation/openai-agents';
import { Agent, type Model, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';
import type { Frame } from './frames.ts';

// The client of OpenAI logs the events that it cannot read.
process.env.OPENAI_LOG = 'off';

/** No traces: they would be sent to OpenAI. */
export const runner = new Runner({ tracingDisabled: true });

/** A model whose client retries unless it is told not to. */
export const agentsModel = (url: string, id: string, useResponses: boolean): Promise<Model> =>
  new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: 'test-key', useResponses }).getModel(id);

const weather = tool({
  name: 'weather',
  description: 'Weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async () => 'sunny',
});

/** OpenAI Agents with the models of its own package. */
export const agentsFrame: Frame<Model> = {
  formats: ['chat', 'responses'],
  guard: async (box, format, [one, two], options, second) =>
    guardModels(box, {
      models: [
        { model: await agentsModel(one, 'primary', format === 'responses'), name: 'openai/primary' },
        { model: await agentsModel(two, 'fallback', second === 'responses'), name: 'openai/fallback', key: 'second' },
      ],
      ...options,
    }),
  ask: async (model, isStream, signal) => {
    const agent = new Agent({ name: 'agent', model });
    let text = '';
    const options = signal === undefined ? {} : { signal };
    try {
      if (!isStream) return { text: (await runner.run(agent, 'Hi', options)).finalOutput ?? '', error: undefined };
      const result = await runner.run(agent, 'Hi', { stream: true, ...options });
      for await (const piece of result.toTextStream()) text += piece;
      await result.completed;
      return { text, error: result.error ?? undefined };
    } catch (error) {
      return { text, error };
    }
  },
  loop: async (model) => {
    const { finalOutput } = await runner.run(new Agent({ name: 'agent', model, tools: [weather] }), 'Weather?');
    return finalOutput ?? '';
  },
};
