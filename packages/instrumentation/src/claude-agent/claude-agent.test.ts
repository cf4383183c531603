import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { claudeCode } from '../test-support/claude-code.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { groupOf, watchedSession } from '../test-support/watched-session.ts';
import { breakerHooks, mergeHooks } from './claude-agent.ts';

const REFUSED = 'connect ECONNREFUSED 127.0.0.1:9';

const denied = (reason: unknown) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
});

afterEach(() => diag.disable());

/** Longer than what is searched as a whole; the end is what would count as an outage. */
const LONG = `${'a line of notes, '.repeat(40)}connect ECONNREFUSED 10.0.0.1:80`;

describe('breakerHooks', () => {
  it('fit into options.hooks', () => {
    const { session } = watchedSession();
    const alone = { hooks: breakerHooks(session) } satisfies Options;
    const merged = { hooks: mergeHooks({}, breakerHooks(session)) } satisfies Options;
    expect(Object.keys(merged.hooks)).toEqual(Object.keys(alone.hooks));
  });

  it('allow nothing: they do not answer for a call that may be made', async () => {
    const watched = watchedSession();
    const claude = claudeCode(breakerHooks(watched.session));
    expect(await claude.before('a')).toEqual({});
    expect(await claude.after('a', [{ type: 'text', text: 'found' }])).toEqual({});
    expect(await claude.batch('a')).toEqual({});
    expect(watched.outcomes).toEqual(['search: success']);
    expect(watched.session.view().step).toBe(1);
  });

  it('C13: the group of a tool of an MCP server is the server, unless the option names another', async () => {
    const { session } = watchedSession();
    const nameOf = (tool: string) => tool.split('__').at(-1);
    const group = (tool: string) => (tool === 'WebFetch' ? 'web' : undefined);
    const claude = claudeCode(breakerHooks(session, { nameOf, group }));
    for (const tool of ['mcp__my_docs__search', 'mcp__docs__list_all', 'WebFetch', 'Bash'])
      await claude.before(tool, tool);
    const groups = ['search', 'list_all', 'WebFetch', 'Bash'].map((tool) => groupOf(session, tool));
    expect(groups).toEqual(['my_docs', 'docs', 'web', undefined]);
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
    'O2: output of a shell command is an answer: %j',
    async (error) => {
      const watched = watchedSession();
      const claude = claudeCode(breakerHooks(watched.session));
      await claude.before('a', 'Bash');
      await claude.failed('a', error, {}, 'Bash');
      expect(watched.outcomes).toEqual(['Bash: ignored, tool_error']);
    },
  );

  it.each<[string, string, object, string, string]>([
    [
      'Grep',
      'rg: regex parse error:\n    (?:if (code === "ECONNREFUSED")\n    ^\nerror: unclosed group',
      { pattern: 'if (code === "ECONNREFUSED"' },
      'ignored, tool_error',
      'quotes a pattern',
    ],
    [
      'mcp__notes__edit',
      'old_str `search answers 503` and `timed out` did not appear',
      { edits: [{ old_str: 'search answers 503' }, { old_str: 'timed out' }] },
      'ignored, tool_error',
      'quotes what is deep in its input',
    ],
    [
      'mcp__notes__edit',
      `old_str ${LONG} did not appear`,
      { old_str: LONG },
      'ignored, tool_error',
      'quotes a long text',
    ],
    [
      'mcp__notes__edit',
      'HTTP 503 of notes',
      { note: 'notes', page: '503' },
      'failure, server',
      'says more than it quotes',
    ],
  ])("O2: errors about the model's request are answers: an error of %s", async (tool, error, input, outcome) => {
    const watched = watchedSession();
    const claude = claudeCode(breakerHooks(watched.session));
    await claude.before('a', tool);
    await claude.failed('a', error, { tool_input: input }, tool);
    expect(watched.outcomes).toEqual([`${tool}: ${outcome}`]);
  });

  it.each([
    'Unable to verify if domain example.com is safe to fetch. This may be due to network restrictions or enterprise security policies.',
    'error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER',
  ])('O2: the usual outages of WebFetch are network errors: %j', async (error) => {
    const watched = watchedSession();
    const claude = claudeCode(breakerHooks(watched.session));
    await claude.before('a', 'WebFetch');
    await claude.failed('a', error, {}, 'WebFetch');
    expect(watched.outcomes).toEqual(['WebFetch: failure, network']);
  });

  it('F2: the last good result is in the reason, with its label', async () => {
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

  it('F1: a result that may not be current is labelled beside it', async () => {
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

  it('D2: what is left of a limit is context beside one result', async () => {
    const watched = watchedSession({ limits: { calls: 2 } });
    const claude = claudeCode(breakerHooks(watched.session));
    for (const id of ['a', 'b']) await claude.before(id);
    expect(await claude.after('a', 'found')).toEqual({});
    const additionalContext = expect.stringMatching(
      /^<breakerbox>\nThis run has used 2 of 2 tool calls\..*<\/breakerbox>$/s,
    );
    expect(await claude.after('b', 'found')).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext },
    });
  });

  it('P1, D1: the calls of one turn are one step, and those of a sub-agent count in its own session', async () => {
    const { session } = watchedSession();
    const hooks = breakerHooks(session);
    await claudeCode(hooks).batch('a', 'b', 'c');
    await claudeCode(hooks, 'one', 'helper').batch('d');
    expect(session.view().step).toBe(1);
    expect(report(session).children).toMatchObject([{ session: 'helper', used: { steps: 1 } }]);
  });

  it('give tools the names from nameOf, and ignore tools without a name', async () => {
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

  it('E5: decide nothing if nameOf returns a promise, and its rejection does not end the process', async () => {
    const heard = listenToDiag();
    const watched = watchedSession();
    const nameOf = async () => Promise.reject(new Error('no names'));
    expect(await claudeCode(breakerHooks(watched.session, { nameOf: nameOf as never })).before('a')).toEqual({});
    expect(watched.decisions).toEqual([]);
    await expect.poll(() => heard.map(([, error]) => String(error))).toContain('Error: no names');
  });

  it('do not guard the tools by which a paused agent answers, asks and plans, unless nameOf names them', async () => {
    const watched = watchedSession({ budget: { failures: 1 } });
    watched.session.acquire('other').settle({ outcome: 'failure', category: 'network' });
    const paused = denied(expect.stringContaining('Tool calls are paused'));
    const asItIs = claudeCode(breakerHooks(watched.session, { nameOf: (tool) => tool }));
    const named = claudeCode(breakerHooks(watched.session, { nameOf: (tool) => `claude.${tool}` }));
    for (const tool of [
      'StructuredOutput',
      'AskUserQuestion',
      'ExitPlanMode',
      'TodoWrite',
      'TaskStop',
      'SendMessage',
    ]) {
      expect(await claudeCode(breakerHooks(watched.session)).before(tool, tool)).toEqual({});
      expect(await asItIs.before(tool, tool)).toEqual({});
      expect(await named.before(tool, tool)).toEqual(paused);
    }
    expect(await asItIs.before('a', 'Bash')).toEqual(paused);
  });

  it('add unavailable tools to a prompt, if asked to', async () => {
    const { session } = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const [quiet, noting] = [breakerHooks(session), breakerHooks(session, { note: true })].map((one) =>
      claudeCode(one),
    );
    expect(await noting?.tell('UserPromptSubmit', { prompt: 'go' })).toEqual({});
    session.acquire('search').settle({ outcome: 'failure', category: 'network' });
    expect(await quiet?.tell('UserPromptSubmit', { prompt: 'go' })).toEqual({});
    expect(await noting?.tell('UserPromptSubmit', { prompt: 'go' })).toEqual({
      hookSpecificOutput: {
        hookEventName: 'UserPromptSubmit',
        additionalContext: `<breakerbox>\n${session.note()}\n</breakerbox>`,
      },
    });
  });

  it('E5: report their own errors to `diag`, and Claude Code continues', async () => {
    const said = listenToDiag();
    const noSession = () => {
      throw new Error('no session here');
    };
    const claude = claudeCode(breakerHooks(noSession));
    expect(await claude.before('a')).toEqual({});
    expect(await claude.after('a', 'found')).toEqual({});
    expect(await claude.batch('a')).toEqual({});
    expect(said.flat().join()).toContain('the PreToolUse hook');
  });

  it('rejects invalid arguments', () => {
    const { session } = watchedSession();
    expect(() => breakerHooks({} as never)).toThrow(BreakerboxUsageError);
    expect(() => breakerHooks(session, null as never)).toThrow(BreakerboxConfigError);
    expect(() => breakerHooks(session, { nameOf: 'search' } as never)).toThrow(BreakerboxConfigError);
    expect(() => breakerHooks(session, { signal: {} } as never)).toThrow(/abortController/);
    expect(() => breakerHooks(session, { timeoutMs: 5 } as never)).toThrow(/is not an option/);
  });
});
