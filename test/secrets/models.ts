import type { Breakerbox, Session } from '@breakerbox/core';
import { guardModels, type ModelsUnavailableError } from '@breakerbox/instrumentation';
import { guardModels as guardAiModels } from '@breakerbox/instrumentation/ai-sdk';
import type { Garden } from './plants.ts';
import { failureWith } from './tools.ts';

/** What the users of the models got, and what our own errors say. */
export interface ModelWords {
  readonly answers: readonly string[];
  readonly errors: readonly string[];
}

/** Asks guarded models with secrets in prompts, keys, headers, answers and errors: outages, refused keys, cuts, and answers of a fallback. */
export const askGuardedModels = async (box: Breakerbox, session: Session, garden: Garden): Promise<ModelWords> => {
  const planted = (what: string): string => garden.plant(`models: ${what}`);
  const failing = (status: number) => async (): Promise<never> => {
    throw Object.assign(failureWith(planted), { status });
  };
  const answer = async (prompt: string): Promise<string> => `${planted('answer')} to ${prompt}`;
  const words: { answers: string[]; errors: string[] } = { answers: [], errors: [] };
  const ask = async (run: () => PromiseLike<unknown>): Promise<void> => {
    try {
      words.answers.push(JSON.stringify(await run()));
    } catch (error) {
      // `cause` is the provider's own error, which the documents say.
      const { name, message, stack, models } = error as ModelsUnavailableError;
      if (name.startsWith('Model')) words.errors.push([name, message, stack, JSON.stringify(models)].join('\n'));
    }
  };
  const prompt = planted('prompt');

  const covered = guardModels(box, {
    models: [
      { name: 'openai/down', call: failing(503) },
      { name: 'mistral/refused', call: failing(401) },
      { name: 'anthropic/up', call: answer },
    ],
    session,
  });
  const none = guardModels(box, {
    models: [
      { name: 'xai/down', call: failing(529) },
      { name: 'groq/limited', call: failing(429) },
    ],
  });
  const cut = guardModels(box, {
    models: [
      {
        name: 'google/cut',
        call: async function* (asked: string) {
          yield `${planted('answer')} to ${asked}`;
          throw failureWith(planted);
        },
      },
    ],
  });
  for (let request = 0; request < 3; request += 1) {
    await ask(() => covered(prompt));
    await ask(() => none(prompt));
    await ask(async () => {
      for await (const part of await cut(prompt)) words.answers.push(part);
    });
    await ask(() => aiModel(box, session, planted).doGenerate(callWith(planted)));
  }
  return words;
};

const callWith = (planted: (what: string) => string) => ({
  prompt: [{ role: 'user', content: [{ type: 'text', text: planted('prompt') }] }],
  headers: { authorization: planted('header of a call') },
  providerOptions: { openai: { user: planted('provider option') } },
});

/** Two models of the AI SDK: one whose error has what the SDK keeps in it, and one that answers. */
const aiModel = (box: Breakerbox, session: Session, planted: (what: string) => string) => {
  const base = { specificationVersion: 'v4' as const, provider: 'openai.chat', supportedUrls: {}, doStream: unused };
  const refused = async () => {
    throw Object.assign(new Error(planted('message')), {
      name: 'AI_APICallError',
      statusCode: 529,
      url: `https://api.example/?key=${planted('URL')}`,
      requestBodyValues: { messages: [planted('prompt')] },
      responseBody: JSON.stringify({ error: { message: planted('body'), code: planted('code') } }),
      responseHeaders: { 'set-cookie': planted('header of an answer'), 'retry-after': planted('retry-after') },
    });
  };
  const answers = async () => ({
    content: [{ type: 'text', text: planted('answer') }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } },
    warnings: [],
    response: { headers: { 'set-cookie': planted('header of an answer') } },
  });
  const models = [
    { ...base, modelId: 'ai-down', doGenerate: refused },
    { ...base, provider: 'anthropic', modelId: 'ai-up', doGenerate: answers },
  ];
  return guardAiModels(box, { models, session }) as unknown as { doGenerate(call: object): PromiseLike<unknown> };
};

const unused = (): never => {
  throw new Error('This model is not asked for a stream.');
};
