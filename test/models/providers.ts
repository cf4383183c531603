import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { type Breakerbox, type BreakerboxConfig, createBreakerbox } from '@breakerbox/core';
import { type AiModel, type GuardModelsOptions, guardModels } from '@breakerbox/instrumentation/ai-sdk';
import { createAnthropic as createAnthropic5 } from 'ai-5-anthropic';
import { createOpenAI as createOpenAI5 } from 'ai-5-openai';
import { createAnthropic as createAnthropic6 } from 'ai-6-anthropic';
import { createOpenAI as createOpenAI6 } from 'ai-6-openai';
import { type LoopbackProvider, loopbackProvider } from './loopback-provider.ts';
import type { WireFormat } from './recordings.ts';

/** How a client reaches a provider: by HTTP, or by a function in its place. */
export interface Wire {
  readonly url?: string;
  readonly fetch?: typeof globalThis.fetch;
}

/** A model of the AI SDK 7 that speaks a wire format. */
export const modelOf = (
  format: WireFormat,
  { url = 'http://localhost', fetch }: Wire,
  id = 'primary',
): ReturnType<ReturnType<typeof createOpenAI>['chat']> => {
  const settings = { baseURL: `${url}/v1`, apiKey: 'test-key', ...(fetch && { fetch }) };
  if (format === 'chat') return createOpenAI(settings).chat(id);
  if (format === 'responses') return createOpenAI(settings).responses(id);
  if (format === 'messages') return createAnthropic(settings)(id);
  return createGoogleGenerativeAI({ ...settings, baseURL: `${url}/v1beta` })(id);
};

/** Models of the AI SDK 5 and 6. */
export const OLDER: Readonly<
  Record<5 | 6, Readonly<Record<'chat' | 'messages', (url: string, id: string) => AiModel>>>
> = {
  5: {
    chat: (url, id) => createOpenAI5({ baseURL: `${url}/v1`, apiKey: 'k' }).chat(id),
    messages: (url, id) => createAnthropic5({ baseURL: `${url}/v1`, apiKey: 'k' })(id),
  },
  6: {
    chat: (url, id) => createOpenAI6({ baseURL: `${url}/v1`, apiKey: 'k' }).chat(id),
    messages: (url, id) => createAnthropic6({ baseURL: `${url}/v1`, apiKey: 'k' })(id),
  },
};

/** Two guarded models of one wire format, each with a provider of its own. */
export interface Pair {
  readonly box: Breakerbox;
  readonly primary: LoopbackProvider;
  readonly fallback: LoopbackProvider;
  readonly model: ReturnType<typeof modelOf>;
}

let boxes = 0;

/** A box with a name of its own, because series are counted by agent. */
export const newBox = (config: Partial<BreakerboxConfig> = {}): Breakerbox => {
  boxes += 1;
  return createBreakerbox({ agent: `models-${boxes}`, ...config });
};

/** Starts both providers. */
export const pairOf = async (format: WireFormat, options: GuardModelsOptions = {}): Promise<Pair> => {
  const [primary, fallback] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const box = newBox();
  const models = [modelOf(format, primary), { model: modelOf(format, fallback, 'fallback'), key: 'second' }];
  return { box, primary, fallback, model: guardModels(box, { models, ...options }) };
};
