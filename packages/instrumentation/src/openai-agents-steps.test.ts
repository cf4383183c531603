import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import { Agent, type CallModelInputFilter, tool } from '@openai/agents';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { breakerSteps, guardToolFactory } from './openai-agents.ts';
import { ask, refused, runAgent, runner } from './test-support/openai-agents.ts';
import { watchedSession } from './test-support/watched-session.ts';

const search = { name: 'search', description: 'Searches', parameters: z.object({ q: z.string() }) };

describe('breakerSteps', () => {
  it('is what callModelInputFilter takes', () => {
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

  it('tells the model what is out, if asked to, after the instructions of the agent', async () => {
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
    expect(told).toEqual(['Be brief.', `Be brief.\n\n${session.note()}`]);
    expect(session.note()).toContain("'search'");
  });

  it('refuses what can not work', () => {
    const { box, session } = watchedSession();
    expect(() => breakerSteps(box as never)).toThrow(BreakerboxUsageError);
    expect(() => breakerSteps(session, { note: 'yes' } as never)).toThrow(BreakerboxConfigError);
  });
});
