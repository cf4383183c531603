import type { Alternative } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { type ToolSet, tool } from 'ai';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { broken, loops, news, once, query, refused, routed, search, twice } from '../test-support/sdk-loops.ts';
import { stopTracing } from '../test-support/tracing.ts';
import { open, watchedSession } from '../test-support/watched-session.ts';
import { guardTools, ToolUnavailableError } from './ai-sdk.ts';

const NOTE = "answered by 'news' in place of 'search', which is unavailable: recent items only; much is lost";

afterEach(() => {
  stopTracing();
  diag.disable();
});

describe.each(Object.entries(loops))('in %s', (_, loop) => {
  describe('R4: an alternative with adapt is called', () => {
    test('R4: its answer replaces that of the first tool, with a note', async () => {
      const watched = routed();
      open(watched);
      const execute = vi.fn(async ({ topic }: { topic: string }) => `news of ${topic}`);
      const heard = await loop(watched, { search: broken, news: news(execute) }, once);
      expect(heard).toEqual([{ type: 'text', value: `[${NOTE}]\nnews of x` }]);
      expect(execute.mock.calls[0]?.[0]).toEqual({ topic: 'x' });
      expect(watched.decisions).toEqual(['search: call', 'search: skip', 'news: call']);
      expect(watched.outcomes).toEqual(['search: failure, network', 'news: success']);
    });

    test('R4: an alternative that streams is followed to its end', async () => {
      const watched = routed();
      const pieces = news(async function* () {
        yield { state: 'reading' };
        yield { state: 'done' };
      } as never);
      expect(await loop(watched, { search: broken, news: pieces }, twice)).toEqual([
        { type: 'json', value: { state: 'done', note: NOTE } },
      ]);
      expect(watched.outcomes.at(-1)).toBe('news: success');
    });

    test('R4: it replaces a tool that streams', async () => {
      const watched = routed();
      const pieces = search(async function* () {
        yield 'searching';
        throw refused;
      } as never);
      expect(await loop(watched, { search: pieces, news: news(() => 'news') }, twice)).toEqual([
        { type: 'text', value: `[${NOTE}]\nnews` },
      ]);
    });

    const theirs = { toModelOutput: () => ({ type: 'text', value: 'own words' }) };
    test.each<[string, ToolSet, Partial<Alternative>]>([
      ['is not among the tools', { search: broken }, {}],
      ['has no adapt', { search: broken, news: news(() => 1) }, { adapt: undefined as never }],
      ['needs approval', { search: broken, news: news(() => 1, { needsApproval: true }) }, {}],
      ['needs a context', { search: broken, news: news(() => 1, { contextSchema: z.object({}) }) }, {}],
      ['has words of its own', { search: broken, news: news(() => 1, theirs) }, {}],
      [
        'replaces a tool with words of its own',
        { search: search(() => Promise.reject(refused), theirs), news: news(() => 1) },
        {},
      ],
      ['is executed by others', { search: broken, news: tool({ inputSchema: query, outputSchema: z.string() }) }, {}],
    ])('R4: an alternative that %s is left to the model', async (_what, tools, alternative) => {
      const watched = routed(alternative);
      expect(await loop(watched, tools, twice)).toEqual([
        { type: 'error-text', value: expect.stringMatching(/ToolUnavailableError.*Use 'news' instead/) },
      ]);
      expect(watched.decisions).toEqual(['search: call', 'search: skip']);
    });
  });
});

test('R4: if the alternative is rejected too, the first rejection remains', async () => {
  const options = { toolCallId: 'call-1', messages: [], context: {} };
  const watched = watchedSession({
    loopGuard: { repeats: 1 },
    tools: {
      search: { failureThreshold: 1, alternatives: [{ tool: 'news', adapt: () => ({ topic: 'same' }) }] },
      news: { alternatives: [{ tool: 'other', adapt: () => ({ topic: 'other' }) }] },
      other: {},
    },
  });
  const unknown = news(() => ({ error: 'unknown topic' }));
  const tools = guardTools({ search: broken, news: unknown, other: news(() => 1) }, watched.session, {
    inPlace: ['news', 'other'],
    toolApproval: {},
  });
  open(watched);
  await tools.news.execute?.({ topic: 'same' }, options);
  const call = Promise.resolve(tools.search.execute?.({ q: 'x' }, options));
  const error = await call.catch((caught) => caught);
  expect(error).toBeInstanceOf(ToolUnavailableError);
  expect(error).toMatchObject({
    tool: 'search',
    route: { kind: 'alternative', tool: 'news', degradation: 'unknown' },
  });
  expect(watched.decisions.slice(2)).toEqual(['search: skip', 'news: skip']);
});

test('R4: an answer that failed settles even if no code reads its pieces', async () => {
  const watched = routed();
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const pieces = search(async function* () {
    yield 'searching';
    throw refused;
  } as never);
  const tools = guardTools({ search: pieces, news: news(() => Promise.reject(refused)) }, watched.session, {
    inPlace: ['news'],
    toolApproval: {},
  });
  const execute = tools.search.execute as (...given: unknown[]) => AsyncIterable<unknown>;
  const options = { toolCallId: 'call-1', messages: [], context: {} };
  const read = async (): Promise<void> => {
    for await (const _ of execute({ q: 'x' }, options));
  };
  await expect(read()).rejects.toMatchObject({ cause: refused });
  execute({ q: 'x' }, options);
  await watched.settled(2);
  // Node tells of unhandled rejections when the microtasks are done.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
