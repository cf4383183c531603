import { guardModels } from '@breakerbox/instrumentation/mastra';
import { ModelRouterLanguageModel } from '@mastra/core/llm';
import { describe, expect, test } from 'vitest';
import { agentOf, mastraFrame } from './frame-mastra.ts';
import { modelContract, overloaded, pairFor } from './frames.ts';
import { loopbackProvider } from './loopback-provider.ts';
import { newBox } from './providers.ts';
import { TEXT } from './recordings.ts';

describe('Mastra', () => modelContract(mastraFrame));

test("L1: inside Mastra's own list of models, the next one of the list answers if the guard has none left", async () => {
  const { model, primary, fallback } = await pairFor(mastraFrame, 'chat');
  for (const one of [primary, fallback]) one.behave(overloaded('chat'));
  const { model: last } = await pairFor(mastraFrame, 'chat');
  expect((await agentOf([{ model }, { model: last }]).generate('Hi')).text).toBe(TEXT);
  expect([primary.calls.length, fallback.calls.length]).toEqual([1, 1]); // Mastra does not retry by default (L6).
});

test("L1: models of Mastra's own router", async () => {
  const [primary, fallback] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const routed = (id: `${string}/${string}`, url: string) =>
    new ModelRouterLanguageModel({ id, url: `${url}/v1`, apiKey: 'test-key' });
  const model = guardModels(newBox(), {
    models: [routed('acme/primary', primary.url), routed('umbrella/fallback', fallback.url)],
  });
  const agent = agentOf(model);
  expect((await agent.generate('Hi')).text).toBe(TEXT);
  primary.behave(overloaded('chat'));
  expect((await agent.generate('Hi')).text).toBe(TEXT);
  expect(await (await agent.stream('Hi')).text).toBe(TEXT);
  expect([primary.calls.length, fallback.calls.length]).toEqual([3, 2]);
});
