import { guardModels, ModelsUnavailableError } from '@breakerbox/instrumentation/openai-agents';
import { Agent } from '@openai/agents';
import { describe, expect, test } from 'vitest';
import { agentsFrame, agentsModel, runner } from './frame-agents.ts';
import { failuresOf, modelContract, overloaded, pairFor } from './frames.ts';
import { loopbackProvider, refuses } from './loopback-provider.ts';
import { newBox } from './providers.ts';
import { TEXT, WHOLE } from './recordings.ts';

describe('OpenAI Agents', () => modelContract(agentsFrame));

test('L6: a retry policy of the SDK is advised against', async () => {
  const { model, primary, fallback } = await pairFor(agentsFrame, 'responses');
  for (const one of [primary, fallback]) one.behave(overloaded('responses'));
  const retry = {
    maxRetries: 3,
    policy: ({ providerAdvice }: { providerAdvice?: { suggested?: boolean } }) => providerAdvice?.suggested !== false,
  };
  const agent = new Agent({ name: 'agent', model, modelSettings: { retry } });
  await expect(runner.run(agent, 'Hi')).rejects.toBeInstanceOf(ModelsUnavailableError);
  expect([primary.calls.length, fallback.calls.length]).toEqual([1, 1]);
});

test('L9: a stored conversation goes to the key that knows it, or fails', async () => {
  const [one, two, three] = await Promise.all([loopbackProvider(), loopbackProvider(), loopbackProvider()]);
  const model = guardModels(newBox(), {
    models: [
      { model: await agentsModel(one.url, 'one', true), name: 'openai/one' },
      { model: await agentsModel(two.url, 'two', true), name: 'azure/two' },
      { model: await agentsModel(three.url, 'three', true), name: 'openai/three' },
    ],
  });
  one.behave(overloaded('responses'));
  const agent = new Agent({ name: 'agent', model });
  const { finalOutput } = await runner.run(agent, 'Hi', { previousResponseId: 'resp_0' });
  expect(finalOutput).toBe(TEXT);
  expect(two.calls).toEqual([]);
  expect(three.calls[0]?.body.previous_response_id).toBe('resp_0');
  three.behave(overloaded('responses'));
  await expect(runner.run(agent, 'Hi', { previousResponseId: 'resp_0' })).rejects.toThrow(/azure\/two was skipped/);
  expect((await runner.run(agent, 'Hi')).finalOutput).toBe(TEXT);
});

test('L9: the result of a hosted tool is left out for a model that has no word for it', async () => {
  const { model, primary, fallback } = await pairFor(agentsFrame, 'responses', { second: 'chat' });
  primary.behave(overloaded('responses'));
  const hosted = { type: 'hosted_tool_call' as const, name: 'web_search_call', id: 'ws_1', status: 'completed' };
  const input = [{ role: 'user' as const, content: 'Weather?' }, hosted, { role: 'user' as const, content: 'And?' }];
  expect((await runner.run(new Agent({ name: 'agent', model }), input)).finalOutput).toBe(TEXT);
  expect(fallback.calls[0]?.body.messages).toMatchObject([{ content: 'Weather?' }, { content: 'And?' }]);
});

test('L1: settings for a provider go to models of the first provider only', async () => {
  const [one, two] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const model = guardModels(newBox(), {
    models: [
      { model: await agentsModel(one.url, 'one', false), name: 'openai/one' },
      { model: await agentsModel(two.url, 'two', false), name: 'groq/two' },
    ],
  });
  one.behave(overloaded('chat'));
  const modelSettings = { temperature: 0, providerData: { user: 'secret' } };
  await runner.run(new Agent({ name: 'agent', model, modelSettings }), 'Hi');
  expect([one, two].map(({ calls }) => calls[0]?.body)).toMatchObject([
    { model: 'one', temperature: 0, user: 'secret' },
    { model: 'two', temperature: 0 },
  ]);
  expect(two.calls[0]?.body.user).toBeUndefined();
});

test("L3: an answer that the limit of tokens ends is the SDK's error, and no failure", async () => {
  const { model, box, primary, fallback } = await pairFor(agentsFrame, 'responses');
  primary.behave(
    refuses(200, { ...WHOLE.responses, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
  );
  const { error } = await agentsFrame.ask(model, false);
  expect(`${error}`).toContain('incomplete');
  expect(fallback.calls).toEqual([]);
  expect(failuresOf(box)).toBe(0);
});

test('L1: names are refused, with the fix', () => {
  const models = [{ model: 'gpt-5', name: 'openai/gpt-5' }];
  expect(() => guardModels(newBox(), { models: models as never })).toThrow(/Give \{ model: new OpenAIResponsesModel/);
});
