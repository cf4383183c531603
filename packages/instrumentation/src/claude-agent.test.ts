import type {
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  Options,
  SyncHookJSONOutput,
} from '@anthropic-ai/claude-agent-sdk';
import { BreakerboxConfigError, BreakerboxUsageError, type Session } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { breakerHooks, type Hooks, mergeHooks } from './claude-agent.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { watchedSession } from './test-support/watched-session.ts';

const REFUSED = 'connect ECONNREFUSED 127.0.0.1:9';

/** Claude Code, as hooks see it: tells of what happens in one conversation. */
const claudeCode = (hooks: Hooks, conversation = 'one', agent?: string) => {
  const base = {
    session_id: conversation,
    transcript_path: '',
    cwd: '',
    ...(agent !== undefined && { agent_id: agent }),
  };
  const tell = async (event: HookEvent, input: object = {}): Promise<SyncHookJSONOutput> => {
    const told = { ...base, hook_event_name: event, ...input } as HookInput;
    const { signal } = new AbortController();
    const said = await Promise.all(
      (hooks[event] ?? []).flatMap((one) => one.hooks.map((hook) => hook(told, undefined, { signal }))),
    );
    return Object.assign({}, ...said);
  };
  const call = (id: string, tool: string, q: string) => ({ tool_use_id: id, tool_name: tool, tool_input: { q } });
  return {
    tell,
    before: (id: string, tool = 'search', q = id) => tell('PreToolUse', call(id, tool, q)),
    after: (id: string, response: unknown, tool = 'search') =>
      tell('PostToolUse', { ...call(id, tool, id), tool_response: response }),
    failed: (id: string, error: string, more: object = {}, tool = 'search') =>
      tell('PostToolUseFailure', { ...call(id, tool, id), error, ...more }),
    batch: (...ids: string[]) => tell('PostToolBatch', { tool_calls: ids.map((id) => call(id, 'search', id)) }),
  };
};

const denied = (reason: unknown) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
});

/** A session whose `search` is due for a probe. */
const probing = () => {
  const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
  watched.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  for (let step = 0; step < 3; step += 1) watched.session.step();
  return watched;
};

const isProbeFree = (session: Session): boolean => session.acquire('search').decision === 'probe';

afterEach(() => diag.disable());

