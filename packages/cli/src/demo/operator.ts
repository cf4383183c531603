import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '@breakerbox/core';
import type { Agent } from './agents.ts';
import type { Journal } from './journal.ts';

/** The time until the operator looks, and the time between looks, at pace 1. */
const REACTION_MS = 3000;
const LOOK_AGAIN_MS = 1000;

/**
 * Plays the operator who is called when a session pauses. It waits, asks the services of the agent's tools whether they answer again,
 * and then resumes the session. Only the operator calls resume() and confirmRecovered().
 */
export const attend = async (
  agent: Agent,
  session: Session,
  { journal, pace, signal }: { readonly journal: Journal; readonly pace: number; readonly signal: AbortSignal },
): Promise<void> => {
  journal.operator(agent.name, 'called: the session is paused');
  await wait(REACTION_MS * pace, undefined, { signal });
  for (;;) {
    const answers = await Promise.all(agent.dependsOn.map((one) => one.healthy()));
    signal.throwIfAborted();
    if (answers.every(Boolean)) break;
    await wait(LOOK_AGAIN_MS * pace, undefined, { signal });
  }
  if (session.view().state === 'paused_systemic') {
    journal.operator(agent.name, 'sees all services answer: confirmRecovered()');
    session.confirmRecovered();
  }
  // The budget may be exhausted too, from failures before the systemic event.
  if (session.view().state === 'paused_budget') {
    journal.operator(agent.name, 'sees all services answer: resume()');
    session.resume();
  }
};
