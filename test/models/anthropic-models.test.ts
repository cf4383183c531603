import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { createBreakerbox } from '@breakerbox/core';
import { type GuardAnthropicModelsOptions, guardModels, guardTools } from '@breakerbox/instrumentation/anthropic';
import { scriptedModel } from '@breakerbox/scripted-models/anthropic';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { anthropicFrame, clientOf, REQUEST } from './frame-anthropic.ts';
import { modelContract, overloaded, pairFor } from './frames.ts';
import { loopbackProvider, refuses, SSE, sends } from './loopback-provider.ts';
import { newBox } from './providers.ts';
import { EVENTS, errorBody, HEAD, TEXT } from './recordings.ts';
import { strict } from './strict-provider.ts';

describe("Anthropic's SDK", () => modelContract(anthropicFrame));

const ask = (client: ReturnType<typeof clientOf>, more: object = {}) => client.messages.create({ ...REQUEST, ...more });

test('L1: the helpers of the SDK read the answer of the fallback: stream() and finalMessage()', async () => {
  const { model: client, primary } = await pairFor(anthropicFrame, 'messages');
  primary.behave(overloaded('messages'));
  const stream = client.messages.stream(REQUEST);
  expect(await stream.finalText()).toBe(TEXT);
  expect((await stream.finalMessage()).usage.output_tokens).toBe(7);
});

test('L7: the headers of a response say who answered', async () => {
  const { model: client, primary } = await pairFor(anthropicFrame, 'messages');
  primary.behave(overloaded('messages'));
  for (const stream of [false, true]) {
    const { response } = await client.messages.create({ ...REQUEST, stream }).withResponse();
    expect(response.headers.get('breakerbox-model')).toBe('anthropic/fallback');
    expect(response.headers.get('breakerbox-position')).toBe('fallback');
    await response.body?.cancel().catch(() => {});
  }
});

test('L5, L6: an error of the first model is the one of the SDK, and no error is retried, even if the call asks for it', async () => {
  const { model: client, primary, fallback } = await pairFor(anthropicFrame, 'messages');
  primary.behave(refuses(400, errorBody('messages', 400, 'invalid_request_error', 'temperature: too high')));
  await expect(client.messages.create(REQUEST, { maxRetries: 3 })).rejects.toMatchObject({
    status: 400,
    error: { error: { type: 'invalid_request_error', message: 'temperature: too high' } },
  });
  for (const one of [primary, fallback]) one.behave(overloaded('messages'));
  await expect(client.messages.create(REQUEST, { maxRetries: 3 })).rejects.toMatchObject({ status: 503 });
  expect([primary.calls.length, fallback.calls.length]).toEqual([2, 1]);
});

test("L1: another provider gets neither the key nor the headers of the call, and not Anthropic's own tools", async () => {
  const [one, two] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const client = guardModels(newBox(), {
    models: [
      { client: clientOf(one.url), model: 'primary', name: 'anthropic/primary' },
      { client: clientOf(two.url, { apiKey: 'other-key' }), model: 'theirs', name: 'acme/theirs' },
    ],
  });
  one.behave(overloaded('messages'));
  await client.messages.create(REQUEST, { headers: { 'x-secret': 's', 'anthropic-beta': 'b-1' } });
  expect(one.calls[0]?.headers).toMatchObject({ authorization: 'Bearer test-key', 'x-secret': 's' });
  expect(two.calls[0]?.headers).toMatchObject({ authorization: 'Bearer other-key', 'anthropic-beta': 'b-1' });
  expect(two.calls[0]?.headers['x-secret']).toBeUndefined();
  expect(two.calls[0]?.body.model).toBe('theirs');
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
  await expect(ask(client, { tools })).rejects.toThrow(/acme\/theirs was skipped, because it cannot carry a tool/);
});

test('L1: a request for a model that is not the first is refused, and all else goes to the first client', async () => {
  const { model: client, primary } = await pairFor(anthropicFrame, 'messages');
  await expect(ask(client, { model: 'claude-9' })).rejects.toThrow(/begins with 'primary', and the request is for/);
  primary.behave(refuses(200, { input_tokens: 5 }));
  const { model, messages } = REQUEST;
  expect(await client.messages.countTokens({ model, messages })).toEqual({ input_tokens: 5 });
  primary.behave(refuses(200, { id: 'batch_1' }));
  const requests = [{ custom_id: '1', params: { ...REQUEST, max_tokens: 10 } }];
  expect(await client.messages.batches.create({ requests })).toMatchObject({ id: 'batch_1' });
  const box = newBox();
  expect(() => guardModels(box, { models: [{ client: {}, model: 'm' }] as never })).toThrow(/has no valid model at 0/);
});

