import { randomUUID } from 'node:crypto';
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
/** At pace 1, as the other times. */
const BETWEEN_SESSIONS_MS = 600;
/** Enough to tell the sessions of a demo apart. */
const ID_LENGTH = 8;
const NOTHING_TO_DO_MS = 500;

/** What an agent works with. */
interface Surroundings {
  readonly journal: Journal;
  /** How many times slower than the script all of it goes. */
  readonly pace: number;
  readonly signal: AbortSignal;
}

/** Sets all agents to work: each runs one session after another until `signal` fires. */
export const startFleet = (agents: readonly Agent[], around: Surroundings): Fleet => {
  const { pace, signal } = around;
  const sessions = new Map<string, Session>();

  const work = async (agent: Agent): Promise<void> => {
    while (!signal.aborted) {
      const session = agent.box.session({ id: randomUUID().slice(0, ID_LENGTH) });
      sessions.set(agent.name, session);
      try {
        await runSession(agent, session, around);
        sessions.delete(agent.name);
        await wait(BETWEEN_SESSIONS_MS * pace, undefined, { signal });
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

/**
 * One session: the AI SDK's loop until the plan is done. Before it, and when tools turn out to be out, the agent asks what it can do,
 * works on that and defers the rest. When the session pauses, it leaves a report and the operator is called.
 */
const runSession = async (agent: Agent, session: Session, around: Surroundings): Promise<void> => {
  const { journal, pace, signal } = around;
  const plan = createPlan({ duties: agent.duties, steps: STEPS_PER_SESSION, input: toolInput });
  const model = scriptedModel(plan, {
    thinkMs: agent.thinkMs,
    onStale: (tool, label) => journal.stale(agent.name, tool, label),
  });
  const tools = agent.tools(session);
  const isActive = (): boolean => session.view().state === 'active';
  const planScope = (): void => plan.reduceTo(session.planScope(plan.tasks));

  while (!plan.done) {
    planScope();
    await generateText({
      model,
      tools,
      prompt: 'Do what is left of the plan.',
      stopWhen: isStepCount(STEPS_PER_RUN),
      maxRetries: 0,
      abortSignal: signal,
      onStepEnd: () => {
        session.step();
        if (plan.needsScope && isActive()) planScope();
      },
    });
    signal.throwIfAborted();
    if (!isActive()) {
      planScope(); // So that the report says which tasks wait.
      journal.report(session.report({ done: plan.finished }));
      await attend(agent, session, around);
    } else if (!plan.done) {
      await wait(NOTHING_TO_DO_MS * pace, undefined, { signal });
    }
  }
};
