/** What `streamText` does above the guard once a stream fails after a part that the user saw. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { streamText } from 'ai';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sends } from './loopback-provider.ts';
import { pairOf } from './providers.ts';
import { EVENTS, HEAD } from './recordings.ts';

vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);

const cut = sends(EVENTS.messages.slice(0, HEAD.messages + 1).join(''), 'end');

/** The texts that a user reads, and how often the list was asked, when the first model is cut after its first visible part. */
const seenWith = async (options: object) => {
  const { model, primary, fallback } = await pairOf('messages');
  primary.behave(cut);
  const texts: string[] = [];
  const { stream } = streamText({ model, prompt: 'Hi', maxRetries: 0, onError: () => {}, ...options });
  const failed = await (async () => {
    for await (const part of stream) if (part.type === 'text-delta') texts.push(part.text);
  })().catch((error: unknown) => error);
  expect(failed).toMatchObject({ name: 'ModelStreamError' });
  return { texts, calls: primary.calls.length + fallback.calls.length };
};

test('L6: without streamRetries, an onError that asks for a retry repeats nothing', async () => {
  const { texts, calls } = await seenWith({ onError: () => ({ retry: true }) });
  expect(texts.length).toBe(1);
  expect(calls).toBe(1);
});

test('L6: streamRetries repeats text that was seen, as the documents warn', async () => {
  const { texts, calls } = await seenWith({ streamRetries: 1 });
  expect(texts).toEqual([texts[0], texts[0]]);
  expect(calls).toBe(2);
});

test('L4: a server that pipes a stream that is cut tells the browser, and can catch the error', async () => {
  const { model, primary } = await pairOf('messages');
  primary.behave(cut);
  let piped: Promise<unknown> | undefined;
  const server = createServer((_, response) => {
    const result = streamText({ model, prompt: 'Hi', maxRetries: 0, onError: () => {} });
    piped = result.pipeUIMessageStreamToResponse(response).catch((error: unknown) => error);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const page = await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text();
  expect(page).toContain('"type":"error"');
  expect(await piped).toMatchObject({ name: 'ModelStreamError' });
});
