import { createSdkMcpServer, type Options, query, tool } from '@anthropic-ai/claude-agent-sdk';
import type { BreakerboxConfig } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/claude-agent';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { breakerHooks, mergeHooks } from './claude-agent.ts';
import { watchedSession } from './test-support/watched-session.ts';

// Real Claude Code, a process of its own for each query, on a model that follows a script.

const SEARCH = 'mcp__t__search';
const call = (name: string, input: object) => [{ tool: name, input }];
const ask = (q: string) => call(SEARCH, { q });

type Answer = (q: string, signal: AbortSignal | undefined) => Promise<string>;

const serverOf = (answer: Answer) =>
  createSdkMcpServer({
    name: 't',
    tools: [
      tool('search', 'Searches', { q: z.string() }, async ({ q }, extra) => {
        const text = await answer(q, (extra as { signal?: AbortSignal }).signal);
        return { content: [{ type: 'text', text }] };
      }),
    ],
  });

const found: Answer = async (q) => `found ${q}`;

interface Play {
  readonly script: readonly ScriptedStep[];
  readonly options: Options;
  readonly answer?: Answer;
  readonly prompt?: Parameters<typeof query>[0]['prompt'];
  /** Gets the query when it has begun. */
  readonly meanwhile?: (running: ReturnType<typeof query>) => void;
}

/** What the model heard of its tools. A query that ends in an error has ended, too. */
const play = async ({
  script,
  options,
  answer = found,
  prompt = 'Go.',
  meanwhile,
}: Play): Promise<readonly string[]> => {
  const claude = await scriptedModel(script);
  try {
    const running = query({ prompt, options: { ...claude.options, mcpServers: { t: serverOf(answer) }, ...options } });
    meanwhile?.(running);
    try {
      for await (const _ of running);
    } catch {
      // An interrupted one says so by an error.
    }
    return claude.heard();
  } finally {
    await claude.stop();
  }
};

const say = (content: string) => ({
  type: 'user' as const,
  message: { role: 'user' as const, content },
  parent_tool_use_id: null,
  session_id: '',
});

const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
};

/** A session in which `tool` is due for a probe. */
const probing = (tool: string, more: BreakerboxConfig['tools'] = {}) => {
  const watched = watchedSession({ tools: { [tool]: { failureThreshold: 1 }, ...more } });
  watched.session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  for (let step = 0; step < 3; step += 1) watched.session.step();
  return watched;
};

describe('Claude Code', () => {
  it("O2: its own tools, whose failing is the model's business, cost nothing", async () => {
    const { session, outcomes } = watchedSession();
    const command = 'echo "connect ECONNREFUSED, 503 Service Unavailable" >&2; exit 7';
    const heard = await play({
      script: [
        call('Bash', { command }),
        call('Read', { file_path: '/no/such/file' }),
        call('Read', { path: 'wrong argument' }),
        call('Bash', { command: 'echo good' }),
        'Done.',
      ],
      options: { allowedTools: ['Bash', 'Read'], hooks: breakerHooks(session) },
    });
    expect(heard).toEqual([
      expect.stringMatching(/^Exit code 7\n.*ECONNREFUSED/s),
      expect.stringContaining('File does not exist'),
      expect.stringContaining('InputValidationError'),
      expect.stringContaining('good'),
    ]);
    expect(outcomes).toEqual(['Bash: ignored, tool_error', 'Read: ignored, tool_error', 'Bash: success']);
    expect(session.view().budget.consumed).toBe(0);
  });

  it('R3: its own tools are denied while they are out, and sub-agents share what is known of a tool', async () => {
    const { session, decisions, outcomes } = watchedSession({ tools: { [SEARCH]: { failureThreshold: 1 } } });
    const answer: Answer = () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:9'));
    const helper = { description: 'look', prompt: 'Look.', subagent_type: 'general-purpose', run_in_background: false };
    const script = [call('Task', helper), ask('a'), 'Nothing there.', ask('b'), 'Done.'];
    const options = { allowedTools: ['Task', SEARCH], hooks: breakerHooks(session) };
    const heard = await play({ script, options, answer });
    expect(heard.at(-1)).toContain(`Tool '${SEARCH}' is unavailable`);
    expect(decisions).toEqual(['Agent: call', `${SEARCH}: call`, `${SEARCH}: skip`]);
    expect(outcomes.toSorted()).toEqual(['Agent: success', `${SEARCH}: failure, network`]);
  });

  const deny = async () =>
    ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }) as const;

  it.each<[string, Options]>([
    ['the permission mode', { permissionMode: 'dontAsk' }],
    ['a rule', { allowedTools: ['Bash'], disallowedTools: ['Bash(cat:*)'] }],
    ['another hook', { allowedTools: ['Bash'], hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [deny] }] } }],
  ])('C8: a call that %s denies takes no probe with it', async (_, more) => {
    const { session, decisions, outcomes } = probing('Bash');
    await play({
      script: [call('Bash', { command: 'cat /etc/hostname' }), 'Done.'],
      options: { ...more, hooks: mergeHooks(more.hooks, breakerHooks(session)) },
    });
    expect(decisions).toEqual(['Bash: call', 'Bash: probe']);
    expect(outcomes.slice(1)).toEqual(['Bash: ignored, denied']);
    expect(session.acquire('Bash').decision).toBe('probe');
  });

  it('C8: a probe that is interrupted is free again when somebody speaks', async () => {
    const { session, decisions, outcomes } = probing(SEARCH);
    const [interrupted, done] = [gate(), gate()];
    const prompt = async function* () {
      yield say('Go.');
      await interrupted.opened;
      yield say('Go on.');
      await done.opened;
    };
    const stop = async () => {
      done.open();
      return {};
    };
    let running: ReturnType<typeof query> | undefined;
    const answer: Answer = async (q) => {
      if (q === 'on') return 'found';
      void running?.interrupt().then(() => interrupted.open());
      return new Promise(() => {});
    };
    const heard = await play({
      script: [ask('hangs'), ask('on'), 'Done.'],
      options: {
        allowedTools: [SEARCH],
        hooks: mergeHooks({ Stop: [{ hooks: [stop] }] }, breakerHooks(session)),
      },
      answer,
      prompt: prompt(),
      meanwhile: (query) => {
        running = query;
      },
    });
    expect(heard.at(-1)).toBe('found');
    expect(decisions.slice(1)).toEqual([`${SEARCH}: probe`, `${SEARCH}: probe`]);
    expect(outcomes.slice(1)).toEqual([`${SEARCH}: ignored, cancelled`, `${SEARCH}: success`]);
  });
});
