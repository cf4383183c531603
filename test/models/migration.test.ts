import { guardModels } from '@breakerbox/instrumentation/ai-sdk';
import { guardModels as guardChatModels } from '@breakerbox/instrumentation/langchain';
import { generateText, streamText } from 'ai';
import { createFallback } from 'ai-fallback';
import { createRetryableModel, finishReason, httpStatus } from 'ai-retry/language-model';
import { createAgent, modelFallbackMiddleware } from 'langchain';
import { describe, expect, test, vi } from 'vitest';
import { chatModel } from './frame-langchain.ts';
import {
  answers,
  type Behaviour,
  type LoopbackProvider,
  loopbackProvider,
  refuses,
  sends,
} from './loopback-provider.ts';
import { modelOf, newBox } from './providers.ts';
import { EVENTS, errorBody, HEAD, PIECES, TEXT, WHOLE } from './recordings.ts';

/* docs/models.md, "Coming from another fallback": the program before and after, with the real packages. */

vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);

const overloaded = refuses(529, errorBody('chat', 529, 'overloaded_error', 'Overloaded'));
const SEEN = PIECES.slice(0, 2).join('');
/** The connection ends after two visible parts. */
const cut: Behaviour = sends(EVENTS.chat.slice(0, HEAD.chat + 2).join(''), 'reset');
/** Works again after so many failures. */
const failing = (times: number): Behaviour => {
  let left = times;
  return (call) => {
    left -= 1;
    (left >= 0 ? overloaded : answers)(call);
  };
};

type Model = ReturnType<typeof modelOf>;
interface Pair {
  readonly primary: LoopbackProvider;
  readonly fallback: LoopbackProvider;
  readonly models: [Model, Model];
}

const start = async (): Promise<Pair> => {
  const [primary, fallback] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  return { primary, fallback, models: [modelOf('chat', primary), modelOf('chat', fallback, 'fallback')] };
};
const guarded = (models: Pair['models']): Model => guardModels(newBox(), { models });

const ask = async (model: Model): Promise<string> => (await generateText({ model, prompt: 'Hi', maxRetries: 0 })).text;
const calls = ({ primary, fallback }: Pair) => [primary.calls.length, fallback.calls.length];

/** What the user of a stream sees. */
const seen = async (model: Model) => {
  let text = '';
  let isError = false;
  const onError = (): void => {
    isError = true;
  };
  const { textStream } = streamText({ model, prompt: 'Hi', maxRetries: 0, onError });
  try {
    for await (const piece of textStream) text += piece;
  } catch {
    isError = true;
  }
  return { text, isError };
};

describe('ai-fallback', () => {
  const before = (models: Pair['models']): Model => createFallback({ models }) as unknown as Model;

  test.each([
    ['before: one failure moves all requests to the next model', before, [1, 4]],
    ['after: a model that failed once is asked again', guarded, [4, 1]],
  ] as const)('L2: %s', async (_, make, expected) => {
    const pair = await start();
    const model = make(pair.models);
    pair.primary.behave(failing(1));
    for (let request = 0; request < 4; request += 1) expect(await ask(model)).toBe(TEXT);
    expect(calls(pair)).toEqual(expected);
  });

  test.each([
    ['before: the text that the user saw comes twice', before, { text: SEEN + TEXT, isError: false }],
    ['after: it is an error', guarded, { text: SEEN, isError: true }],
  ] as const)('L4: %s', async (_, make, expected) => {
    const pair = await start();
    pair.primary.behave(cut);
    expect(await seen(make(pair.models))).toEqual(expected);
  });

  test('L1: the list is the same, with provider options for each model', async () => {
    for (const make of [createFallback, (list: object) => guardModels(newBox(), list as never)]) {
      const { primary, models } = await start();
      const [one, other] = models;
      const list = [{ model: one, providerOptions: { openai: { user: 'me' } } }, other];
      await ask(make({ models: list as never }) as unknown as Model);
      expect(primary.calls[0]?.body.user).toBe('me');
    }
  });
});

