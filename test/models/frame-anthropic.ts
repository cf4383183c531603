import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { guardModels } from '@breakerbox/instrumentation/anthropic';
import { z } from 'zod';
import type { Frame } from './frames.ts';

export const clientOf = (baseURL: string, more: object = {}): Anthropic =>
  new Anthropic({ baseURL, apiKey: 'test-key', logLevel: 'off', ...more });

export const REQUEST = { model: 'primary', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };

const weather = betaZodTool({
  name: 'weather',
  description: 'Weather of a city',
  inputSchema: z.object({ city: z.string() }),
  run: async () => 'sunny',
});

/** Anthropic's SDK, whose client retries unless it is told not to. */
export const anthropicFrame: Frame<Anthropic> = {
  formats: ['messages'],
  guard: (box, _, [one, two], options) =>
    guardModels(box, {
      models: [
        { client: clientOf(one), model: 'primary', name: 'anthropic/primary' },
        { client: clientOf(two), model: 'fallback', name: 'anthropic/fallback', key: 'second' },
      ],
      ...options,
    }),
  ask: async (client, isStream, signal) => {
    let text = '';
    try {
      if (!isStream) {
        const { content } = await client.messages.create(REQUEST, { signal });
        return { text: content.map((one) => (one.type === 'text' ? one.text : '')).join(''), error: undefined };
      }
      for await (const event of await client.messages.create({ ...REQUEST, stream: true }, { signal })) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
      }
      return { text, error: undefined };
    } catch (error) {
      return { text, error };
    }
  },
  loop: async (client) => {
    const { content } = await client.beta.messages.toolRunner({ ...REQUEST, tools: [weather] });
    return content.map((one) => (one.type === 'text' ? one.text : '')).join('');
  },
};
