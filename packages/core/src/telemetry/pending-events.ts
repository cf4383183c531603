import type { Emitter } from '../emitter.ts';
import type { BreakerboxEvents, RouteSummary } from '../events.ts';
import type { Route } from '../routing/route.ts';
import { reportThrown } from '../safely.ts';
import { type LogEvents, logEvent } from './logs.ts';

/** A pending event. */
export type PendingEvent = {
  [Name in keyof BreakerboxEvents]: { name: Name; event: BreakerboxEvents[Name] };
}[keyof BreakerboxEvents];

/** Most events that one call of a session may cause. A listener that acquires at each decision would never end. */
const MOST_PENDING = 1_000;

/**
 * Sends all pending events to listeners and log, in order, with the events that they cause: the list may grow meanwhile. It is
 * empty afterwards.
 */
export const sendPending = (pending: PendingEvent[], emitter: Emitter<BreakerboxEvents>): void => {
  for (let told = 0; pending.length > 0; told += 1) {
    const [{ name, event }] = pending.splice(0, 1) as [PendingEvent];
    if (told >= MOST_PENDING) {
      pending.length = 0;
      const what = `It causes ever more events in the session; '${name}' and later ones are dropped.`;
      reportThrown('a listener', new Error(what));
      return;
    }
    emitter.emit(name, event);
    if (name !== 'decision' && name !== 'outcome') logEvent(name, event as LogEvents[typeof name]);
  }
};

/** R2: the part of a route that telemetry may hold. */
export const summaryOf = (route: Route): RouteSummary =>
  route.kind === 'alternative'
    ? { kind: route.kind, tool: route.tool, degradation: route.degradation }
    : { kind: route.kind, tool: undefined, degradation: undefined };
