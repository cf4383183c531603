import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import { Agent, type RunContext, RunState, tool } from '@openai/agents';
import { diag } from '@opentelemetry/api';
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { ask, refused, runAgent, runner } from '../test-support/openai-runs.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardToolFactory } from './openai-agents.ts';

const parameters = z.object({ q: z.string() });
const search = { name: 'search', description: 'Searches', parameters };
const broken = async (): Promise<string> => {
  throw refused;
};
/** Its first failure opens it. */
const fragile = () => watchedSession({ tools: { search: { failureThreshold: 1 } } });
const REJECTION = /^Tool 'search' is unavailable: the last calls failed \(network\)/;

describe('guardToolFactory', () => {
  it('warns once, when the tool is made, that the SDK renamed it', async () => {
    const warn = vi.spyOn(diag, 'warn').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const watched = watchedSession();
    const guarded = guardToolFactory(tool, watched.session);
    const made = guarded({ ...search, name: 'web-search', execute: async () => 'found' });
    guarded({ ...search, execute: async () => 'found' });
    await runAgent([made], [[ask('x', 'web_search')], [ask('y', 'web_search')], 'Done.']);
    expect(watched.decisions).toEqual(Array(2).fill('web_search: call'));
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/renames tool 'web-search' to 'web_search'.*Use 'web_search' as the name/)],
    ]);
  });

  it('returns a function with the type of tool', () => {
    const guarded = guardToolFactory(tool, watchedSession().session);
    expectTypeOf(guarded).toEqualTypeOf(tool);
    const made = guarded({
      ...search,
      outputSchema: z.object({ hits: z.number() }),
      execute: async ({ q }) => ({ hits: q.length }),
    });
    expectTypeOf(made).toEqualTypeOf(
      tool({ ...search, outputSchema: z.object({ hits: z.number() }), execute: async ({ q }) => ({ hits: q.length }) }),
    );
  });

  it('makes the tool that the framework would have made', () => {
    const options = { description: 'Searches', parameters, execute: async function web_search() {} };
    const { box, session } = watchedSession();
    const guarded = guardToolFactory(tool, session)(options);
    expect(JSON.parse(JSON.stringify(guarded))).toEqual(JSON.parse(JSON.stringify(tool(options))));
    expect(box.tools).toEqual(['web_search']);
  });

  it('uses the name that the model calls', async () => {
    const watched = watchedSession();
    const made = guardToolFactory(
      tool,
      watched.session,
    )({ ...search, name: 'web search', execute: async () => 'found' });
    await runAgent([made], [[ask('x', 'web_search')], 'Done.']);
    expect(watched.outcomes).toEqual(['web_search: success']);
  });

  it('passes on the context and the details of the call, with a signal', async () => {
    const { session } = watchedSession();
    const execute = vi.fn(
      async (_input: unknown, context?: RunContext<unknown>, details?: { signal?: AbortSignal }) => {
        expect(details?.signal).toBeInstanceOf(AbortSignal);
        return `for ${context?.context}`;
      },
    );
    const made = guardToolFactory(tool, session)({ ...search, execute });
    const { heard } = await runAgent([made], [[ask('x')], 'Done.'], { options: { context: 'Ada' } as never });
    expect(heard).toEqual(['for Ada']);
    expect(execute.mock.calls[0]?.[2]).toMatchObject({ toolCall: { callId: 'call-1-1' } });
  });

  it('rejects invalid arguments, with a fix', () => {
    const { box, session } = watchedSession();
    expect(() => guardToolFactory(tool, box as never)).toThrow(BreakerboxUsageError);
    expect(() => guardToolFactory({} as never, session)).toThrow(
      /guardToolFactory\(\): got .* Pass the function tool of @openai\/agents/,
    );
    expect(() => guardToolFactory(tool, session, { timeoutMs: 0 })).toThrow(BreakerboxConfigError);
    expect(() => guardToolFactory(tool, session, { timeout: 5 } as never)).toThrow(/timeout.* is not an option/);
  });
});

