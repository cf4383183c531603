import { convertToModelMessages } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { ask, failing, loops, query, refused, search, stale } from '../test-support/sdk-loops.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardTools } from './ai-sdk.ts';

const STALE = 'stale: retrieved 1970-01-01 00:00:00 UTC';

describe.each(Object.entries(loops))('in %s', (_, loop) => {
  describe('F2: an open circuit answers with the last good result', () => {
    test.each([
      ['a text', 'found', { type: 'text', value: `[${STALE}]\nfound` }],
      ['an object', { hits: [1] }, { type: 'json', value: { hits: [1], freshness: STALE } }],
      ['a list', ['hit'], { type: 'json', value: { result: ['hit'], freshness: STALE } }],
    ])('F2: %s, labelled stale', async (_what, answer, expected) => {
      const watched = stale();
      const steps = [[ask('x')], [ask('x')], [ask('x')], 'Done.'];
      expect(await loop(watched, { search: search(failing(answer)) }, steps)).toEqual([expected]);
      expect(watched.decisions).toEqual(['search: call', 'search: call', 'search: skip']);
    });

    test('F2: toModelOutput of a tool is kept, behind the label', async () => {
      const toModelOutput = vi.fn(({ output }: { output: { hits: string[] } }) => ({
        type: 'text',
        value: output.hits.join(),
      }));
      const steps = [[ask('x')], [ask('x')], [ask('x')], 'Done.'];
      const tools = { search: search(failing({ hits: ['a', 'b'] }), { toModelOutput }) };
      expect(await loop(stale(), tools, steps)).toEqual([{ type: 'text', value: `[${STALE}]\na,b` }]);
    });

    test('F2: a tool that streams gives it as one piece', async () => {
      const pieces = failing(['searching', 'found']);
      const generator = search(async function* () {
        yield* pieces() as string[];
      } as never);
      const steps = [[ask('x')], [ask('x')], [ask('x')], 'Done.'];
      expect(await loop(stale(), { search: generator }, steps)).toEqual([{ type: 'text', value: `[${STALE}]\nfound` }]);
    });
  });

  describe('F1: a result that may not be current is labelled if the tool asks for it', () => {
    const CACHED = 'cached: identical to the last answer, retrieved 1970-01-01 00:00:00 UTC';
    const labelling = () => watchedSession({ tools: { search: { labelFreshness: true } } });
    const steps = [[ask('x')], [ask('x')], 'Done.'];

    test('F1: promised or returned at once', async () => {
      const expected = [{ type: 'json', value: { hits: 1, freshness: CACHED } }];
      expect(await loop(labelling(), { search: search(async () => ({ hits: 1 })) }, steps)).toEqual(expected);
      expect(await loop(labelling(), { search: search(() => ({ hits: 1 })) }, steps)).toEqual(expected);
    });

    test('F1: streamed, as one more piece', async () => {
      const generator = search(async function* () {
        yield 'searching';
        yield 'found';
      } as never);
      expect(await loop(labelling(), { search: generator }, steps)).toEqual([
        { type: 'text', value: `[${CACHED}]\nfound` },
      ]);
    });

    test('F1: not without the option', async () => {
      expect(await loop(watchedSession(), { search: search(() => 'found') }, steps)).toEqual([
        { type: 'text', value: 'found' },
      ]);
    });
  });
});

describe('called directly', () => {
  const options = { toolCallId: 'call-1', messages: [], context: {} };

  test('F2: a tool that streams gives a last good result as one piece', async () => {
    const { session } = stale();
    const answers = failing('found');
    const pieces = {
      inputSchema: query,
      execute: async function* () {
        yield answers();
      },
    };
    const { search: guarded } = guardTools({ search: pieces }, session);
    const execute = guarded.execute as (...given: unknown[]) => AsyncIterable<unknown>;
    const seen: unknown[] = [];
    const read = async () => {
      for await (const piece of execute({ q: 'x' }, options)) seen.push(piece);
    };
    await read();
    await expect(read()).rejects.toMatchObject({ cause: refused });
    await read();
    expect(seen).toEqual(['found', `[${STALE}]\nfound`]);
  });
});

test('F2: a stored conversation shows the model the label and the toModelOutput of the tool', async () => {
  const watched = stale();
  const words = ({ output }: { output: { result: number } }) => ({ type: 'json', value: { answer: output.result } });
  const tools = guardTools({ search: search(failing({ result: 5 }), { toModelOutput: words }) }, watched.session);
  const options = { toolCallId: 'call-1', messages: [], context: {} };
  await tools.search.execute?.({ q: 'x' }, options);
  expect(() => tools.search.execute?.({ q: 'x' }, options)).toThrow(refused.message);
  const output: unknown = await tools.search.execute?.({ q: 'x' }, options);
  const state = 'output-available' as const;
  const part = { type: 'tool-search' as const, toolCallId: 'call-1', state, input: { q: 'x' }, output };
  const stored = JSON.parse(JSON.stringify([{ role: 'assistant', parts: [part] }]));
  const messages = await convertToModelMessages(stored, { tools });
  expect(messages.at(-1)?.content).toMatchObject([
    { output: { type: 'json', value: { answer: 5, freshness: STALE } } },
  ]);
});
