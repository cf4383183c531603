import { generateText, streamText } from 'ai';
import { describe, expect, test } from 'vitest';
import { faultsOf } from './faults.ts';
import { expectFault, LIMITS } from './frames.ts';
import { pairOf } from './providers.ts';
import { FORMATS } from './recordings.ts';

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

  test.concurrent.each(cases)('%s', async (_, isStream, fault) => {
    const pair = await pairOf(format, fault.isSilent ? LIMITS : {});
    await expectFault(pair, fault, () => ask(pair.model, isStream));
  });
});