describe('errors', () => {
  it('go to the errorFunction of the tool, which makes the text; rejections do not', async () => {
    const watched = fragile();
    const errorFunction = vi.fn((_: unknown, error: unknown) => `sorry: ${(error as Error).message}`);
    const made = guardToolFactory(tool, watched.session)({ ...search, execute: broken, errorFunction });
    const { heard } = await runAgent([made], [[ask('x')], [ask('y')], 'Done.']);
    const advised =
      /^sorry: connect ECONNREFUSED 127.0.0.1:9\n<breakerbox>Tool 'search' is not available now.*<.breakerbox>$/;
    expect(heard).toEqual([expect.stringMatching(advised), expect.stringMatching(REJECTION)]);
    expect(errorFunction).toHaveBeenCalledOnce();
    expect(errorFunction.mock.calls[0]?.[1]).toBe(refused);
  });

  it('end the run if errorFunction is null; rejections do not', async () => {
    const watched = fragile();
    const made = guardToolFactory(tool, watched.session)({ ...search, execute: broken, errorFunction: null });
    await expect(runAgent([made], [[ask('x')], 'Done.'])).rejects.toThrow('ECONNREFUSED');
    const { text, heard } = await runAgent([made], [[ask('x')], 'Done.']);
    expect(text).toBe('Done.');
    expect(heard).toEqual([expect.stringMatching(REJECTION)]);
    expect(watched.outcomes).toEqual(['search: failure, network']);
  });

  it('that end the run cost nothing for parallel calls, which are cancelled', async () => {
    const watched = watchedSession();
    const guarded = guardToolFactory(tool, watched.session);
    const failing = guarded({ ...search, execute: broken, errorFunction: null });
    const hanging = guarded({ ...search, name: 'news', execute: () => new Promise<string>(() => {}) });
    await expect(runAgent([failing, hanging], [[ask('x'), ask('x', 'news')], 'Done.'])).rejects.toThrow('ECONNREFUSED');
    await watched.settled(2);
    expect(watched.outcomes).toEqual(['search: failure, network', 'news: ignored, cancelled']);
  });
});

