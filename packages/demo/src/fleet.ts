import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { planScope as planScopeOf } from '@breakerbox/core/scope';
import { generateText, isStepCount } from 'ai';
import { type Agent, toolInput } from './agents.ts';
import { attend, type Desk } from './operator.ts';
import { createPlan } from './plan.ts';

/** The running fleet. */
export interface Fleet {
  /** The current session of an agent; undefined between two sessions. */
  session(agent: string): Session | undefined;
  /** Resolves when `signal` has fired and every session has ended. Rejects with an unexpected error of an agent. */
  readonly finished: Promise<void>;
}

const STEPS_PER_SESSION = 18;
const STEPS_PER_RUN = 200;
/** At pace 1, like the other times. */
const BETWEEN_SESSIONS_MS = 600;
/** Long enough to distinguish the sessions of a demo. */
const ID_LENGTH = 8;
const NOTHING_TO_DO_MS = 500;

/** Starts all agents: each runs one session after another until `signal` fires. */
export const startFleet = (agents: readonly Agent[], context: Desk): Fleet => {
  const { pace, signal } = context;
  const sessions = new Map<string, Session>();

  const work = async (agent: Agent): Promise<void> => {
    while (!signal.aborted) {
      const session = agent.box.session({ id: randomUUID().slice(0, ID_LENGTH) });
      sessions.set(agent.name, session);
      try {
        await runSession(agent, session, context);
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
 * One session: the AI SDK's loop until the plan is done. Before it, and when tools are unavailable, the agent asks which tasks are
 * achievable, works on those and defers the rest. When the session pauses, it leaves a report and the operator is called.
 */
const runSession = async (agent: Agent, session: Session, context: Desk): Promise<void> => {
  const { journal, pace, signal } = context;
  const plan = createPlan({ duties: agent.duties, steps: STEPS_PER_SESSION, input: toolInput });
  const model = agent.model(plan, {
    thinkMs: agent.thinkMs,
    onStale: (tool, label) => journal.stale(agent.name, tool, label),
  });
  const tools = agent.tools(session);
  const isActive = (): boolean => session.view().state === 'active';
  const planScope = (): void => plan.reduceTo(planScopeOf(session, plan.tasks));

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
      planScope(); // The report then says which tasks wait.
      journal.report(report(session, { done: plan.finished }));
      await attend(agent, session.id, context);
    } else if (!plan.done) {
      await wait(NOTHING_TO_DO_MS * pace, undefined, { signal });
    }
  }
};
