import type { Options, Query } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { probing } from '../test-support/claude-code.ts';
import { type Answer, ask, call, gate, play, SEARCH, say, toItsEnd } from '../test-support/claude-query.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerHooks, mergeHooks } from './claude-agent.ts';

const HELPER = { description: 'look', prompt: 'Look.', subagent_type: 'general-purpose', run_in_background: false };

describe('Claude Code', () => {
  it("O2: its own tools, whose failures are the model's own, cost nothing", async () => {
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

  it('R3: its own tools are denied while they are unavailable, and sub-agents share the circuits', async () => {
    const { session, decisions, outcomes } = watchedSession({ tools: { [SEARCH]: { failureThreshold: 1 } } });
    const answer: Answer = () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:9'));
    const script = [call('Task', HELPER), ask('a'), 'Nothing there.', ask('b'), 'Done.'];
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
  ])('C8: a call that %s denies does not keep a probe', async (_, more) => {
    const { session, decisions, outcomes } = probing('Bash');
    await play({
      script: [call('Bash', { command: 'cat /etc/hostname' }), 'Done.'],
      options: { ...more, hooks: mergeHooks(more.hooks, breakerHooks(session)) },
    });
    expect(decisions).toEqual(['Bash: call', 'Bash: probe']);
    expect(outcomes.slice(1)).toEqual(['Bash: ignored, denied']);
    expect(session.acquire('Bash').decision).toBe('probe');
  });

  it.each(['by the agent', 'by its sub-agent'])(
    'C8: an interrupted probe is free again when a person speaks: one %s',
    async (who) => {
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
      let running: Query | undefined;
      const answer: Answer = async (q) => {
        if (q === 'on') return 'found';
        void running?.interrupt().then(() => interrupted.open());
        return new Promise(() => {});
      };
      const heard = await play({
        script: [...(who === 'by the agent' ? [] : [call('Task', HELPER)]), ask('hangs'), ask('on'), 'Done.'],
        options: {
          allowedTools: ['Task', SEARCH],
          hooks: mergeHooks({ Stop: [{ hooks: [stop] }] }, breakerHooks(session)),
        },
        answer,
        prompt: prompt(),
        read: (query) => {
          running = query;
          return toItsEnd(query);
        },
      });
      expect(heard.at(-1)).toBe('found');
      const ofSearch = (one: string) => one.startsWith(SEARCH);
      expect(decisions.filter(ofSearch).slice(1)).toEqual([`${SEARCH}: probe`, `${SEARCH}: probe`]);
      expect(outcomes.filter(ofSearch).slice(1)).toEqual([`${SEARCH}: ignored, cancelled`, `${SEARCH}: success`]);
    },
  );

  it('C9: a person may take longer than the lease of a probe', async () => {
    let ms = 0;
    const clock = { now: () => ms, unixNow: () => ms };
    const { session, decisions, outcomes, settled } = probing(SEARCH, { clock });
    await play({
      script: [ask('a'), 'Done.'],
      options: {
        canUseTool: async (_, updatedInput) => {
          await settled(2); // Its hook comes at the same time.
          ms += 3_600_000;
          return { behavior: 'allow', updatedInput };
        },
        hooks: breakerHooks(session),
      },
    });
    expect(decisions.slice(1)).toEqual([`${SEARCH}: probe`, `${SEARCH}: probe`]);
    expect(outcomes.slice(1)).toEqual([`${SEARCH}: ignored, cancelled`, `${SEARCH}: success`]);
    expect(session.peek(SEARCH)).toMatchObject({ state: 'closed' });
  });

  it('B1: a paused agent can still give its final answer', async () => {
    const { session } = watchedSession({ budget: { failures: 1 } });
    session.acquire('other').settle({ outcome: 'failure', category: 'network' });
    const schema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
    const answers: unknown[] = [];
    const heard = await play({
      script: [ask('a'), call('StructuredOutput', { answer: 'search is out' }), 'Done.'],
      options: {
        allowedTools: [SEARCH],
        outputFormat: { type: 'json_schema', schema },
        hooks: breakerHooks(session),
      },
      read: async (running) => {
        for await (const message of running)
          if ('structured_output' in message) answers.push(message.structured_output);
      },
    });
    expect(heard[0]).toContain('Tool calls are paused');
    expect(answers).toEqual([{ answer: 'search is out' }]);
  });
});