test.each([true, false])(
  'D2: a turn of the tool runner is one step, and the last one has its tools (guarded model: %s)',
  async (isGuarded) => {
    const box = createBreakerbox({ agent: 'a', limits: { steps: 2 } });
    const session = box.session();
    const { fetch } = scriptedModel([[{ tool: 'search', input: {} }], [{ tool: 'search', input: {} }], 'Done.']);
    const plain = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch });
    const client = isGuarded ? guardModels(box, { models: [{ client: plain, model: 'claude' }], session }) : plain;
    let ran = 0;
    const run = async () => `${++ran}`;
    const search = betaZodTool({ name: 'search', description: 'Searches', inputSchema: z.object({}), run });
    const messages = [{ role: 'user' as const, content: 'Go.' }];
    const tools = guardTools([search], session);
    const runner = client.beta.messages.toolRunner({ model: 'claude', max_tokens: 100, messages, tools });
    for await (const _ of runner) {
      await runner.generateToolResponse();
      session.step();
    }
    expect([ran, session.view().limits?.[0]?.used]).toEqual([2, 2]);
    expect((await runner.done()).content).toMatchObject([{ text: 'Done.' }]);
  },
);

test.each([false, true])(
  'L9: a fallback that misses the thinking of the history answers without (stream: %s)',
  async (stream) => {
    const { model: client, primary, fallback } = await pairFor(anthropicFrame, 'messages');
    primary.behave(overloaded('messages'));
    fallback.behave(strict());
    const call = { type: 'tool_use' as const, id: 'toolu:1', name: 'weather', input: {} };
    const messages = [
      ...REQUEST.messages,
      { role: 'assistant' as const, content: [{ type: 'thinking' as const, thinking: 'Hm.', signature: 's' }, call] },
      { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id: call.id, content: 'sunny' }] },
    ];
    const thinking = { type: 'enabled' as const, budget_tokens: 1_024 };
    const request = { ...REQUEST, max_tokens: 2_048, messages, thinking };
    const text = stream
      ? await client.messages.stream(request).finalText()
      : (await client.messages.create(request)).content.map((one) => (one.type === 'text' ? one.text : '')).join('');
    expect(text).toBe(TEXT);
    expect(fallback.calls.map(({ body }) => body.thinking)).toEqual([thinking, undefined]);
    expect(JSON.stringify(fallback.calls[1]?.body)).toMatch(/"id":"toolu_1".*"tool_use_id":"toolu_1".*sunny/);
  },
);

test('L9: a thread of the server goes to the key that knows it, or fails', async () => {
  const { model: client, primary, fallback } = await pairFor(anthropicFrame, 'messages');
  primary.behave(overloaded('messages'));
  const thread = { type: 'continue', previous_message_id: 'msg_0' };
  await expect(client.beta.messages.create({ ...REQUEST, thread } as never)).rejects.toThrow(/fallback was skipped/);
  expect(fallback.calls).toEqual([]);
});

test('L1, L2: a client with another key gets no header of the call, and `tenant` gets them', async () => {
  const tenants: unknown[] = [];
  const tenant: NonNullable<GuardAnthropicModelsOptions<Anthropic>['tenant']> = ({ headers, metadata }) => {
    tenants.push(headers.get('x-secret'), metadata);
    return 'a';
  };
  const { model: client, primary, fallback } = await pairFor(anthropicFrame, 'messages', { tenant: tenant as never });
  primary.behave(overloaded('messages'));
  const metadata = { user_id: 'u' };
  await client.messages.create({ ...REQUEST, metadata }, { headers: { 'x-secret': 's' } });
  expect(tenants).toEqual(['s', metadata]);
  expect([primary, fallback].map(({ calls }) => calls[0]?.headers['x-secret'])).toEqual(['s', undefined]);
});

test.each([': ping\n\n', 'event: ping\ndata: {"type":"ping"}\n\n'])(
  'L4: a stream that has only %j is silent, and the next model answers',
  async (ping) => {
    const { model: client, primary } = await pairFor(anthropicFrame, 'messages', { firstByteMs: 300 });
    primary.behave(({ response }) => {
      response.writeHead(200, SSE);
      const timer = setInterval(() => response.write(ping), 20);
      response.on('close', () => clearInterval(timer));
    });
    expect(await client.messages.stream(REQUEST).finalText()).toBe(TEXT);
  },
);

test('L4: a reader that leaves stops the provider, and the stream ends', async () => {
  const { model: client, primary } = await pairFor(anthropicFrame, 'messages');
  const closed = new Promise<void>((resolve) => {
    primary.behave((call) => {
      call.response.on('close', resolve);
      sends(EVENTS.messages.slice(0, HEAD.messages + 1).join(''), 'hang')(call);
    });
  });
  const stream = await client.messages.create({ ...REQUEST, stream: true });
  for await (const event of stream) {
    if (event.type === 'content_block_delta') stream.controller.abort();
  }
  await closed;
});
