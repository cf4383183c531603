import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import { Agent, type CallModelInputFilter, Runner, tool } from '@openai/agents';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { currentSession } from '../session.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { ask, refused, runAgent, runner } from '../test-support/openai-runs.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerSteps, guardToolFactory } from './openai-agents.ts';

const search = { name: 'search', description: 'Searches', parameters: z.object({ q: z.string() }) };

afterEach(() => {
  diag.disable();
});

describe('breakerSteps', () => {
  it('fits callModelInputFilter', () => {
    expectTypeOf(breakerSteps(watchedSession().session)).toExtend<CallModelInputFilter>();
  });

  it.each([false, true])('P1: counts each turn once, of each agent of the run; streaming: %s', async (stream) => {
    const { session } = watchedSession();
    const guarded = guardToolFactory(tool, session);
    const made = guarded({ ...search, execute: async () => 'found' });
    const writer = new Agent({ name: 'writer', model: scriptedModel(['Written.']).model });
    const { model } = scriptedModel([[ask('a'), ask('b')], [{ tool: 'transfer_to_writer', input: {} }]]);
    const agent = new Agent({ name: 'researcher', model, tools: [made], handoffs: [writer] });
    const options = { callModelInputFilter: breakerSteps(session) };
    if (stream) await (await runner.run(agent, 'go', { ...options, stream })).completed;
    else await runner.run(agent, 'go', options);
    expect(session.view().step).toBe(3);
  });

  it('P1: an agent that is used as a tool is a separate run, and needs it too', async () => {
    for (const given of [false, true]) {
      const { session } = watchedSession();
      const callModelInputFilter = breakerSteps(session);
      const helper = new Agent({ name: 'helper', model: scriptedModel(['Helped.']).model });
      const asTool = helper.asTool({
        toolName: 'help',
        toolDescription: 'Helps',
        ...(given && { runOptions: { callModelInputFilter } }),
      });
      const { model } = scriptedModel([[{ tool: 'help', input: { input: 'please' } }], 'Done.']);
      const agent = new Agent({ name: 'researcher', model, tools: [asTool] });
      await new Runner({ tracingDisabled: true, callModelInputFilter }).run(agent, 'go');
      expect(session.view().step).toBe(given ? 3 : 2);
    }
  });

  it('E5: without a session, the run continues, and the error is reported, by the tools too', async () => {
    const diagnosed = listenToDiag();
    const made = guardToolFactory(tool, currentSession)({ ...search, execute: async () => 'found' });
    const options = { callModelInputFilter: breakerSteps(currentSession) };
    const { text } = await runAgent([made], [[ask('x')], 'Done.'], { options });
    expect(text).toBe('Done.');
    expect(diagnosed.map(([words]) => words)).toEqual([
      expect.stringContaining('breakerSteps() failed'),
      expect.stringContaining('guardToolFactory(): no session was found'),
      expect.stringContaining('breakerSteps() failed'),
    ]);
  });

  it('lists unavailable tools for the model, if asked to, after the instructions of the agent', async () => {
    const { session } = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const made = guardToolFactory(tool, session)({ ...search, execute: () => Promise.reject(refused) });
    const told: (string | undefined)[] = [];
    const { model } = scriptedModel([[ask('x')], 'Done.']);
    const listening: typeof model = {
      ...model,
      getResponse: (request) => {
        told.push(request.systemInstructions);
        return model.getResponse(request);
      },
    };
    const options = { callModelInputFilter: breakerSteps(session, { note: true }) };
    await runAgent([made], [], { model: listening, instructions: 'Be brief.', options });
    expect(told).toEqual(['Be brief.', `Be brief.\n\n<breakerbox>\n${session.note()}\n</breakerbox>`]);
    expect(session.note()).toContain("'search'");
  });

  it('rejects invalid arguments', () => {
    const { box, session } = watchedSession();
    expect(() => breakerSteps(box as never)).toThrow(BreakerboxUsageError);
    expect(() => breakerSteps(session, { note: 'yes' } as never)).toThrow(BreakerboxConfigError);
  });
});
