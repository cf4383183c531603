import { createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation';
import { guardModels as guardAiSdk } from '@breakerbox/instrumentation/ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import { worked } from './cpu.ts';

/**
 * What `guardModels` takes of the processor for a request, before it and after, and for each part of a stream, beside the same model
 * without it (L4).
 */

const NS_PER_US = 1e3;
const ROUNDS = 9;
const REQUESTS = 5_000;
const STREAMS = 10;
const PARTS = 2_000;

const MOST = { request: 5, part: 1 };

const answer = async (prompt: string): Promise<string> => prompt;

async function* parts(): AsyncGenerator<string> {
  for (let part = 0; part < PARTS; part += 1) yield 'word';
}

const guarded = <Answer>(call: (prompt: string) => Answer | PromiseLike<Answer>) =>
  guardModels(createBreakerbox({ agent: 'bench' }), {
    models: [
      { name: 'openai/gpt-5', call },
      { name: 'anthropic/claude-opus-5', call },
    ],
  });

type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

const usage = {
  inputTokens: { total: 11, noCache: 11, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 7, text: 7, reasoning: undefined },
};
const finishReason = { unified: 'stop', raw: 'stop' } as const;

/** What a provider's model of the AI SDK streams. */
const streamParts = () => {
  let part = 0;
  return new ReadableStream<StreamPart>({
    pull: (controller) => {
      if (part === 0) {
        controller.enqueue({ type: 'stream-start', warnings: [] });
        controller.enqueue({ type: 'text-start', id: '0' });
      }
      part += 1;
      if (part <= PARTS) return controller.enqueue({ type: 'text-delta', id: '0', delta: 'word' });
      controller.enqueue({ type: 'text-end', id: '0' });
      controller.enqueue({ type: 'finish', usage, finishReason });
      controller.close();
    },
  });
};

type Generate = MockLanguageModelV4['doGenerate'];
const answered: Generate = async () => ({
  content: [{ type: 'text', text: 'Hi' }],
  finishReason,
  usage,
  warnings: [],
});
const hangs: Generate = () => new Promise(() => {});

/** A model of the AI SDK without a provider behind it. */
const aiModel = (modelId: string, doGenerate = answered): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    modelId,
    doGenerate,
    doStream: async () => ({ stream: streamParts() }),
  });

const options = (): Parameters<MockLanguageModelV4['doStream']>[0] => ({
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
});

const askAll = async (ask: (prompt: string) => PromiseLike<unknown>): Promise<number> => {
  const before = worked();
  for (let request = 0; request < REQUESTS; request += 1) await ask('Hi');
  return (worked() - before) / REQUESTS / NS_PER_US;
};

const readAll = async (open: () => PromiseLike<AsyncIterable<unknown>>): Promise<number> => {
  const before = worked();
  for (let stream = 0; stream < STREAMS; stream += 1) for await (const _ of await open());
  return (worked() - before) / STREAMS / PARTS / NS_PER_US;
};

/** Up to the call of the model, which never answers. */
const beginAll = async (ask: () => PromiseLike<unknown>): Promise<number> => {
  const before = worked();
  for (let request = 0; request < REQUESTS / 5; request += 1) void ask();
  return (worked() - before) / (REQUESTS / 5) / NS_PER_US;
};

/** The median of the differences: each round measures both, one after the other. */
const added = async (bare: () => Promise<number>, own: () => Promise<number>): Promise<number> => {
  const differences: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const [without, withGuard] = [await bare(), await own()];
    if (round >= 0) differences.push(withGuard - without);
  }
  return differences.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0;
};

const row = (what: string, us: number, most: number): string =>
  `${what.padEnd(34)}${us.toFixed(2).padStart(8)} µs   at most ${most} µs   ${us <= most ? 'kept' : 'NOT KEPT'}`;

/** What `pnpm bench -- models` prints. */
export const modelsReport = async (): Promise<string> => {
  const ask = guarded(answer);
  const stream = guarded((_: string): AsyncIterable<string> => parts());
  const request = await added(
    () => askAll(answer),
    () => askAll(ask),
  );
  const part = await added(
    () => readAll(async () => parts()),
    () => readAll(() => stream('Hi')),
  );
  const bare = aiModel('bare');
  const guardSdk = (of?: Generate) =>
    guardAiSdk(createBreakerbox({ agent: 'bench' }), { models: [aiModel('gpt-5', of), aiModel('gpt-5-mini', of)] });
  const own = guardSdk();
  const requestOfSdk = await added(
    () => askAll(() => bare.doGenerate(options())),
    () => askAll(() => own.doGenerate(options())),
  );
  const [bareHangs, ownHangs] = [aiModel('bare', hangs), guardSdk(hangs)];
  const beforeOfSdk = await added(
    () => beginAll(() => bareHangs.doGenerate(options())),
    () => beginAll(() => ownHangs.doGenerate(options())),
  );
  const partOfSdk = await added(
    () => readAll(async () => (await bare.doStream(options())).stream),
    () => readAll(async () => (await own.doStream(options())).stream),
  );
  return [
    'Processor time that guardModels() adds, healthy models, no telemetry SDK:',
    row('functions: a request', request, MOST.request),
    row('functions: a part of a stream', part, MOST.part),
    row('AI SDK: before a request', beforeOfSdk, MOST.request),
    `${'AI SDK: before a request and after'.padEnd(34)}${requestOfSdk.toFixed(2).padStart(8)} µs`,
    row('AI SDK: a part of a stream', partOfSdk, MOST.part),
    '',
  ].join('\n');
};
