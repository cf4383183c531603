import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ErrorCategory } from '@breakerbox/core';
import {
  EmptyResponseBodyError,
  generateText,
  InvalidResponseDataError,
  InvalidToolInputError,
  NoSuchToolError,
  Output,
  RetryError,
  type ToolSet,
  tool,
} from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { categoryOf, failingUrl, NOW, refusedUrl, thrownBy } from '../../test-support/classify/failing.ts';
import { classifyError } from '../../test-support/classify/verdicts.ts';

/** A model behind a real HTTP server, asked the way a tool asks that has a model inside. */
const ask = (baseURL: string, options: { maxRetries?: number; timeout?: number; abortSignal?: AbortSignal } = {}) =>
  generateText({
    model: createOpenAICompatible({ name: 'inner', baseURL, apiKey: 'none' })('m'),
    prompt: 'go',
    maxRetries: 0,
    ...options,
  });

describe("O2: the AI SDK's own errors, made by the AI SDK", () => {
  const STATUSES: readonly (readonly [number, ErrorCategory])[] = [
    [400, 'invalid_input'],
    [401, 'permission'],
    [404, 'invalid_input'],
    [429, 'rate_limit'],
    [500, 'server'],
    [503, 'server'],
    [504, 'timeout'],
  ];

  it.each(STATUSES)('O2: APICallError with status %i is %s, and has its Retry-After', async (status, wanted) => {
    const url = await failingUrl({ 'Retry-After': '7', 'content-type': 'application/json' });
    const error = await thrownBy(() => ask(`${url}/${status}`));
    expect(error).toHaveProperty('name', 'AI_APICallError');
    expect(classifyError(error, NOW)).toEqual({ category: wanted, retryAfterMs: 7000 });
  });

  it('O2: APICallError without a status: refused, dropped, cut off', async () => {
    const url = await failingUrl();
    const refused = await refusedUrl();
    for (const base of [refused, `${url}/drop`, `${url}/cut`]) {
      const error = await thrownBy(() => ask(base));
      expect(error).toHaveProperty('name', 'AI_APICallError');
      expect(classifyError(error, NOW).category).toBe('network');
    }
  });

  it('O2: an invalid answer with status 200 is an error of the server, not of the arguments', async () => {
    const url = await failingUrl();
    expect(await categoryOf(() => ask(`${url}/html`))).toBe('server');
    expect(await categoryOf(() => ask(`${url}/odd`))).toBe('server');
  });

  it('O2: provider errors for an empty or unexpected answer', () => {
    const category = (error: unknown) => classifyError(error, NOW).category;
    expect(category(new EmptyResponseBodyError())).toBe('server');
    expect(category(new InvalidResponseDataError({ data: { choices: 3 } }))).toBe('server');
  });

  it('O2: RetryError is classified by its last attempt', async () => {
    const url = await failingUrl({ 'retry-after-ms': '1' });
    const error = await thrownBy(() => ask(`${url}/503`, { maxRetries: 1 }));
    expect(RetryError.isInstance(error)).toBe(true);
    expect(classifyError(error, NOW)).toEqual({ category: 'server', retryAfterMs: 1 });
  });

  it('O2: a timeout, and an abort', async () => {
    const url = await failingUrl();
    expect(await categoryOf(() => ask(`${url}/hang`, { timeout: 20 }))).toBe('timeout');
    expect(await categoryOf(() => ask(`${url}/hang`, { abortSignal: AbortSignal.timeout(20) }))).toBe('timeout');
    expect(await categoryOf(() => ask(`${url}/hang`, { abortSignal: AbortSignal.abort() }))).toBe('cancelled');
  });

  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };

  /** What the SDK makes of a model that calls a tool wrongly: the error itself, and the text that the model reads. */
  async function wrongCall(toolName: string, input: string): Promise<{ error: unknown; text: unknown }> {
    const call = { type: 'tool-call' as const, toolCallId: 'a', toolName, input };
    const finishReason = { unified: 'tool-calls' as const, raw: undefined };
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({ content: [call], finishReason, usage, warnings: [] }),
    });
    const tools: ToolSet = {
      find: tool({ inputSchema: z.object({ city: z.string() }), execute: async () => 'found' }),
    };
    const { content } = await generateText({ model, tools, prompt: 'go' });
    const wrong = content.find((part) => part.type === 'tool-call');
    return { error: wrong?.error, text: content.find((part) => part.type === 'tool-error')?.error };
  }

  it('O2: InvalidToolInputError (wrong types, no JSON) and NoSuchToolError', async () => {
    for (const input of ['{"city":3}', '{"city":']) {
      const { error, text } = await wrongCall('find', input);
      expect(InvalidToolInputError.isInstance(error)).toBe(true);
      expect(classifyError(error, NOW).category).toBe('invalid_input');
      expect(classifyError(text, NOW).category).toBe('invalid_input');
    }
    const { error, text } = await wrongCall('nope', '{}');
    expect(NoSuchToolError.isInstance(error)).toBe(true);
    expect(classifyError(error, NOW).category).toBe('invalid_input');
    expect(classifyError(text, NOW).category).toBe('invalid_input');
  });

  it('O2: an object that the inner model failed to generate is not an outage', async () => {
    const finishReason = { unified: 'stop' as const, raw: undefined };
    const content = [{ type: 'text' as const, text: '{"city":3}' }];
    const model = new MockLanguageModelV4({ doGenerate: async () => ({ content, finishReason, usage, warnings: [] }) });
    const output = Output.object({ schema: z.object({ city: z.string() }) });
    const making = async () => (await generateText({ model, output, prompt: 'go' })).output;
    expect(await thrownBy(making)).toHaveProperty('name', 'AI_NoObjectGeneratedError');
    expect(await categoryOf(making)).toBe('invalid_input');
  });
});