describe('the SDK around the tool', () => {
  it.each(['error_as_result', 'raise_exception'] as const)(
    'a timeout of the SDK is a failure: %s',
    async (behaviour) => {
      const watched = watchedSession();
      const execute = () => new Promise<string>(() => {});
      const guarded = guardToolFactory(tool, watched.session);
      const made = guarded({ ...search, execute, timeoutMs: 20, timeoutBehavior: behaviour });
      const run = runAgent([made], [[ask('x')], 'Done.']);
      if (behaviour === 'raise_exception') await expect(run).rejects.toThrow(/timed out/);
      else expect((await run).heard).toEqual([expect.stringContaining('timed out')]);
      await watched.settled(1);
      expect(watched.outcomes).toEqual(['search: failure, timeout']);
    },
  );

  it.each([
    ['its text', undefined, /^Tool 'search' timed out after 20ms\.\n<breakerbox>/],
    ['the text of your function', async () => 'too slow', /^too slow\n<breakerbox>/],
  ])('R5: after a timeout of the SDK, the advice follows %s', async (_, timeoutErrorFunction, words) => {
    const guarded = guardToolFactory(tool, fragile().session);
    const execute = () => new Promise<string>(() => {});
    const made = guarded({ ...search, execute, timeoutMs: 20, ...(timeoutErrorFunction && { timeoutErrorFunction }) });
    expect((await runAgent([made], [[ask('x')], 'Done.'])).heard).toEqual([expect.stringMatching(words)]);
  });

  it.each([
    ['a part', { type: 'text', text: 'connect ECONNREFUSED 127.0.0.1:9' } as const],
    ['a list of parts', [{ type: 'text', text: 'connect ECONNREFUSED 127.0.0.1:9' } as const]],
  ])('R5: the model reads the advice after an error that %s reports', async (_, output) => {
    const { session } = watchedSession({ tools: { pay: { failureThreshold: 1 } } });
    const pay = { name: 'pay', description: 'Pays', parameters: z.object({ sum: z.number() }) };
    const made = guardToolFactory(tool, session)({ ...pay, execute: async () => output });
    const { heard } = await runAgent([made], [[{ tool: 'pay', input: { sum: 1 } }], 'Done.']);
    expect(heard).toEqual([
      expect.stringMatching(/ECONNREFUSED 127.0.0.1:9\n<breakerbox>Tool 'pay' is not available now/),
    ]);
  });

  it('a call that waits for a person is decided when it is made, in any process that continues', async () => {
    const watched = watchedSession();
    const execute = vi.fn(async () => 'found');
    const made = guardToolFactory(tool, watched.session)({ ...search, execute, needsApproval: true });
    const { model, heard } = scriptedModel([[ask('x')], 'Done.']);
    const agent = new Agent({ name: 'researcher', model, tools: [made] });
    const { interruptions, state } = await runner.run(agent, 'go');
    expect(watched.decisions).toEqual([]);
    state.approve(interruptions[0] as (typeof interruptions)[number]);
    const stored = await RunState.fromString(agent, state.toString());
    expect((await runner.run(agent, stored)).finalOutput).toBe('Done.');
    expect(heard()).toEqual(['found']);
    expect(watched.decisions).toEqual(['search: call']);
  });

  it('a disabled tool is not there', async () => {
    const watched = watchedSession();
    const made = guardToolFactory(tool, watched.session)({ ...search, execute: async () => 'found', isEnabled: false });
    expect(await new Agent({ name: 'researcher', tools: [made] }).getAllTools(undefined as never)).toEqual([]);
  });

  it('a guardrail that rejects the call costs nothing; an output guardrail sees rejections too', async () => {
    const watched = watchedSession();
    const execute = vi.fn(async () => 'found');
    const refusing = {
      name: 'no',
      run: async () => ({ behavior: { type: 'rejectContent', message: 'not that' } }) as const,
    };
    const made = guardToolFactory(tool, watched.session)({ ...search, execute, inputGuardrails: [refusing] });
    expect((await runAgent([made], [[ask('x')], 'Done.'])).heard).toEqual(['not that']);
    expect(watched.decisions).toEqual([]);

    const seen: unknown[] = [];
    const looking = {
      name: 'look',
      run: async ({ output }: { output: unknown }) => {
        seen.push(output);
        return { behavior: { type: 'allow' } } as const;
      },
    };
    const other = guardToolFactory(
      tool,
      fragile().session,
    )({
      ...search,
      execute: broken,
      errorFunction: () => 'failed',
      outputGuardrails: [looking],
    });
    await runAgent([other], [[ask('x')], [ask('y')], 'Done.']);
    expect(seen).toEqual([expect.stringMatching(/^failed\n<breakerbox>/), expect.stringMatching(REJECTION)]);
  });

  it('a handoff is not a call, and the tools of both agents have their circuits', async () => {
    const watched = watchedSession();
    const guarded = guardToolFactory(tool, watched.session);
    const writer = new Agent({
      name: 'writer',
      model: scriptedModel([[ask('y', 'news')], 'Written.']).model,
      tools: [guarded({ ...search, name: 'news', execute: async () => 'the news' })],
    });
    const made = guarded({ ...search, execute: async () => 'found' });
    const steps = [[ask('x')], [{ tool: 'transfer_to_writer', input: {} }]];
    const { text } = await runAgent([made], steps, { handoffs: [writer] });
    expect(text).toBe('Written.');
    expect(watched.decisions).toEqual(['search: call', 'news: call']);
  });
});
