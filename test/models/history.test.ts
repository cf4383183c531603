import { boxModels } from '@breakerbox/core/internal';
import { guardModels, type ModelsUnavailableError } from '@breakerbox/instrumentation/ai-sdk';
import { generateText, stepCountIs, tool } from 'ai';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { answers, loopbackProvider, refuses } from './loopback-provider.ts';
import { modelOf, newBox, pairOf } from './providers.ts';
import { errorBody, TEXT } from './recordings.ts';

vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);

const overloaded = refuses(529, errorBody('messages', 529, 'overloaded_error', 'Overloaded'));

/** A history with a call of a tool, whose id and whose thinking another model made. */
const historyOf = (toolCallId: string, marks: Readonly<Record<string, unknown>> = {}) => {
  const providerOptions = marks as never;
  return [
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'Weather?' }] },
    {
      role: 'assistant' as const,
      content: [
        { type: 'reasoning' as const, text: 'Hm.', providerOptions },
        { type: 'tool-call' as const, toolCallId, toolName: 'weather', input: { city: 'Bern' }, providerOptions },
      ],
    },
    {
      role: 'tool' as const,
      content: [
        {
          type: 'tool-result' as const,
          toolCallId,
          toolName: 'weather',
          output: { type: 'text' as const, value: 'sunny' },
        },
      ],
    },
  ];
};

test.each([
  ['functions.weather:0', 'functions_weather_0'],
  ['call_1', 'call_1'],
  [`call_${'a'.repeat(60)}`, 'a'.repeat(40)],
])('L9: the id %s of a tool call that another model made is one that all accept', async (id, sound) => {
  const { model, primary, fallback } = await pairOf('messages');
  primary.behave(overloaded);
  const prompt = historyOf(id);
  await model.doGenerate({ prompt });
  for (const { calls } of [primary, fallback]) {
    const sent = JSON.stringify(calls[0]?.body);
    expect(sent).toContain(`"id":"${sound}"`);
    expect(sent).toContain(`"tool_use_id":"${sound}"`);
  }
  // The caller's own history is unchanged.
  expect(JSON.stringify(prompt)).toContain(id);
});

test('L9: a loop of tools goes from one provider to another in the middle, with an id that both accept', async () => {
  const [first, second] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const model = guardModels(newBox(), { models: [modelOf('chat', first), modelOf('messages', second)] as never[] });
  const call = { id: 'functions.weather:0', type: 'function', function: { name: 'weather', arguments: '{}' } };
  const choice = { index: 0, message: { role: 'assistant', tool_calls: [call] }, finish_reason: 'tool_calls' };
  const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] };
  first.behave((one) => (first.calls.length === 1 ? refuses(200, answer) : overloaded)(one));
  const weather = tool({ inputSchema: z.object({}), execute: async () => 'sunny' });
  const stopWhen = stepCountIs(3);
  const result = await generateText({ model, prompt: 'Weather?', maxRetries: 0, tools: { weather }, stopWhen });
  expect(result.text).toBe(TEXT);
  expect(result.steps.map(({ response }) => response.modelId)).toEqual(['m', 'wire-model']);
  expect(JSON.stringify(second.calls[0]?.body)).toMatch(
    /"id":"functions_weather_0".*"tool_use_id":"functions_weather_0".*sunny/,
  );
});

test('L9: two ids do not become one', async () => {
  const { model, primary } = await pairOf('messages');
  const prompt = [...historyOf('a:1'), ...historyOf('a.1'), ...historyOf('a_1')];
  await model.doGenerate({ prompt });
  const sent = JSON.stringify(primary.calls[0]?.body);
  const found = new Set([...sent.matchAll(/"tool_use_id":"([^"]+)"/g)].map(([, id]) => id));
  expect(found.size).toBe(3);
});

test('L9: a model that refuses an item of another key gets the history once more without it', async () => {
  const { model, box, primary, fallback } = await pairOf('responses');
  primary.behave((call) => {
    const isItem = JSON.stringify(call.body).includes('rs_1');
    if (!isItem) return answers(call);
    refuses(404, errorBody('responses', 404, 'not_found', "Item with id 'rs_1' not found."))(call);
  });
  const marks = { openai: { itemId: 'rs_1' } };
  const result = await model.doGenerate({ prompt: historyOf('call_1', marks) });
  expect(result.providerMetadata?.breakerbox).toMatchObject({ position: 'primary', tried: [] });
  expect(primary.calls.map(({ body }) => JSON.stringify(body).includes('rs_1'))).toEqual([true, false]);
  expect(JSON.stringify(primary.calls[1]?.body)).toContain('sunny');
  expect(fallback.calls).toEqual([]);
  expect(boxModels(box).session.peek('model:openai/primary')?.failures).toBe(0);
});

test('L9: an error about a setting is not asked again', async () => {
  const { model, primary } = await pairOf('responses');
  primary.behave(refuses(400, errorBody('responses', 400, 'invalid_value', 'temperature is not supported')));
  const marks = { openai: { itemId: 'rs_1' } };
  await expect(model.doGenerate({ prompt: historyOf('call_1', marks) })).rejects.toMatchObject({ statusCode: 400 });
  expect(primary.calls.length).toBe(1);
});

test('L9: a conversation that the provider keeps goes to no other provider or key', async () => {
  const [first, second, third] = await Promise.all([loopbackProvider(), loopbackProvider(), loopbackProvider()]);
  first.behave(refuses(503, errorBody('responses', 503, 'server_error', 'down')));
  const model = guardModels(newBox(), {
    models: [
      modelOf('responses', first),
      { model: modelOf('responses', second, 'other'), key: 'second' },
      modelOf('responses', third, 'third'),
    ],
  });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
  const result = await model.doGenerate({ prompt, providerOptions: { openai: { previousResponseId: 'resp_1' } } });
  expect(result.providerMetadata?.breakerbox).toMatchObject({
    model: 'openai/third',
    tried: [{ why: 'failed' }, { model: 'openai/other', why: 'unsupported' }],
  });
  expect(second.calls).toEqual([]);
  third.behave(refuses(503, errorBody('responses', 503, 'server_error', 'down')));
  const error = await Promise.resolve(
    model.doGenerate({ prompt, providerOptions: { openai: { conversation: 'conv_1' } } }),
  ).catch((thrown: unknown) => thrown);
  expect((error as ModelsUnavailableError).message).toContain('it cannot carry a tool or a conversation');
});
