import { ATTR, createBreakerbox } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test, vi } from 'vitest';
import { breakerPrepareStep, guardModels as guardAiModels, guardTools } from '../ai-sdk/ai-sdk.ts';
import { withSession } from '../session.ts';
import { startTracing, stopTracing } from '../test-support/tracing.ts';
import { guardModels } from './guard-models.ts';
import { RunLimitError } from './models-unavailable.ts';

const boxOf = (config: object = {}) => createBreakerbox({ agent: 'limited', ...config });
const OK = { outcome: 'success' } as const;

/** A model that answers `answer`, and fails while it is an error. */
const one = (answer: { now: unknown }) => {
  const call = vi.fn(async () => {
    if (answer.now instanceof Error) throw answer.now;
    return answer.now;
  });
  return { name: 'a/one', call };
};

test('D2: after the pause of a limit a model answers once more, then fails, and goes on once the limit is extended', async () => {
  const box = boxOf();
  const session = box.session({ limits: { calls: 1 } });
  const model = one({ now: 'yes' });
  const ask = guardModels(box, { models: [model], session });
  for (let i = 0; i < 3; i += 1) expect(await ask('q')).toBe('yes');
  session.acquire('search').settle(OK);
  expect(session.acquire('search').reason).toBe('limit_reached');
  expect(await ask('report')).toBe('yes');
  const error = await ask('more').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RunLimitError);
  expect(error).toMatchObject({ limit: 'calls', isRetryable: false, code: 'BREAKERBOX_RUN_LIMIT' });
  expect((error as Error).message).toBe(
    "No model was asked: this run has used 1 of 1 tool calls, and its model has no answer left. Extend the limit by session.extend('calls', …), or end the run.",
  );
  expect(model.call).toHaveBeenCalledTimes(4);
  session.extend('calls', 1);
  for (let i = 0; i < 3; i += 1) expect(await ask('q')).toBe('yes');
});

test('D2, C1: while all tools are only observed, a limit stops no model', async () => {
  const box = boxOf({ tools: { search: { mode: 'observe_only' } } });
  const session = box.session({ limits: { calls: 1 } });
  const ask = guardModels(box, { models: [one({ now: 'yes' })], session });
  for (let i = 0; i < 3; i += 1) {
    session.acquire('search').settle(OK);
    expect(await ask('q')).toBe('yes');
  }
});

test('D2: a last answer that fails may be asked for again', async () => {
  const box = boxOf();
  const session = box.session({ limits: { calls: 1 } });
  session.acquire('search').settle(OK);
  const answer: { now: unknown } = { now: Object.assign(new Error('no'), { status: 503 }) };
  const ask = guardModels(box, { models: [one(answer)], session });
  await expect(ask('report')).rejects.toThrow('no');
  answer.now = 'yes';
  expect(await ask('report')).toBe('yes');
  await expect(ask('more')).rejects.toThrow(RunLimitError);
});

test('D2: each run of a tree has a last answer of its own, and a budget that is spent stops no model', async () => {
  const box = boxOf({ budget: { failures: 1 } });
  const session = box.session({ limits: { calls: 1 } });
  const child = session.child();
  session.acquire('search').settle(OK);
  const ask = guardModels(box, { models: [one({ now: 'yes' })] });
  for (const run of [session, child]) {
    expect(await withSession(run, () => ask('report'))).toBe('yes');
    await expect(withSession(run, () => ask('more'))).rejects.toThrow(RunLimitError);
  }
  const spent = box.session({});
  spent.acquire('search').settle({ outcome: 'failure', category: 'network' });
  expect(spent.acquire('search').decision).toBe('pause');
  for (let i = 0; i < 3; i += 1) expect(await withSession(spent, () => ask('q'))).toBe('yes');
});

/** A model that calls its tool until it may not, and the turns that it had without tools. */
const eager = () => {
  const usage = {
    inputTokens: { total: 800, noCache: 800, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 200, text: 200, reasoning: 0 },
  };
  let calls = 0;
  return new MockLanguageModelV4({
    doGenerate: async ({ toolChoice }) => {
      const call = { type: 'tool-call', toolCallId: `c${++calls}`, toolName: 'search', input: '{}' } as const;
      return toolChoice?.type === 'none'
        ? {
            content: [{ type: 'text', text: 'report' }],
            finishReason: { unified: 'stop', raw: '' },
            usage,
            warnings: [],
          }
        : { content: [call], finishReason: { unified: 'tool-calls', raw: '' }, usage, warnings: [] };
    },
  });
};

