import { setTimeout as wait } from 'node:timers/promises';
import type { Agent } from './agents.ts';
import type { Journal } from './journal.ts';
import type { Operations } from './operations.ts';

/** The time until the operator looks, and the time between looks, at pace 1. */
const REACTION_MS = 3000;
const LOOK_AGAIN_MS = 1000;

/** What the operator has. */
export interface Desk {
  readonly journal: Journal;
  /** How many times slower than the script everything runs. */
  readonly pace: number;
  readonly signal: AbortSignal;
  readonly operations: Operations;
}

/**
 * Plays the operator who is called when a session pauses. It waits, asks the services of the agent's tools whether they answer again,
 * and then acts through the control API, as `breakerbox ctl` does. You may be faster, with the console.
 */
export const attend = async (agent: Agent, id: string, desk: Desk): Promise<void> => {
  const { journal, pace, signal, operations } = desk;
  journal.operator(agent.name, 'called: the session is paused');
  await wait(REACTION_MS * pace, undefined, { signal });
  for (;;) {
    const answers = await Promise.all(agent.dependsOn.map((one) => one.healthy()));
    signal.throwIfAborted();
    if (answers.every(Boolean)) break;
    await wait(LOOK_AGAIN_MS * pace, undefined, { signal });
  }
  // The budget may be exhausted too, from failures before the systemic event.
  for (;;) {
    const session = await operations.session(agent.name, id);
    signal.throwIfAborted();
    if (session === undefined || session.state === 'active') return;
    const what = session.event === undefined ? 'resumes the session' : 'confirms the recovery';
    journal.operator(agent.name, `sees all services answer, and ${what}`);
    await operations.act(agent.name, session);
  }
};
