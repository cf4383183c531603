import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '@breakerbox/core';
import type { Agent } from './agents.ts';
import type { Journal } from './journal.ts';

/** How long it takes until the operator looks, and between looks, at pace 1. */
const REACTION_MS = 3000;
const LOOK_AGAIN_MS = 1000;

/**
 * Plays the operator who is called when a session pauses: waits, asks the services that the agent's tools depend on whether they
 * answer again, and then lets the session go on. Only the operator calls resume() and confirmRecovered(): nothing here does so by
 * itself.
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
  // The budget may be exhausted as well, by failures from before the systemic event.
  if (session.view().state === 'paused_budget') {
    journal.operator(agent.name, 'sees all services answer: resume()');
    session.resume();
  }
};
