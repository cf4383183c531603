import { breakerPrepareStep, guardModels, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { APICallError, generateText, isStepCount, jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { TakeTurn } from '../agent/meter.ts';
import type { Arguments } from '../airline/tools.ts';
import { type Provider, StatusError } from '../world/client.ts';
import { ANY_OBJECT, eachTool, INSTRUCTIONS, type Loop, MOST_TURNS } from './loop.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** The result of the last call; undefined in the first turn. */
const lastResult = (prompt: readonly Message[]): string | undefined => {
  const last = prompt.at(-1);
  if (last?.role !== 'tool') return undefined;
  const [{ output }] = last.content as [{ readonly output: { readonly value: unknown } }];
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
};

/** As the packages of providers throw it. */
const asApiError = (error: unknown): never => {
  if (!(error instanceof StatusError)) throw error;
  const { message, status: statusCode } = error;
  throw new APICallError({ message, statusCode, url: 'http://127.0.0.1', requestBodyValues: {} });
};

const modelOf = (takeTurn: TakeTurn, provider: Provider = 'first'): MockLanguageModelV4 => {
  let made = 0;
  return new MockLanguageModelV4({
    provider,
    doGenerate: async ({ prompt, tools }) => {
      const system = prompt.map(({ role, content }) => (role === 'system' ? content : '')).join('\n');
      const turn = await takeTurn([prompt, tools], lastResult(prompt as readonly Message[]), system, provider).catch(
        asApiError,
      );
      if ('text' in turn) {
        const content = [{ type: 'text' as const, text: turn.text }];
        return { content, finishReason: { unified: 'stop' as const, raw: undefined }, usage, warnings: [] };
      }
      made += 1;
      const { tool: toolName, input } = turn.call;
      const call = { type: 'tool-call' as const, toolCallId: `call-${made}`, toolName, input: JSON.stringify(input) };
      return { content: [call], finishReason: { unified: 'tool-calls' as const, raw: undefined }, usage, warnings: [] };
    },
  });
};

export const aiSdkLoop: Loop = async (request, takeTurn, { call, session, inPlace = [], models, own }) => {
  const tools = Object.fromEntries(
    eachTool((name) =>
      tool({
        description: name,
        inputSchema: jsonSchema<Arguments>(ANY_OBJECT),
        execute: (given, { abortSignal }) => call(name, given, abortSignal),
      }),
    ),
  );
  const common = {
    model: models
      ? guardModels(models, { models: [modelOf(takeTurn), modelOf(takeTurn, 'second')] })
      : modelOf(takeTurn),
    ...(!own && { maxRetries: 0 }),
    instructions: INSTRUCTIONS,
    prompt: request,
    stopWhen: isStepCount(MOST_TURNS),
  };
  if (session === undefined) await generateText({ ...common, tools });
  else
    await generateText({
      ...common,
      tools: guardTools(tools, session, { inPlace, toolApproval: {} }),
      prepareStep: breakerPrepareStep(session),
    });
};
