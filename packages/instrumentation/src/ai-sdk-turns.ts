import type { Session } from '@breakerbox/core';

/** How many runs of each session a telemetry integration counts the turns of. */
const counting = new WeakMap<Session, number>();

/** From now on until the returned function is called, the turns of one run of this session are counted elsewhere. */
export const countTurns = (session: Session): (() => void) => {
  const change = (by: number): void => void counting.set(session, (counting.get(session) ?? 0) + by);
  change(1);
  return () => change(-1);
};

/** Whether somebody counts this session's turns, so that nobody else may. */
export const areTurnsCounted = (session: Session): boolean => (counting.get(session) ?? 0) > 0;
