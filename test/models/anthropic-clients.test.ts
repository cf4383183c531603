import Anthropic from '@anthropic-ai/sdk';
import { guardModels } from '@breakerbox/instrumentation/anthropic';
import { describe, expect, test, vi } from 'vitest';
import { REQUEST } from './frame-anthropic.ts';
import { failuresOf, overloaded } from './frames.ts';
import { hangs, type LoopbackProvider, loopbackProvider } from './loopback-provider.ts';
import { newBox } from './providers.ts';
import { TEXT } from './recordings.ts';

type Options = ConstructorParameters<typeof Anthropic>[0];

/** Changes the address and the body of a request as the clients of Vertex and Bedrock do from version 1 on. */
class Platform extends Anthropic {
  protected override backendMiddleware(): ReturnType<Anthropic['backendMiddleware']> {
    return [
      (request, next) => {
        const { model, ...body } = JSON.parse(`${request.body}`) as Record<string, unknown>;
        const url = request.url.replace(/\/v1\/messages.*/, `/messages-of/${model}:rawPredict`);
        return next({ ...request, url, body: JSON.stringify(body) });
      },
    ];
  }
}

/** The same as before version 1: the options are changed before the request is made. */
class OldPlatform extends Anthropic {
  override buildRequest(options: Parameters<Anthropic['buildRequest']>[0], more?: object) {
    const { model, ...body } = options.body as Record<string, unknown>;
    return super.buildRequest({ ...options, path: `/messages-of/${model}:rawPredict`, body }, more);
  }
}

/** An address that no client of Anthropic's has. */
class Elsewhere extends Anthropic {
  override buildURL(): string {
    return `${this.baseURL}/elsewhere`;
  }
}

type Client = new (options: Options) => Anthropic;

const listOf = async (First: Client, more: Options = {}, options: object = {}) => {
  const [one, two] = await Promise.all([loopbackProvider(), loopbackProvider()]);
  const box = newBox();
  const shared = { apiKey: 'test-key', logLevel: 'off' as const };
  const client = guardModels(box, {
    models: [
      { client: new First({ ...shared, baseURL: one.url, ...more }), model: 'primary', name: 'anthropic/primary' },
      { client: new Anthropic({ ...shared, baseURL: two.url }), model: 'fallback', name: 'other/fallback' },
    ],
    ...options,
  });
  return { client, one, two, box };
};

const textOf = async (client: Anthropic, isStream: boolean, options: object = {}): Promise<string> => {
  const message = isStream
    ? await client.messages.stream(REQUEST, options).finalMessage()
    : await client.messages.create(REQUEST, options);
  return message.content.map((one) => (one.type === 'text' ? one.text : '')).join('');
};

describe.each([
  ['1', Platform],
  ['0', OldPlatform],
] as const)('a client of a platform, version %s', (_, First) => {
  test.each([false, true])('L1, L5: it is guarded as the first model (stream: %s)', async (isStream) => {
    const { client, one, two } = await listOf(First);
    expect(await textOf(client, isStream)).toBe(TEXT);
    one.behave(overloaded('messages'));
    for (const of of [client, client, client, client.withOptions({ timeout: 5_000 })]) {
      expect(await textOf(of, isStream)).toBe(TEXT);
    }
    // What its own client makes of a request, once for each that the circuit lets through.
    expect(one.calls.map(({ body }) => 'model' in body)).toEqual([false, false, false]);
    expect(two.calls.map(({ body }) => body.model)).toEqual(Array(4).fill('fallback'));
  });
});

test('L1: a client that sends messages to an address of its own is refused, and sends none unguarded', async () => {
  const { client, one } = await listOf(Elsewhere);
  await expect(textOf(client, false)).rejects.toThrow(/does not know the address '\/elsewhere' for messages/);
  expect(one.calls).toEqual([]);
});

describe.each([false, true])('a time limit (stream: %s)', (isStream) => {
  const hanging = async (more: Options = {}) => {
    const all = await listOf(Anthropic, more);
    all.one.behave(hangs);
    return all;
  };
  const seen = ({ one, two }: { readonly one: LoopbackProvider; readonly two: LoopbackProvider }) => [
    one.calls.length,
    two.calls.length,
  ];

  test('L4: that of a client ends the attempt of its model, and the next one answers', async () => {
    const all = await hanging({ timeout: 100 });
    expect(await textOf(all.client, isStream)).toBe(TEXT);
    expect(failuresOf(all.box)).toBeGreaterThan(0);
    for (const _ of [2, 3]) expect(await textOf(all.client, isStream)).toBe(TEXT);
    expect(seen(all)).toEqual([2, 3]);
  });

  test('L4: so does that of a call, and of a copy of the client', async () => {
    const all = await hanging();
    expect(await textOf(all.client, isStream, { timeout: 100 })).toBe(TEXT);
    expect(await textOf(all.client.withOptions({ timeout: 100 }), isStream)).toBe(TEXT);
    expect(await textOf(all.client, isStream)).toBe(TEXT);
    expect(seen(all)).toEqual([2, 3]);
  });
});

test("L3: an abort of the caller's own blames no model, and a time limit of the caller's signal is warned of", async () => {
  vi.stubEnv('BREAKERBOX_WARNINGS', undefined);
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const { client, one, two, box } = await listOf(Anthropic);
  one.behave(hangs);
  await expect(textOf(client, false, { signal: AbortSignal.timeout(50) })).rejects.toThrow('Request was aborted.');
  await vi.waitFor(() =>
    expect(warn).toHaveBeenCalledWith(
      expect.stringContaining('ended a call of anthropic/primary before other/fallback could be asked'),
      expect.anything(),
    ),
  );
  expect([failuresOf(box), two.calls.length]).toEqual([0, 0]);
  warn.mockRestore();
  vi.unstubAllEnvs();
});