describe('ai-retry', () => {
  const before = ([model, other]: Pair['models']): Model => createRetryableModel({ model, retries: [other] });

  test.each([
    ['before: each request of an outage asks the first model', before, [6, 6]],
    ['after: the circuit skips it', guarded, [2, 6]],
  ] as const)('L2: %s', async (_, make, expected) => {
    const pair = await start();
    const model = make(pair.models);
    pair.primary.behave(overloaded);
    for (let request = 0; request < 6; request += 1) expect(await ask(model)).toBe(TEXT);
    expect(calls(pair)).toEqual(expected);
  });

  test.each([
    [
      'before: httpStatus(429).retry() waits for the model',
      ([model]: Pair['models']) => createRetryableModel({ model, retries: [httpStatus(429).retry()] }),
    ],
    ["after: so does prefer: 'cache'", (models: Pair['models']) => guardModels(newBox(), { models, prefer: 'cache' })],
  ])('L5: %s', async (_, make) => {
    const pair = await start();
    let asked = 0;
    pair.primary.behave((call) => {
      asked += 1;
      const limited = refuses(429, errorBody('chat', 429, 'rate_limit_exceeded', 'Slow down'), { 'retry-after': '1' });
      (asked === 1 ? limited : answers)(call);
    });
    expect(await ask(make(pair.models))).toBe(TEXT);
    expect(calls(pair)).toEqual([2, 0]);
  });

  test('L1: it can judge the answers of guarded models by their content', async () => {
    const pair = await start();
    const third = await loopbackProvider();
    const model: Model = createRetryableModel({
      model: guarded(pair.models),
      retries: [finishReason('content-filter').switch({ model: modelOf('chat', third, 'third') })],
    });
    const choice = { index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' };
    pair.primary.behave(overloaded);
    expect(await ask(model)).toBe(TEXT);
    pair.fallback.behave(refuses(200, { ...WHOLE.chat, choices: [choice] }));
    expect(await ask(model)).toBe(TEXT);
    expect([...calls(pair), third.calls.length]).toEqual([2, 2, 1]);
  });
});

describe('modelFallbackMiddleware of LangChain', () => {
  const chats = ({ primary, fallback }: Pair) =>
    [
      chatModel(primary.url, 'primary', false, { maxRetries: 0 }),
      chatModel(fallback.url, 'fallback', false, { maxRetries: 0 }),
    ] as const;
  const before = (pair: Pair) => {
    const [model, other] = chats(pair);
    return createAgent({ model, tools: [], middleware: [modelFallbackMiddleware(other)] });
  };
  const after = (pair: Pair) =>
    createAgent({ model: guardChatModels(newBox(), { models: [...chats(pair)] }), tools: [] });
  const hi = { messages: 'Hi' };

  test.each([
    ['before: each request of an outage asks the first model', before, [4, 4]],
    ['after: the circuit skips it', after, [2, 4]],
  ] as const)('L2: %s', async (_, make, expected) => {
    const pair = await start();
    const agent = make(pair);
    pair.primary.behave(overloaded);
    for (let request = 0; request < 4; request += 1) {
      expect((await agent.invoke(hi)).messages.at(-1)?.text).toBe(TEXT);
    }
    expect(calls(pair)).toEqual(expected);
  });

  test.each([
    ['before: a request that is wrong is asked twice', before, [1, 1]],
    ["after: it is the caller's error", after, [1, 0]],
  ] as const)('L3: %s', async (_, make, expected) => {
    const pair = await start();
    for (const one of [pair.primary, pair.fallback]) {
      one.behave(refuses(400, errorBody('chat', 400, 'invalid_value', 'temperature: too high')));
    }
    await expect(make(pair).invoke(hi)).rejects.toThrow(/too high/);
    expect(calls(pair)).toEqual(expected);
  });

  test.each([
    ['before: the text that the user saw comes twice', before, { text: SEEN + TEXT, isError: false }],
    ['after: it is an error', after, { text: SEEN, isError: true }],
  ] as const)('L4: %s', async (_, make, expected) => {
    const pair = await start();
    pair.primary.behave(cut);
    let text = '';
    let isError = false;
    try {
      for await (const [message] of await make(pair).stream(hi, { streamMode: 'messages' })) text += message.text;
    } catch {
      isError = true;
    }
    expect({ text, isError }).toEqual(expected);
  });
});
