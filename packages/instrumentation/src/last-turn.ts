import type { Session } from '@breakerbox/core';
import { isTimeOver } from '@breakerbox/core/internal';

/** Sessions in which a call was paused. */
const paused = new WeakSet<Session>();

/** A call was paused. */
export const notePause = (session: Session): void => void paused.add(session);

/** Sessions whose model is guarded: after the pause of a limit it answers once (D2). */
const guarded = new WeakSet<Session>();

/** A guarded model was asked. */
export const noteModel = (session: Session): void => void guarded.add(session);

/** Sessions of which a turn was looked at. */
const seen = new WeakSet<Session>();

/** Sessions whose model may call tools in the turn under way, and was not asked in it. */
const open = new WeakSet<Session>();

/** A guarded model is about to be asked. Whether its turn began before a limit was reached, so that it may call tools. */
export const takeTurn = (session: Session): boolean => open.delete(session);

/** It has not answered. */
export const giveTurnBack = (session: Session): void => void open.add(session);

/**
 * D6: whether this turn of the model is its last one, without tools: the run is paused, and the model has read so in the result of a call.
 * Otherwise it would ask for more calls, and read the same, until the step cap ends the run without an answer. A guarded model has one answer
 * after a limit, and uses no turn to read of the pause. The same holds for the first turn of a session that a limit pauses already, such as one that
 * was restored, and once the time for calls is over (D4): a call that was cut has said so.
 */
export const isLastTurn = (session: Session): boolean => {
  const isLast = isPausedTurn(session);
  if (isLast) open.delete(session);
  else open.add(session);
  return isLast;
};

const isPausedTurn = (session: Session): boolean => {
  const hasRead = paused.has(session);
  const isFirst = !seen.has(session);
  seen.add(session);
  if (!hasRead && !isFirst && !guarded.has(session)) return isTimeOver(session);
  const { state } = session.view();
  if (!state.startsWith('paused')) paused.delete(session);
  return hasRead ? state.startsWith('paused') : state === 'paused_limit';
};
