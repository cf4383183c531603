import type { HookJSONOutput, Query } from '@anthropic-ai/claude-agent-sdk';
import { BreakerboxUsageError } from '@breakerbox/core';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { claudeCode, isProbeFree, probing } from '../test-support/claude-code.ts';
import { ask, gate, play, SEARCH, toItsEnd } from '../test-support/claude-query.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerHooks, guardQuery, mergeHooks } from './claude-agent.ts';

describe('C8: a probe in progress is free again when a query ends early', () => {
  const leaving = async (running: Query, started: Promise<void>) => {
    for await (const { type } of running) {
      if (type !== 'assistant') continue;
      await started;
      break;
    }
  };
  const then = async (running: Query, started: Promise<void>, end: () => unknown) => {
    const read = toItsEnd(running);
    await started;
    await end();
    await read.catch(() => {});
  };
  type End = (running: Query, started: Promise<void>, abort: () => void) => Promise<void>;

  it.each<[string, End]>([
    ['break', leaving],
    ['return()', (running, started) => then(running, started, () => running.return())],
    ['close()', (running, started) => then(running, started, () => running.close())],
    ['its disposal', (running, started) => then(running, started, () => running[Symbol.asyncDispose]())],
    ['an abort', (running, started, abort) => then(running, started, abort)],
  ])('%s', async (_, end) => {
    const { session, outcomes } = probing(SEARCH);
    const { open, opened } = gate();
    const abortController = new AbortController();
    await play({
      script: [ask('hangs'), 'Done.'],
      options: { allowedTools: [SEARCH], abortController, hooks: breakerHooks(session) },
      answer: () => {
        open();
        return new Promise(() => {});
      },
      read: (running) => end(guardQuery(running, session), opened, () => abortController.abort()),
    });
    expect(outcomes.slice(1)).toEqual([`${SEARCH}: ignored, cancelled`]);
    expect(isProbeFree(session, SEARCH)).toBe(true);
  });

  it('a call that a hook defers', async () => {
    const { session, outcomes } = probing(SEARCH);
    const defer = async (): Promise<HookJSONOutput> => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' },
    });
    await play({
      script: [ask('a'), 'Done.'],
      options: {
        allowedTools: [SEARCH],
        hooks: mergeHooks({ PreToolUse: [{ hooks: [defer] }] }, breakerHooks(session)),
      },
      read: (running) => toItsEnd(guardQuery(running, session)),
    });
    expect(outcomes.slice(1)).toEqual([`${SEARCH}: ignored, cancelled`]);
    expect(isProbeFree(session, SEARCH)).toBe(true);
  });
});

describe('guardQuery', () => {
  /** Does nothing but tell of one message of a conversation, and end. */
  const queryOf = (conversation: string): Query =>
    Object.assign(
      (async function* () {
        yield { type: 'system', session_id: conversation } as never;
      })(),
      { close: () => {}, interrupt: async () => 'interrupted' },
    ) as never;

  it('has the behaviour and the type of the query', async () => {
    const { session } = watchedSession();
    const running = guardQuery(queryOf('one'), session);
    expectTypeOf(running).toEqualTypeOf<Query>();
    expect(await running.interrupt()).toBe('interrupted');
    expect(await running.next()).toEqual({ done: false, value: { type: 'system', session_id: 'one' } });
    await expect(running.throw(new Error('mine'))).rejects.toThrow('mine');
  });

  it('leaves other conversations of the session alone', async () => {
    const { session, outcomes } = watchedSession();
    const claude = claudeCode(breakerHooks(session), 'two');
    await claude.before('a');
    await toItsEnd(guardQuery(queryOf('one'), session));
    expect(outcomes).toEqual([]);
    await toItsEnd(guardQuery(queryOf('two'), () => session));
    expect(outcomes).toEqual(['search: ignored, cancelled']);
  });

  it('rejects other values', () => {
    const { session } = watchedSession();
    expect(() => guardQuery({} as never, session)).toThrow(BreakerboxUsageError);
    expect(() => guardQuery(null as never, session)).toThrow(/got null instead of a query/);
    expect(() => guardQuery(queryOf('one'), {} as never)).toThrow(BreakerboxUsageError);
  });
});
