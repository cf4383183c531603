/** Retries above the guard: of `streamText`, after a part that the user saw. */
import { streamText } from 'ai';
import { expect, test, vi } from 'vitest';
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
