import { boxModels } from '@breakerbox/core/internal';
import { generateText, streamText } from 'ai';
import { describe, expect, test } from 'vitest';
import { faultsOf } from './faults.ts';
import { pairOf } from './providers.ts';
import { FORMATS, TEXT } from './recordings.ts';

/** Short enough for a test, and long enough for the other model to answer on a busy machine. */
const LIMITS = { firstByteMs: 1_000, firstChunkMs: 1_000, stallMs: 1_000, attemptMs: 1_000 };

type Model = Awaited<ReturnType<typeof pairOf>>['model'];

/** The whole answer, or what the caller would see of the failure. */
const ask = async (model: Model, isStream: boolean): Promise<{ readonly text: string; readonly error: unknown }> => {
  let text = '';
  try {
    if (!isStream) return { text: (await generateText({ model, prompt: 'Hi', maxRetries: 0 })).text, error: undefined };
    const result = streamText({ model, prompt: 'Hi', maxRetries: 0, onError: () => {} });
    for await (const part of result.textStream) text += part;
    return { text: await result.text, error: undefined };
  } catch (error) {
    return { text, error };
  }
};

describe.each(FORMATS)('L3, L4: %s', (format) => {
  const cases = faultsOf(format).flatMap((fault) =>
    (['whole', 'stream'] as const)
      .filter((of) => (fault.of ?? of) === of)
      .map((of) => [`${fault.name} (${of})`, of === 'stream', fault] as const),
  );

  test('L3, L4: there are at least 60 ways to fail', () => {
    expect(cases.length).toBeGreaterThanOrEqual(60);
  });

  test.concurrent.each(cases)('%s', async (_, isStream, { ends, isSilent, counts = true, behaviour }) => {
    const { model, primary, fallback, box } = await pairOf(format, isSilent ? LIMITS : {});
    primary.behave(behaviour);
    const { text, error } = await ask(model, isStream);
    if (ends === 'next') {
      expect({ text, error }).toEqual({ text: TEXT, error: undefined });
    } else {
      expect(error).toBeInstanceOf(Error);
      expect(fallback.calls).toEqual([]);
    }
    expect(primary.calls.length).toBe(1); // Nothing beneath the guard calls again (L6).
    const circuits = boxModels(box)
      .session.view()
      .circuits.filter(({ tool }) => !tool.includes('fallback') && !tool.includes('second'));
    const isCounted = circuits.some(({ failures, state }) => failures > 0 || state === 'open');
    expect(isCounted).toBe(counts);
  });
});