describe('breakerHooks', () => {
  it('are what options.hooks takes', () => {
    const { session } = watchedSession();
    const alone = { hooks: breakerHooks(session) } satisfies Options;
    const merged = { hooks: mergeHooks({}, breakerHooks(session)) } satisfies Options;
    expect(Object.keys(merged.hooks)).toEqual(Object.keys(alone.hooks));
  });

  it('allow nothing: they say nothing of a call that may be made', async () => {
    const watched = watchedSession();
    const claude = claudeCode(breakerHooks(watched.session));
    expect(await claude.before('a')).toEqual({});
    expect(await claude.after('a', [{ type: 'text', text: 'found' }])).toEqual({});
    expect(await claude.batch('a')).toEqual({});
    expect(watched.outcomes).toEqual(['search: success']);
    expect(watched.session.view().step).toBe(1);
  });

  it('R3: deny a call of a tool that is out, with the reason for the model', async () => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const claude = claudeCode(breakerHooks(watched.session));
    await claude.before('a');
    await claude.failed('a', REFUSED);
    expect(await claude.before('b')).toEqual(denied(expect.stringContaining("Tool 'search' is unavailable")));
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });

  it.each<[string, string, object, string]>([
    ['a tool that tells of an outage has failed', 'HTTP 503 Service Unavailable', {}, 'failure, server'],
    ['so has one that ran out of time', 'MCP server "t" tool "search" timed out after 1s', {}, 'failure, timeout'],
    ['so has one whose server died', 'Connection closed', {}, 'failure, network'],
    ['a business error costs nothing', 'unknown order id', {}, 'ignored, tool_error'],
    [
      'nor do bad arguments',
      'MCP error -32602: Input validation error: Invalid arguments',
      {},
      'ignored, invalid_input',
    ],
    ['nor does an interruption, whatever is said', REFUSED, { is_interrupt: true }, 'ignored, cancelled'],
  ])('O2: %s', async (_, error, more, outcome) => {
    const watched = watchedSession();
    const claude = claudeCode(breakerHooks(watched.session));
    await claude.before('a');
    await claude.failed('a', error, more);
    expect(watched.outcomes).toEqual([`search: ${outcome}`]);
  });

  it.each(['Exit code 7\ncurl: (7) Connection refused', 'Exit code 1\nexpected 200, got 503 Service Unavailable'])(
    'O2: what a command of the shell says is an answer: %j',
    async (error) => {
      const watched = watchedSession();
      const claude = claudeCode(breakerHooks(watched.session));
      await claude.before('a', 'Bash');
      await claude.failed('a', error, {}, 'Bash');
      expect(watched.outcomes).toEqual(['Bash: ignored, tool_error']);
    },
  );

  it('O2: a result may report an error in its own way', async () => {
    const watched = watchedSession();
    const claude = claudeCode(breakerHooks(watched.session));
    await claude.before('a');
    await claude.after('a', { error: REFUSED });
    expect(watched.outcomes).toEqual(['search: failure, network']);
  });

  it('F2: the last good result stands in the reason, with its label', async () => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } });
    const claude = claudeCode(breakerHooks(watched.session));
    const answers = [
      [
        { type: 'text', text: 'found' },
        { type: 'image', data: '' },
      ],
      'as text',
      { rows: [1] },
    ];
    for (const [index, answer] of answers.entries()) {
      await claude.before(`${index}`);
      await claude.after(`${index}`, answer);
    }
    await claude.before('down');
    await claude.failed('down', REFUSED);
    const wanted = [
      /^\[stale: .*\]\nfound\n\[image\]$/,
      /^\[stale: .*\]\nas text$/,
      /^\{"rows":\[1\],"freshness":"stale: .*"\}$/,
    ];
    for (const [index, reason] of wanted.entries()) {
      expect(await claude.before(`again-${index}`, 'search', `${index}`)).toEqual(
        denied(expect.stringMatching(reason)),
      );
    }
  });

  it('F1: a result that may not be current is told of beside it', async () => {
    const watched = watchedSession({ tools: { search: { labelFreshness: true } } });
    const claude = claudeCode(breakerHooks(watched.session));
    for (const id of ['a', 'b']) await claude.before(id, 'search', 'same');
    expect(await claude.after('a', 'found')).toEqual({});
    expect(await claude.after('b', 'found')).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        additionalContext: expect.stringMatching(/^\[cached: .*\]$/),
      },
    });
  });

  it('P1: the calls of one turn are one step, those of a sub-agent another', async () => {
    const { session } = watchedSession();
    const hooks = breakerHooks(session);
    await claudeCode(hooks).batch('a', 'b', 'c');
    await claudeCode(hooks, 'one', 'helper').batch('d');
    expect(session.view().step).toBe(2);
  });

  it('give tools the names that they are told, and leave alone those that have none', async () => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const nameOf = (tool: string) => (tool.startsWith('mcp__t__') ? tool.slice(8) : undefined);
    const claude = claudeCode(breakerHooks(watched.session, { nameOf }));
    for (const tool of ['mcp__t__search', 'Bash']) {
      await claude.before(tool, tool);
      await claude.failed(tool, REFUSED, {}, tool);
    }
    expect(await claude.before('again', 'mcp__t__search')).toEqual(denied(expect.anything()));
    expect(watched.box.tools).toEqual(['search']);
  });

  it('add what is out to a prompt, if they are to', async () => {
    const { session } = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const [quiet, noting] = [breakerHooks(session), breakerHooks(session, { note: true })].map((one) =>
      claudeCode(one),
    );
    expect(await noting?.tell('UserPromptSubmit', { prompt: 'go' })).toEqual({});
    session.acquire('search').settle({ outcome: 'failure', category: 'network' });
    expect(await quiet?.tell('UserPromptSubmit', { prompt: 'go' })).toEqual({});
    expect(await noting?.tell('UserPromptSubmit', { prompt: 'go' })).toEqual({
      hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: session.note() },
    });
  });

  it('E5: what goes wrong in them is told to `diag`, and Claude Code goes on as without', async () => {
    const said = listenToDiag();
    const nobody = () => {
      throw new Error('no session here');
    };
    const claude = claudeCode(breakerHooks(nobody));
    expect(await claude.before('a')).toEqual({});
    expect(await claude.after('a', 'found')).toEqual({});
    expect(await claude.batch('a')).toEqual({});
    expect(said.flat().join()).toContain('the PreToolUse hook');
  });

  it('refuse what cannot work', () => {
    const { session } = watchedSession();
    expect(() => breakerHooks({} as never)).toThrow(BreakerboxUsageError);
    expect(() => breakerHooks(session, null as never)).toThrow(BreakerboxConfigError);
    expect(() => breakerHooks(session, { nameOf: 'search' } as never)).toThrow(BreakerboxConfigError);
    expect(() => breakerHooks(session, { signal: {} } as never)).toThrow(/abortController/);
    expect(() => breakerHooks(session, { timeoutMs: 5 } as never)).toThrow(/is no setting/);
  });
});

