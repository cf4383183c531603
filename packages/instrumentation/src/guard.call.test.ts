/** What callers give with a call, and what comes of it where that can't be. */

import { BreakerboxUsageError } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { guard } from './index.ts';
import { guardMcpClient } from './mcp/mcp.ts';
import { Run } from './run.ts';
import { watchedSession } from './test-support/watched-session.ts';

/** A session in which a probe of `search` is due. */
const dueProbe = () => {
  const watched = watchedSession({ tools: { search: { failureThreshold: 1, probeAfterSteps: 1 } } });
  watched.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  watched.session.step();
  return watched;
};

const trap = () => {
  throw new Error('do not listen to me');
};

describe('an invalid call', () => {
  test.each<[unknown, string]>([
    [null, "guard('search'): the second argument of a call is null"],
    [0, "guard('search'): the second argument of a call is 0"],
    ['call-1', "guard('search'): the second argument of a call is a value of type string"],
    [{ signal: {} }, "guard('search'): the signal of a call is a value of type object"],
    [{ signal: new AbortController() }, 'Give the signal of an AbortController'],
    [{ signal: { aborted: false, addEventListener: trap } }, 'the signal of a call'],
    [{ signal: 5 }, 'the signal of a call is 5'],
  ])('E5: with %o is rejected, and does not keep a probe', async (call, words) => {
    const { session, decisions } = dueProbe();
    const search = guard(session, 'search', async (_: number) => 'found');
    const error = await search(1, call as never).catch((caught) => caught);
    expect(error).toBeInstanceOf(BreakerboxUsageError);
    expect(error.message).toContain(words);
    expect(decisions).toEqual(['search: call']);
    expect(await search(1)).toBe('found');
    expect(decisions.at(-1)).toBe('search: probe');
  });

  test('without a signal, or with null, is an ordinary call', async () => {
    const search = guard(dueProbe().session, 'search', async (_: number) => 'found');
    expect(await search(1, { signal: null as never })).toBe('found');
  });

  test('E5: with a signal that accepts no listener gives the probe back', async () => {
    const { session, decisions, outcomes } = dueProbe();
    const signal = { aborted: false, addEventListener: trap, removeEventListener: trap } as unknown as AbortSignal;
    const search = guard(session, 'search', async (_: number) => 'found', { timeoutMs: 60_000 });
    await expect(search(1, { signal })).rejects.toThrow('do not listen to me');
    expect(outcomes.at(-1)).toBe('search: ignored, cancelled');
    expect(await search(1)).toBe('found');
    expect(decisions.slice(1)).toEqual(['search: probe', 'search: probe']);
  });

  test('that cannot begin is settled', () => {
    const { session, outcomes } = watchedSession();
    const permit = session.acquire('search');
    expect(() => new Run(permit, { signal: { addEventListener: trap } as unknown as AbortSignal })).toThrow();
    expect(outcomes).toEqual(['search: ignored, cancelled']);
  });
});

describe('an invalid MCP call', () => {
  const guarded = () => {
    const watched = dueProbe();
    const callTool = async (_params: unknown, _schema?: unknown, _options?: unknown) => ({ content: [] });
    const client = { callTool, listTools: async () => ({ tools: [{ name: 'search' }] }) };
    return { ...watched, client: guardMcpClient(client, watched.session) };
  };

  test.each<[readonly unknown[], string]>([
    [[], 'callTool() of guardMcpClient(): got undefined, so the call names no tool'],
    [[null], 'got null'],
    [[{}], 'got undefined as the name of the tool'],
    [[{ name: 5 }], 'got 5 as the name of the tool'],
    [
      [{ name: 'search' }, undefined, { signal: {} }],
      "callTool('search') of guardMcpClient(): the signal of a call is a value of",
    ],
  ])('with %j is rejected, and does not keep a probe', async (given, words) => {
    const { client, decisions } = guarded();
    const error = await client.callTool(...(given as [unknown])).catch((caught) => caught);
    expect(error).toBeInstanceOf(BreakerboxUsageError);
    expect(error.message).toContain(words);
    expect(decisions).toEqual(['search: call']);
  });

  test('E5: with unreadable options gives the probe back', async () => {
    const { client, decisions, outcomes } = guarded();
    const options = new Proxy({}, { ownKeys: trap });
    await expect(client.callTool({ name: 'search' }, undefined, options)).rejects.toThrow('do not listen to me');
    expect(decisions.at(-1)).toBe('search: probe');
    expect(outcomes).toHaveLength(2);
  });
});
