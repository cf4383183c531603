import type { Session } from '@breakerbox/core';
import { toolRetryMiddleware } from 'langchain';
import { describe, expect, test, vi } from 'vitest';
import { ask, broken, refused, runAgent, search } from '../test-support/langchain-agents.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerMiddleware } from './langchain.ts';

/** Opens after one failure, and is asked for twice. */
const brittle = () => watchedSession({ tools: { search: { failureThreshold: 1 } } });
const retry = () => toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 0, jitter: false });

describe('together with toolRetryMiddleware', () => {
  const orders = {
    'in front of it': (session: Session) => [breakerMiddleware(session), retry()],
    'behind it, with onToolError throw': (session: Session) => [
      retry(),
      breakerMiddleware(session, { onToolError: 'throw' }),
    ],
  };

  test.each(Object.entries(orders))('%s: each attempt has its own decision, a success ends them', async (_, order) => {
    const { session, decisions, outcomes } = watchedSession();
    let calls = 0;
    const flaky = search(async () => {
      calls += 1;
      if (calls < 3) throw refused;
      return 'found';
    });
    const { heard } = await runAgent(order(session), [flaky], [[ask('x')], 'Done.']);
    expect(heard).toEqual(['found']);
    expect(decisions).toEqual(Array(3).fill('search: call'));
    expect(outcomes).toEqual(['search: failure, network', 'search: failure, network', 'search: success']);
  });

  test.each(Object.entries(orders))('%s: a rejection is not retried', async (_, order) => {
    const { session, decisions, outcomes } = brittle();
    const run = vi.fn(() => Promise.reject(refused));
    const { messages, text } = await runAgent(order(session), [search(run)], [[ask('x')], [ask('y')], 'Done.']);
    // The first call's second attempt is refused already.
    expect(decisions).toEqual(['search: call', 'search: skip', 'search: skip']);
    expect(outcomes).toEqual(['search: failure, network']);
    expect(run).toHaveBeenCalledOnce();
    expect(messages).toEqual([
      expect.objectContaining({ content: expect.stringContaining("'search' is unavailable"), status: 'error' }),
      expect.objectContaining({ content: expect.stringContaining("'search' is unavailable"), status: 'error' }),
    ]);
    expect(text).toBe('Done.');
  });

  test('in front of it: after the last attempt, the model reads the message of the retry middleware', async () => {
    const { session, outcomes } = watchedSession();
    const { heard } = await runAgent([breakerMiddleware(session), retry()], [broken()], [[ask('x')], 'Done.']);
    expect(heard).toEqual(["Tool 'search' failed after 3 attempts with Error"]);
    expect(outcomes).toEqual(Array(3).fill('search: failure, network'));
  });

  test('behind it with its defaults, errors are messages already: one attempt', async () => {
    const { session, outcomes } = watchedSession();
    const { heard } = await runAgent([retry(), breakerMiddleware(session)], [broken()], [[ask('x')], 'Done.']);
    expect(heard).toEqual(['Error: connect ECONNREFUSED 127.0.0.1:9\n Please fix your mistakes.']);
    expect(outcomes).toEqual(['search: failure, network']);
  });
});
