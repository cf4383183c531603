import { createOpenAI } from '@ai-sdk/openai';
import { createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation/ai-sdk';
import { APICallError } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { agentsFrame } from './frame-agents.ts';
import { langchainFrame } from './frame-langchain.ts';
import { type Frame, failuresOf, overloaded, pairFor } from './frames.ts';
import { loopbackProvider, refuses } from './loopback-provider.ts';
import { modelOf } from './providers.ts';
import { TEXT, toolCall } from './recordings.ts';
import { strict, strictGemini } from './strict-provider.ts';

/** Two calls at once, as models make them in one step. */
const parallel = (whole: object): object => {
  const text = JSON.stringify(whole);
  const answer = JSON.parse(text) as { choices: [{ message: { tool_calls: { id: string }[] } }] };
  const { tool_calls } = answer.choices[0].message;
  tool_calls.push({ ...(tool_calls[0] as { id: string }), id: 'call_2' });
  return answer;
};

describe.each([
  ['OpenAI Agents', agentsFrame],
  ['LangChain', langchainFrame],
] as readonly (readonly [string, Frame<unknown>])[])('%s', (_, frame) => {
  test('L9: a loop of tools goes to Gemini 3 by its endpoint in the format of OpenAI', async () => {
    const { model, box, primary, fallback } = await pairFor(frame, 'chat');
    let asked = 0;
    primary.behave((call) => {
      asked += 1;
      if (asked > 1) return overloaded('chat')(call);
      refuses(200, parallel(toolCall('chat', 'weather', { city: 'Bern' }).whole))(call);
    });
    fallback.behave(strictGemini);
    expect(await frame.loop(model)).toBe(TEXT);
    expect(fallback.calls.length).toBe(2); // The second one with a signature.
    expect(JSON.stringify(fallback.calls[1]?.body)).toMatch(/weather.*weather.*sunny.*sunny/);
    expect(failuresOf(box, ({ tool }) => /fallback|second/.test(tool))).toBe(0);
  });
});

const HISTORY = [
  { role: 'user' as const, content: [{ type: 'text' as const, text: 'Weather?' }] },
  {
    role: 'assistant' as const,
    content: ['call_1', 'call_2'].map((toolCallId) => ({
      type: 'tool-call' as const,
      toolCallId,
      toolName: 'weather',
      input: { city: 'Bern' },
    })),
  },
  {
    role: 'tool' as const,
    content: ['call_1', 'call_2'].map((toolCallId) => ({
      type: 'tool-result' as const,
      toolCallId,
      toolName: 'weather',
      output: { type: 'text' as const, value: 'sunny' },
    })),
  },
];

test('L9: the AI SDK gets the signature where its compatible providers read it', async () => {
  const text = 'Function call is missing a thought_signature in functionCall parts.';
  const seen: unknown[] = [];
  const gemini = new MockLanguageModelV4({
    provider: 'google.chat',
    modelId: 'gemini-3',
    doGenerate: async ({ prompt }) => {
      seen.push(prompt[1]);
      throw new APICallError({ message: text, url: '', requestBodyValues: {}, statusCode: 400 });
    },
  });
  const model = guardModels(createBreakerbox({ agent: 'gemini-history' }), { models: [gemini] });
  await expect(model.doGenerate({ prompt: HISTORY })).rejects.toThrow(text);
  const google = { thoughtSignature: 'skip_thought_signature_validator' };
  const [first, second] = HISTORY[1]?.content ?? [];
  expect(seen).toEqual([
    HISTORY[1],
    { role: 'assistant', content: [{ ...first, providerOptions: { google } }, second] },
  ]);
});

test("L9: Gemini 3 accepts the AI SDK's history of another model", async () => {
  const [one, two] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  one.behave(overloaded('chat'));
  two.behave(strict());
  const other = createOpenAI({ baseURL: `${one.url}/v1`, apiKey: 'k' }).chat('gpt-5');
  const models = [other, modelOf('gemini', two, 'gemini-3-pro-preview') as typeof other];
  const model = guardModels(createBreakerbox({ agent: 'gemini-signed' }), { models });
  const { content } = await model.doGenerate({
    prompt: [
      HISTORY[0],
      { ...HISTORY[1], content: [HISTORY[1]?.content[0]] },
      { ...HISTORY[2], content: [HISTORY[2]?.content[0]] },
    ] as never,
  });
  expect(content).toMatchObject([{ type: 'text', text: TEXT }]);
});