describe('C8: a call that is never run takes no probe with it', () => {
  it.each<[string, (claude: ReturnType<typeof claudeCode>) => Promise<unknown>, string]>([
    ['denied by a rule, a person or another hook', (claude) => claude.batch('a'), 'denied'],
    [
      'denied by the permission classifier',
      (claude) => claude.tell('PermissionDenied', { tool_use_id: 'a' }),
      'denied',
    ],
    ['interrupted, and somebody speaks again', (claude) => claude.tell('UserPromptSubmit'), 'cancelled'],
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

  it('of a sub-agent that is done', async () => {
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

  it('of an interrupted conversation that a query of its own goes on with', async () => {
    const { session } = probing();
    await claudeCode(breakerHooks(session)).before('a');
    await claudeCode(breakerHooks(session)).tell('UserPromptSubmit');
    expect(isProbeFree(session)).toBe(true);
  });

  it('but what others have on their way goes on', async () => {
    const watched = watchedSession();
    const hooks = breakerHooks(watched.session);
    const others = [claudeCode(hooks, 'one', 'helper'), claudeCode(hooks, 'two')];
    for (const [index, other] of others.entries()) await other.before(`${index}`);
    const main = claudeCode(hooks);
    for (const event of ['UserPromptSubmit', 'Stop', 'StopFailure'] as const) await main.tell(event);
    await claudeCode(hooks, 'one', 'another').tell('SubagentStop');
    await claudeCode(hooks, 'on').tell('SessionEnd');
    expect(watched.outcomes).toEqual([]);
    for (const [index, other] of others.entries()) await other.after(`${index}`, 'found');
    expect(watched.outcomes).toEqual(['search: success', 'search: success']);
  });
});

describe('mergeHooks', () => {
  const matcher = (more: Partial<HookCallbackMatcher> = {}): HookCallbackMatcher => ({
    hooks: [async () => ({})],
    ...more,
  });

  it('keeps matchers as they are, and their order', () => {
    const [bash, all, end] = [matcher({ matcher: 'Bash', timeout: 5 }), matcher(), matcher()];
    const own = { PreToolUse: [bash], Stop: [end] };
    const more = { PreToolUse: [all] };
    const merged = mergeHooks(own, undefined, more);
    expect(merged).toEqual({ PreToolUse: [bash, all], Stop: [end] });
    expect(merged.PreToolUse?.[0]).toBe(bash);
    expect([own, more]).toEqual([{ PreToolUse: [bash], Stop: [end] }, { PreToolUse: [all] }]);
  });

  it('leaves ours beside those of the user', async () => {
    const watched = watchedSession();
    const ask = { hookSpecificOutput: { hookEventName: 'PreToolUse' as const, permissionDecision: 'ask' as const } };
    const claude = claudeCode(
      mergeHooks({ PreToolUse: [matcher({ hooks: [async () => ask] })] }, breakerHooks(watched.session)),
    );
    expect(await claude.before('a')).toEqual(ask);
    expect(watched.decisions).toEqual(['search: call']);
  });

  it('refuses what is none', () => {
    for (const wrong of [null, [], 5, { PreToolUse: async () => ({}) }]) {
      expect(() => mergeHooks({}, wrong as never)).toThrow(BreakerboxUsageError);
    }
    expect(mergeHooks()).toEqual({});
  });
});
