import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { claudeCode, isProbeFree, probing } from '../test-support/claude-code.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerHooks } from './claude-agent.ts';

describe('C8: a call that never runs does not keep a probe', () => {
  it.each<[string, (claude: ReturnType<typeof claudeCode>) => Promise<unknown>, string]>([
    ['denied by a rule, a person or another hook', (claude) => claude.batch('a'), 'denied'],
    [
      'denied by the permission classifier',
      (claude) => claude.tell('PermissionDenied', { tool_use_id: 'a' }),
      'denied',
    ],
    ['interrupted, and a person speaks again', (claude) => claude.tell('UserPromptSubmit'), 'cancelled'],
    ['still there when the agent is done', (claude) => claude.tell('Stop'), 'cancelled'],
    ['still there when the model failed', (claude) => claude.tell('StopFailure'), 'cancelled'],
    ['still there when the conversation ends', (claude) => claude.tell('SessionEnd'), 'cancelled'],
  ])('%s', async (_, happens, category) => {
    const { session, outcomes, decisions } = probing();
    const claude = claudeCode(breakerHooks(session));
    await claude.before('a');
    expect(decisions.at(-1)).toBe('search: probe');
    await happens(claude);
    expect(outcomes.at(-1)).toBe(`search: ignored, ${category}`);
    expect(isProbeFree(session)).toBe(true);
  });

  it('of a sub-agent that has ended', async () => {
    const { session } = probing();
    const hooks = breakerHooks(session);
    await claudeCode(hooks, 'one', 'helper').before('a');
    await claudeCode(hooks).tell('SubagentStop', { agent_id: 'helper' });
    expect(isProbeFree(session)).toBe(true);
  });

  it('of a query that was aborted', async () => {
    const { session, outcomes } = probing();
    const query = new AbortController();
    await claudeCode(breakerHooks(session, { signal: query.signal })).before('a');
    query.abort();
    expect(outcomes.at(-1)).toBe('search: ignored, cancelled');
    expect(isProbeFree(session)).toBe(true);
  });

  it('of an interrupted conversation that its own query continues', async () => {
    const { session } = probing();
    await claudeCode(breakerHooks(session)).before('a');
    await claudeCode(breakerHooks(session)).tell('UserPromptSubmit');
    expect(isProbeFree(session)).toBe(true);
  });

  it('of sub-agents that the agent waited for, when a person speaks after an interruption', async () => {
    const { session, outcomes } = probing();
    const hooks = breakerHooks(session);
    await claudeCode(hooks, 'one', 'helper').before('a');
    await claudeCode(hooks).tell('UserPromptSubmit');
    expect(outcomes.at(-1)).toBe('search: ignored, cancelled');
    expect(isProbeFree(session)).toBe(true);
  });

  it('of a stopped sub-agent in the background, when the agent has ended', async () => {
    const { session, outcomes } = probing();
    const hooks = breakerHooks(session);
    const main = claudeCode(hooks);
    await main.after('start', { status: 'async_launched', agentId: 'helper' }, 'Agent');
    await claudeCode(hooks, 'one', 'helper').before('a');
    await main.tell('Stop', { background_tasks: [{ id: 'helper' }] });
    await main.tell('UserPromptSubmit');
    expect(outcomes.at(-1)).toBe('search: failure, network');
    await main.tell('Stop', { background_tasks: [] });
    expect(outcomes.at(-1)).toBe('search: ignored, cancelled');
    expect(isProbeFree(session)).toBe(true);
  });

  it('while calls of others continue', async () => {
    const watched = watchedSession();
    const hooks = breakerHooks(watched.session);
    const main = claudeCode(hooks);
    await main.after('start', { status: 'async_launched', agentId: 'helper' }, 'Agent');
    const others = [claudeCode(hooks, 'one', 'helper'), claudeCode(hooks, 'two')];
    for (const [index, other] of others.entries()) await other.before(`${index}`);
    for (const event of ['UserPromptSubmit', 'Stop', 'StopFailure', 'SessionEnd'] as const) await main.tell(event);
    await claudeCode(hooks, 'one', 'another').tell('SubagentStop');
    await claudeCode(hooks, 'on').tell('SessionEnd');
    expect(watched.outcomes).toEqual([]);
    for (const [index, other] of others.entries()) await other.after(`${index}`, 'found');
    expect(watched.outcomes).toEqual(['search: success', 'search: success']);
  });

  it('while all calls continue if a prompt is only queued', async () => {
    const { session, outcomes } = watchedSession();
    const claude = claudeCode(breakerHooks(session));
    await claude.before('a');
    await claude.tell('UserPromptSubmit', { source: 'poll_event' });
    await claude.after('a', 'found');
    expect(outcomes).toEqual(['search: success']);
  });
});

