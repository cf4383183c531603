import { guardModels } from '@breakerbox/instrumentation/langchain';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import type { Frame } from './frames.ts';

// The client of OpenAI logs the events that it cannot read.
process.env.OPENAI_LOG = 'off';

/** A model that retries unless it is told not to. */
export const chatModel = (url: string, model: string, useResponsesApi: boolean, more: object = {}): ChatOpenAI =>
  new ChatOpenAI({ model, apiKey: 'test-key', useResponsesApi, configuration: { baseURL: `${url}/v1` }, ...more });

const weather = tool(async () => 'sunny', {
  name: 'weather',
  description: 'Weather of a city',
  schema: z.object({ city: z.string() }),
});

/** LangChain with OpenAI's models. */
export const langchainFrame: Frame<BaseChatModel> = {
  formats: ['chat', 'responses'],
  guard: (box, format, [one, two], options, second) =>
    guardModels(box, {
      models: [
        chatModel(one, 'primary', format === 'responses'),
        { model: chatModel(two, 'fallback', second === 'responses'), key: 'second' },
      ],
      ...options,
    }),
  ask: async (model, isStream, signal) => {
    let text = '';
    const options = signal === undefined ? {} : { signal };
    try {
      if (!isStream) return { text: (await model.invoke('Hi', options)).text, error: undefined };
      for await (const chunk of await model.stream('Hi', options)) text += chunk.text;
      return { text, error: undefined };
    } catch (error) {
      return { text, error };
    }
  },
  loop: async (model) => {
    const { messages } = await createAgent({ model, tools: [weather] }).invoke({ messages: 'Weather?' });
    return messages.at(-1)?.text ?? '';
  },
};
