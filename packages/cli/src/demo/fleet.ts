import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '@breakerbox/core';
import { generateText, isStepCount } from 'ai';
import { type Agent, toolInput } from './agents.ts';
import type { Journal } from './journal.ts';
import { attend } from './operator.ts';
import { createPlan } from './plan.ts';
import { scriptedModel } from './scripted-model.ts';

/** The fleet at work. */
export interface Fleet {
  /** The session that an agent is in; undefined between two. */
  session(agent: string): Session | undefined;
  /** Resolves when `signal` has fired and every session has ended. Rejects with what no agent should ever meet. */
  readonly finished: Promise<void>;
}

const STEPS_PER_SESSION = 18;
const STEPS_PER_RUN = 200;
const BETWEEN_SESSIONS_MS = 600;

/** Sets all agents to work: each runs one session after another until `signal` fires. */
export const startFleet = (agents: readonly Agent[], journal: Journal, signal: AbortSignal): Fleet => {
  const sessions = new Map<string, Session>();

  const work = async (agent: Agent): Promise<void> => {
    while (!signal.aborted) {
      const session = agent.box.session();
      sessions.set(agent.name, session);
      try {
        await runSession(agent, session, journal, signal);
        sessions.delete(agent.name);
        await wait(BETWEEN_SESSIONS_MS, undefined, { signal });
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        session.end();
      }
    }
  };

  return {
    session: (agent) => sessions.get(agent),
    finished: Promise.all(agents.map(work)).then(() => undefined),
  };
};

/** One session: the AI SDK's loop until the plan is done, with somebody called whenever it pauses. */
const runSession = async (agent: Agent, session: Session, journal: Journal, signal: AbortSignal): Promise<void> => {
  const plan = createPlan({ tools: agent.toolNames, steps: STEPS_PER_SESSION, input: toolInput });
  const model = scriptedModel(plan, agent.thinkMs);
  const tools = agent.tools(session);
  while (!plan.done) {
    await generateText({
      model,
      tools,
      prompt: 'Do what is left of the plan.',
      stopWhen: isStepCount(STEPS_PER_RUN),
      maxRetries: 0,
      abortSignal: signal,
      onStepEnd: () => session.step(),
    });
    signal.throwIfAborted();
    if (session.view().state !== 'active') await attend(agent, session, journal, signal);
  }
};
