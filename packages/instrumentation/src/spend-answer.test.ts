import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { generateText, isStepCount, streamText, tool } from 'ai';
import { createAgent, toolStrategy } from 'langchain';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { watchWarnings } from '../../core/src/test-support.ts';
import { breakerPrepareStep, breakerStepEnd, breakerTelemetry, guardModels, guardTools } from './ai-sdk/ai-sdk.ts';
import { guardQuery } from './claude-agent/claude-agent.ts';
import { BreakerPlugin, breakerCallbacks } from './google-adk/google-adk.ts';
import { breakerMiddleware } from './langchain/langchain.ts';
import { breakerProcessor } from './mastra/mastra.ts';
import { adkRun, toolOf } from './test-support/adk-run.ts';
import { agentOf, search as mastraSearch } from './test-support/mastra-agent.ts';
import { type Watched, watchedSession } from './test-support/watched-session.ts';

const ask = (q: string) => [{ tool: 'search', input: { q } }];
/** Each of its three turns uses 2 tokens. */
const SCRIPT = [ask('a'), ask('b'), 'Done.'];
const limited = () => watchedSession({ limits: { tokens: 100, steps: 50 } });
const tokensOf = ({ session }: Pick<Watched, 'session'>) =>
  session.view().limits?.find(({ limit }) => limit === 'tokens')?.used;

describe('D3: AI SDK', () => {
  const search = tool({ inputSchema: z.object({ q: z.string() }), execute: async () => 'found' });
  const settingsOf = ({ session }: Watched) => ({
    model: scriptedModel(SCRIPT).model,
    tools: guardTools({ search }, session),
    stopWhen: isStepCount(10),
    prompt: 'go',
  });

  test('breakerPrepareStep counts each step before the next, and breakerStepEnd the last one, once', async () => {
    const watched = limited();
    const { session } = watched;
    await generateText({ ...settingsOf(watched), prepareStep: breakerPrepareStep(session) });
    expect(tokensOf(watched)).toBe(4);
    const both = { prepareStep: breakerPrepareStep(session), onStepEnd: breakerStepEnd(session) };
    await generateText({ ...settingsOf(watched), ...both });
    expect(tokensOf(watched)).toBe(4 + 6);
    await streamText({ ...settingsOf(watched), ...both }).text;
    expect(tokensOf(watched)).toBe(4 + 6 + 6);
  });

  test('breakerTelemetry counts all steps, and nothing twice', async () => {
    const watched = limited();
    const { session } = watched;
    const telemetry = { integrations: [breakerTelemetry(session)] };
    const both = { prepareStep: breakerPrepareStep(session), onStepEnd: breakerStepEnd(session) };
    await generateText({ ...settingsOf(watched), ...both, telemetry });
    expect(tokensOf(watched)).toBe(6);
  });

  test('a guarded model counts by itself, and no adapter counts it again', async () => {
    const watched = limited();
    const { box, session } = watched;
    const settings = settingsOf(watched);
    const model = guardModels(box, { models: [settings.model], session });
    const telemetry = { integrations: [breakerTelemetry(session)] };
    await generateText({ ...settings, model, prepareStep: breakerPrepareStep(session), telemetry });
    expect(tokensOf(watched)).toBe(6);
    const again = {
      ...settingsOf(watched),
      prepareStep: breakerPrepareStep(session),
      onStepEnd: breakerStepEnd(session),
    };
    await streamText({ ...again, model: guardModels(box, { models: [again.model], session }) }).text;
    expect(tokensOf(watched)).toBe(6 + 6);
    // A guard that knows no run counts nothing, so the adapter does.
    await generateText({ ...again, model: guardModels(box, { models: [scriptedModel(SCRIPT).model] }) });
    expect(tokensOf(watched)).toBe(6 + 6 + 6);
  });
});

test('D3: LangChain counts usage_metadata of each answer', async () => {
  const watched = limited();
  const usage_metadata = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
  const model = fakeModel().respond(new AIMessage({ content: 'Done.', usage_metadata } as never));
  await createAgent({ model, tools: [], middleware: [breakerMiddleware(watched.session)] }).invoke({ messages: 'go' });
  expect(tokensOf(watched)).toBe(7);
});

test('D3: LangChain counts answers with structured output, valid or not', async () => {
  const watched = limited();
  const usage_metadata = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
  const answer = (args: object, id: string) =>
    new AIMessage({ content: '', usage_metadata, tool_calls: [{ name: 'extract', args, id }] } as never);
  const responseFormat = toolStrategy({
    title: 'extract',
    type: 'object',
    properties: { v: { type: 'number' } },
    required: ['v'],
  });
  const model = fakeModel()
    .respond(answer({ v: 'none' }, '1'))
    .respond(answer({ v: 1 }, '2'));
  const agent = createAgent({ model, tools: [], responseFormat, middleware: [breakerMiddleware(watched.session)] });
  const { structuredResponse } = await agent.invoke({ messages: 'go' });
  expect(structuredResponse).toEqual({ v: 1 });
  expect(tokensOf(watched)).toBe(14);
});

