import type { Session } from '@breakerbox/core';

/** Sessions in which a call was paused. */
const paused = new WeakSet<Session>();

/** A call was paused. */
export const notePause = (session: Session): void => void paused.add(session);

/**
 * D6: whether this turn of the model is its last one, without tools: the run is paused, and the model has read so in the result of a call.
 * Otherwise it would ask for more calls, and read the same, until the step cap ends the run without an answer.
 */
export const isLastTurn = (session: Session): boolean => {
  if (!paused.has(session)) return false;
  const isPaused = session.view().state.startsWith('paused');
  if (!isPaused) paused.delete(session);
  return isPaused;
};
