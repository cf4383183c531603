import { createBreakerbox } from '@breakerbox/core';
import { BaseLlm, InMemoryRunner, LlmAgent, type LlmAgentConfig, type LlmRequest, type LlmResponse } from '@google/adk';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { lastText, toolOf } from '../test-support/adk-run.ts';
import { BreakerPlugin } from './google-adk.ts';

/** A model that calls `search` until it may not. It calls the only tool that it may call. */
class Eager extends BaseLlm {
  readonly modes: unknown[] = [];
  override async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse> {
    const { mode, allowedFunctionNames: [only = 'search'] = [] } =
      request.config?.toolConfig?.functionCallingConfig ?? {};
    this.modes.push(mode);
    const args = only === 'search' ? { q: 'x' } : { found: 'a' };
    const call = { functionCall: { id: crypto.randomUUID(), name: only, args } };
    yield { content: { role: 'model', parts: [`${mode}` === 'NONE' ? { text: 'I stop.' } : call] } };
  }
  override connect(): Promise<never> {
    return Promise.reject(new Error('The model has no live connection.'));
  }
}

const runOf = async (agent: Partial<LlmAgentConfig>) => {
  const session = createBreakerbox({ agent: 'lister', limits: { calls: 1 } }).session();
  const model = new Eager({ model: 'eager' });
  const root = new LlmAgent({ name: 'lister', model, tools: [toolOf('search', () => 'r')], ...agent });
  const runner = new InMemoryRunner({ agent: root, appName: 'test', plugins: [new BreakerPlugin(session)] });
  const user = { userId: 'user', sessionId: 'conversation' };
  await runner.sessionService.createSession({ appName: 'test', ...user });
  const events = [];
  const newMessage = { role: 'user', parts: [{ text: 'Go.' }] };
  for await (const event of runner.runAsync({ ...user, newMessage })) events.push(event);
  return { text: lastText(events), modes: model.modes, state: events.at(-1)?.actions.stateDelta };
};

test('D6: an agent with an outputSchema gives its object in the last turn', async () => {
  const ran = await runOf({ outputSchema: z.object({ found: z.string() }), outputKey: 'out' });
  expect(ran).toMatchObject({ modes: [undefined, undefined, 'ANY'], state: { out: { found: 'a' } } });
});

test('D6: if the tool of the answer does not end the run, the model answers in words', async () => {
  const { text, modes } = await runOf({ mode: 'task', outputSchema: z.object({ found: z.string() }) });
  expect([text, modes]).toEqual(['I stop.', [undefined, undefined, 'ANY', 'NONE']]);
});