test.each([30_000, 100_000])(
  'D2, D3: each of 30 sub-agents side by side reports, with %i tokens for all',
  async (tokens) => {
    const box = boxOf();
    const session = box.session({ limits: { tokens } });
    const inputSchema = jsonSchema({ type: 'object', properties: {} });
    const run = async () => {
      const child = session.child();
      const model = guardAiModels(box, { models: [eager()], session: child });
      const tools = guardTools({ search: tool({ inputSchema, execute: async () => 'r' }) }, child);
      const prepareStep = breakerPrepareStep(child);
      return (await generateText({ model, tools, prepareStep, prompt: 'go', stopWhen: stepCountIs(50) })).text;
    };
    expect(await Promise.all(Array.from({ length: 30 }, run))).toEqual(Array.from({ length: 30 }, () => 'report'));
  },
);

const usedBy = (session: ReturnType<ReturnType<typeof boxOf>['session']>) =>
  session.view().limits?.map(({ limit, used, estimated }) => [limit, used, estimated]);

const PRICE = { input: 1_000_000, output: 3_000_000, currency: 'USD' };

test('D3: what a model uses counts in tokens and money, by its price, in streams too', async () => {
  const box = boxOf({ models: { 'mock-provider/mock-model-id': { price: PRICE } } });
  const session = box.session({ limits: { tokens: 100, cost: { amount: 100, currency: 'USD' } } });
  const model = guardAiModels(box, { models: [scriptedModel(['One.', 'Two.']).model], session });
  const { providerMetadata } = await generateText({ model, prompt: 'q' });
  expect(providerMetadata?.breakerbox).toMatchObject({ spent: true });
  expect(usedBy(session)).toEqual([
    ['tokens', 2, 0],
    ['cost', 4, 0],
  ]);
  expect(await streamText({ model, prompt: 'q' }).text).toBe('Two.');
  expect(usedBy(session)).toEqual([
    ['tokens', 4, 0],
    ['cost', 8, 0],
  ]);
});

test('D3: money of another currency is not counted, and an answer without a run says nothing of one', async () => {
  const box = boxOf({ models: { 'mock-provider/mock-model-id': { price: { ...PRICE, currency: 'EUR' } } } });
  const session = box.session({ limits: { cost: { amount: 100, currency: 'USD' } } });
  const model = guardAiModels(box, { models: [scriptedModel(['One.', 'Two.']).model] });
  await withSession(session, () => generateText({ model, prompt: 'q' }));
  expect(usedBy(session)).toEqual([['cost', 0, 0]]);
  const { providerMetadata } = await generateText({ model, prompt: 'q' });
  expect(providerMetadata?.breakerbox).not.toHaveProperty('spent');
});

test('D3: a request that a provider refused is free, and one of unknown cost keeps its estimate', async () => {
  const box = boxOf();
  const session = box.session({ limits: { tokens: 1_000 } });
  const answer: { now: Error } = { now: Object.assign(new Error('no'), { status: 503 }) };
  const failing = new MockLanguageModelV4({ doGenerate: () => Promise.reject(answer.now) });
  const model = guardAiModels(box, { models: [failing], session });
  const ask = () => generateText({ model, prompt: 'q', maxRetries: 0, maxOutputTokens: 70 });
  await expect(ask()).rejects.toThrow();
  expect(usedBy(session)).toEqual([['tokens', 0, 0]]);
  answer.now = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  const other = guardAiModels(box, { models: [{ model: failing, name: 'a/other' }], session });
  await expect(generateText({ model: other, prompt: 'q', maxRetries: 0, maxOutputTokens: 70 })).rejects.toThrow();
  expect(usedBy(session)).toEqual([['tokens', 20, 20]]);
});

test("D7: the span of a sub-agent's model belongs to the conversation of the root", async () => {
  const traced = startTracing();
  const box = boxOf();
  const child = box.session({ id: 'root' }).child({ id: 'child' });
  await withSession(child, () => guardModels(box, { models: [one({ now: 'yes' })] })('q'));
  stopTracing();
  expect(traced.attributes('chat one').map((all) => all[ATTR.conversation])).toEqual(['root']);
});