describe('a call that asks a person', () => {
  it('C3: has the duration of its tool, not of the person', async () => {
    let ms = 0;
    const clock = { now: () => ms, unixNow: () => ms };
    const slowCallRate = { slowerThanMs: 1_000, rate: 0.5, minimumCalls: 1, windowCalls: 4 };
    const { session, outcomes, decisions } = watchedSession({ clock, tools: { search: { slowCallRate } } });
    const claude = claudeCode(breakerHooks(session));
    for (const id of ['a', 'b']) {
      await claude.before(id);
      await claude.asking(id);
      ms += 3_600_000;
      if (id === 'a') await claude.after(id, 'found', 'search', { duration_ms: 20 });
      else await claude.failed(id, 'unknown order id', { duration_ms: 20 });
    }
    expect(decisions).toEqual(['search: call', 'search: call']);
    expect(outcomes).toEqual(['search: success', 'search: ignored, tool_error']);
    expect(session.peek('search')).toMatchObject({ state: 'closed' });
  });

  it('C8: is not a probe until its tool runs, and another call may be one before', async () => {
    const { session, decisions, outcomes } = probing();
    const claude = claudeCode(breakerHooks(session));
    await claude.before('a');
    await claude.asking('a');
    await claude.before('b');
    await claude.after('a', 'found'); // The place is taken: this one says nothing.
    await claude.after('b', 'found');
    expect(decisions.slice(1)).toEqual(['search: probe', 'search: probe', 'search: skip']);
    expect(outcomes.slice(1)).toEqual(['search: ignored, cancelled', 'search: success']);
  });

  it('C8: costs nothing more if the person says no, or never answers', async () => {
    const { session, decisions, outcomes } = probing();
    const claude = claudeCode(breakerHooks(session));
    for (const end of [() => claude.batch('a'), () => claude.tell('UserPromptSubmit')]) {
      await claude.before('a');
      await claude.asking('a');
      await end();
      await claude.after('a', 'late');
    }
    expect(decisions.slice(1)).toEqual(['search: probe', 'search: probe']);
    expect(outcomes.slice(1)).toEqual(['search: ignored, cancelled', 'search: ignored, cancelled']);
  });
});

describe('calls that the hooks keep', () => {
  it('leave nothing on a signal when no call is in progress, however they end', async () => {
    const { session } = watchedSession();
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    for (let query = 0; query < 20; query += 1) {
      const claude = claudeCode(breakerHooks(session, { signal }), `${query}`);
      const ends = [
        () => claude.after('a', 'found'),
        () => claude.failed('a', 'no such order'),
        () => claude.batch('a'),
        () => claude.tell('UserPromptSubmit'),
        () => claude.before('a').then(() => claude.after('a', 'found')),
      ];
      for (const end of ends) {
        await claude.before('a');
        expect(listeners()).toBe(1);
        await end();
        expect(listeners()).toBe(0);
      }
    }
  });

  it('are at most 1,000 calls whose ends no hook reported', async () => {
    const { session, outcomes } = watchedSession();
    const { signal } = new AbortController();
    for (let query = 0; query < 1_002; query += 1) {
      await claudeCode(breakerHooks(session, { signal }), `${query}`).before(`${query}`);
    }
    expect(getEventListeners(signal, 'abort').length).toBe(1_000);
    expect(outcomes).toEqual(['search: ignored, cancelled', 'search: ignored, cancelled']);
  });

  it('C8: do not include a call that comes after its abort', async () => {
    const { session, outcomes } = watchedSession();
    await claudeCode(breakerHooks(session, { signal: AbortSignal.abort() })).before('a');
    expect(outcomes).toEqual(['search: ignored, cancelled']);
  });
});

describe('D6: a query whose run is paused', () => {
  it('D6: ends after two turns in a row with a paused call, but not if the limit was extended meanwhile', async () => {
    const { session } = watchedSession({ limits: { calls: 1 } });
    const claude = claudeCode(breakerHooks(session));
    const turn = async (id: string, meanwhile = () => {}) => {
      await claude.before(id);
      meanwhile();
      return claude.batch(id);
    };
    await turn('a');
    expect(await turn('b')).toEqual({});
    expect(await turn('c', () => session.extend('calls', 1))).toEqual({});
    await turn('d');
    expect(await turn('e')).toEqual({});
    expect(await turn('f')).toMatchObject({ continue: false });
  });
});
