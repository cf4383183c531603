import { guardModels } from '@breakerbox/instrumentation/ai-sdk';
import { expect, test } from 'vitest';
import { modelOf, newBox } from './providers.ts';
import { EVENTS, FORMATS, TEXT, type WireFormat } from './recordings.ts';

const SSE = { headers: { 'content-type': 'text/event-stream' } };

/** A stream of these bytes that ends as if it were complete, or fails. */
const bytesThen = (bytes: Uint8Array, fails: boolean): Response =>
  new Response(
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        if (bytes.length > 0) controller.enqueue(bytes);
        if (!fails) controller.close();
      },
      pull: (controller) => controller.error(new TypeError('terminated')),
    }),
    SSE,
  );

const PROMPT = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;

/** What a caller gets whose primary is cut: text, whether an error was told, and who answered. */
const read = async (format: WireFormat, bytes: Uint8Array, fails: boolean, whole: Uint8Array) => {
  const models = [
    modelOf(format, { fetch: async () => bytesThen(bytes, fails) }),
    { model: modelOf(format, { fetch: async () => bytesThen(whole, false) }, 'fallback'), key: 'second' },
  ];
  const model = guardModels(newBox(), { models });
  const { stream } = await model.doStream({ prompt: PROMPT as never });
  let text = '';
  let starts = 0;
  let answerer: unknown;
  try {
    for await (const part of stream) {
      if (part.type === 'text-delta') text += part.delta;
      if (part.type === 'stream-start') starts += 1;
      if (part.type === 'finish') answerer = part.providerMetadata?.breakerbox?.model;
    }
    return { text, starts, answerer, isError: false };
  } catch {
    return { text, starts, answerer, isError: true };
  }
};

test.each(FORMATS)('L4: a %s stream that is cut at any byte gives one whole answer or an error', async (format) => {
  const whole = new TextEncoder().encode(EVENTS[format].join(''));
  const seen = { fallback: 0, error: 0, primary: 0 };
  for (let length = 0; length <= whole.length; length += 1) {
    for (const fails of [false, true]) {
      const { text, starts, answerer, isError } = await read(format, whole.slice(0, length), fails, whole);
      expect(starts).toBe(1);
      if (isError) {
        expect(TEXT.startsWith(text) && text !== '' && answerer === undefined).toBe(true);
        seen.error += 1;
      } else {
        expect(text).toBe(TEXT);
        seen[String(answerer).endsWith('/fallback') ? 'fallback' : 'primary'] += 1;
      }
    }
  }
  // Each kind was there: before the first visible part, after it, and after the end of the answer.
  expect(Math.min(seen.fallback, seen.error, seen.primary)).toBeGreaterThan(0);
});
