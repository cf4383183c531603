import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { jsonSchema, tool } from 'ai';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { ToolUnavailableError } from '../index.ts';
import { lastOf } from '../iterate.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardTools } from './ai-sdk.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
const query = z.object({ q: z.string() });
const search = (execute: (input: { q: string }) => unknown) =>
  tool({ description: 'Searches', inputSchema: query, execute: execute as (input: { q: string }) => Promise<unknown> });

describe('guarded tools', () => {
  const options = { toolCallId: 'call-1', messages: [], context: {} };

  test('keep their types', () => {
    const tools = {
      search: tool({ inputSchema: query, execute: async ({ q }) => [q] }),
      count: tool({
        inputSchema: z.object({}),
        execute: async function* () {
          yield 1;
        },
      }),
      ask: tool({ inputSchema: z.object({}), outputSchema: z.string() }),
    };
    expectTypeOf(guardTools(tools, watchedSession().session)).toEqualTypeOf(tools);
  });

  test('are copies; tools that are not executed here are the same objects', () => {
    const { box, session } = watchedSession();
    const tools = { search: search(() => 1), ask: tool({ inputSchema: query, outputSchema: z.string() }) };
    const before = { ...tools.search };

    const guarded = guardTools(tools, session);

    expect(Object.keys(guarded)).toEqual(['search', 'ask']);
    expect(guarded.ask).toBe(tools.ask);
    expect(guarded.search).not.toBe(tools.search);
    expect({ ...tools.search }).toEqual(before);
    expect(guarded.search.inputSchema).toBe(tools.search.inputSchema);
    expect(box.tools).toEqual(['search']);
  });

  test('may be instances of a class', async () => {
    class Search {
      readonly inputSchema = jsonSchema<{ q: string }>({ type: 'object' });
      readonly #engine = 'engine';
      get description() {
        return `Searches by ${this.#engine}`;
      }
      toModelOutput({ output }: { output: unknown }) {
        return { type: 'text' as const, value: `${output}, says ${this.#engine}` };
      }
      execute({ q }: { q: string }) {
        return `${q} by ${this.#engine}`;
      }
    }
    const { search } = guardTools({ search: new Search() }, watchedSession().session);
    expect(search.description).toBe('Searches by engine');
    expect(search.toModelOutput({ output: 'x' })).toEqual({ type: 'text', value: 'x, says engine' });
    expect((search.execute as (input: object, options: object) => unknown)({ q: 'x' }, options)).toBe('x by engine');
  });

  test('may be frozen', async () => {
    const tools = { search: Object.freeze(search(async () => 'x')) };
    const { session, outcomes } = watchedSession();
    const { search: guarded } = guardTools(tools, session);
    expect(Object.keys(guarded)).toEqual(Object.keys(tools.search));
    expect(await guarded.execute?.({ q: 'x' }, options)).toBe('x');
    expect(outcomes).toEqual(['search: success']);
  });

  describe('give a rejection in the shape of their answers', () => {
    const outOf = (execute: () => unknown) => {
      const { session } = watchedSession({ defaults: { failureThreshold: 1 } });
      session.declare('search');
      session.acquire('search').settle({ outcome: 'failure', category: 'network' });
      return () => guardTools({ search: search(execute as never) }, session).search.execute?.({ q: 'x' }, options);
    };

    test('as a promise, if they return one', async () => {
      const call = outOf(async () => 'x');
      await expect(call()).rejects.toThrow(ToolUnavailableError);
      await expect(Promise.all([1, 2].map(call))).rejects.toThrow(ToolUnavailableError);
    });

    test('as a generator, if they are one', async () => {
      const call = outOf(async function* () {
        yield 'x';
      });
      const pieces = call() as unknown as AsyncGenerator<string>;
      expect('then' in pieces).toBe(false);
      await expect(pieces.next()).rejects.toThrow(ToolUnavailableError);
    });

    test('as pieces, if it is not yet known whether they stream', async () => {
      const call = outOf(() => (async function* () {})());
      await expect(lastOf(call() as unknown as AsyncIterable<string>)).rejects.toThrow(ToolUnavailableError);
    });

    test('also if the caller has aborted or the signal is invalid, without a decision', async () => {
      const { session, decisions } = watchedSession();
      const { search: guarded } = guardTools({ search: search(async () => 'x') }, session);
      const call = (abortSignal: unknown) => guarded.execute?.({ q: 'x' }, { ...options, abortSignal } as never);
      await expect(call(AbortSignal.abort(refused))).rejects.toBe(refused);
      await expect(call({})).rejects.toThrow(BreakerboxUsageError);
      await expect(call({})).rejects.toThrow(
        "guardTools(), tool 'search': the signal of a call is a value of type object",
      );
      expect(decisions).toEqual([]);
    });

    test('but rethrow what a tool throws synchronously', () => {
      const { search: guarded } = guardTools(
        {
          search: search(() => {
            throw refused;
          }),
        },
        watchedSession().session,
      );
      expect(() => guarded.execute?.({ q: 'x' }, options)).toThrow(refused);
    });
  });

  test('rejects invalid options', () => {
    const { session } = watchedSession();
    expect(() => guardTools({}, session, { timeoutMs: 0 })).toThrow(BreakerboxConfigError);
    expect(() => guardTools({}, {} as never)).toThrow(BreakerboxUsageError);
    expect(() => guardTools(undefined as never, session)).toThrow(BreakerboxUsageError);
  });
});