test.each([
  ['before the next one', false, 4],
  ['and the last one, among outputProcessors too', true, 6],
])('D3: Mastra counts each step %s', async (_, isOutput, tokens) => {
  const watched = limited();
  const processor = breakerProcessor(watched.session);
  const { agent } = agentOf(SCRIPT, {
    tools: { search: mastraSearch(async () => 'found') },
    inputProcessors: [processor],
    ...(isOutput && { outputProcessors: [processor] }),
  });
  await agent.generate('go');
  expect(tokensOf(watched)).toBe(tokens);
});

test('D3: Google ADK counts each answer once, by plugin and callbacks', async () => {
  const watched = limited();
  const { session } = watched;
  const search = () => toolOf('search', async () => 'found');
  await (await adkRun(SCRIPT, [search()], [new BreakerPlugin(session)])).say('go');
  expect(tokensOf(watched)).toBe(6);
  await (await adkRun(SCRIPT, [search()], [new BreakerPlugin(session)], breakerCallbacks(session))).say('go');
  expect(tokensOf(watched)).toBe(12);
});

describe('D3: guardQuery', () => {
  const result = (session_id: string, tokens: number, total_cost_usd: number) => ({
    type: 'result',
    session_id,
    total_cost_usd,
    modelUsage: {
      haiku: { inputTokens: tokens, outputTokens: 0, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 },
      opus: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 3, cacheCreationInputTokens: 4 },
    },
  });
  const crash = (session_id: string) => ({ type: 'result', session_id, total_cost_usd: 0, modelUsage: {} });
  const limitedInMoney = () => watchedSession({ limits: { tokens: 10_000, cost: { amount: 5, currency: 'USD' } } });
  /** @param before What Claude Code says that the conversation has used so far. */
  const read = async ({ session }: Watched, results: readonly object[], before?: () => Promise<unknown>) => {
    const running = Object.assign(
      (async function* () {
        await Promise.resolve(); // As in Claude Code, a question is answered before the prompt.
        yield* results;
      })(),
      {
        close: () => {},
        ...(before && { usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET: before }),
      },
    );
    for await (const _ of guardQuery(running as unknown as Query, session));
    return session.view().limits?.map(({ used }) => used);
  };

  test('counts what is new in each result of Claude Code', async () => {
    const results = [result('one', 10, 0.5), result('one', 50, 1.5), result('two', 5, 0.25), result('two', 1, 0.125)];
    expect(await read(limitedInMoney(), results)).toEqual([20 + 40 + 15 + 11, 0.5 + 1 + 0.25 + 0.125]);
  });

  test('counts all of a conversation that /clear has begun, also if it uses more', async () => {
    const results = [result('before', 10, 0.5), result('cleared', 50, 1.5)];
    expect(await read(limitedInMoney(), results)).toEqual([20 + 60, 0.5 + 1.5]);
  });

  test('leaves out what a resumed or forked conversation used before', async () => {
    const { modelUsage: model_usage, total_cost_usd } = result('begun', 90, 0.5);
    const before = async () => ({ session: { model_usage, total_cost_usd } });
    expect(await read(limitedInMoney(), [result('fork', 120, 0.75), result('fork', 121, 0.75)], before)).toEqual([
      31, 0.25,
    ]);
  });

  test('counts each query from 0 with versions that begin there, or cannot tell', async () => {
    const results = [result('begun', 90, 0.5)];
    for (const before of [undefined, () => Promise.reject(new Error('closed')), async () => ({}), async () => null]) {
      expect(await read(limitedInMoney(), results, before)).toEqual([100, 0.5]);
    }
  });

  test('warns once if the limit of money is in another currency than dollars', async () => {
    const warned = watchWarnings();
    const watched = watchedSession({ agent: 'euro', limits: { cost: { amount: 5, currency: 'EUR' } } });
    expect(await read(watched, [result('euro', 90, 0.5), result('euro', 120, 0.75)])).toEqual([0]);
    expect(warned()).toEqual([
      "BREAKERBOX_OTHER_CURRENCY: The cost that the Claude Agent SDK reports is in USD, but the limit of cost of agent 'euro' is in EUR, so the limit counts none of this money. Give both in the same currency.",
    ]);
  });

  test('learns nothing from the empty result of a crash', async () => {
    const results = [result('crashed', 90, 0.5), crash('crashed'), result('crashed', 120, 0.75)];
    expect(await read(limitedInMoney(), results)).toEqual([130, 0.75]);
  });
});
