import type { Session } from '@breakerbox/core';

/**
 * D6: whether the run is paused, so that this turn of the model is its last one, without tools. Otherwise it would ask for calls, and read the
 * same pause, until the step cap ends the run without an answer. A run whose tools are only observed is never paused (C1).
 */
export const isLastTurn = (session: Session): boolean =>
  session.unavailable().length > 0 && session.view().state.startsWith('paused');
