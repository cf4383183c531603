import type { Route } from '../capability/route.ts';
import type { Emitter } from '../emitter.ts';
import type { BreakerboxEvents, RouteSummary } from '../events.ts';
import { type LogEvents, logEvent } from './log-events.ts';
import { reportThrown } from './safely.ts';

/** An event that is still to be told. */
export type News = {
  [Name in keyof BreakerboxEvents]: { name: Name; event: BreakerboxEvents[Name] };
}[keyof BreakerboxEvents];

/** What one call of a session may cause to be told: a listener that acquires at each decision would never end. */
const MOST_NEWS = 1_000;

/** Tells listeners and log all news, in order, and what comes of that as well: the list may grow meanwhile. It is empty then. */
export const tellAll = (news: News[], emitter: Emitter<BreakerboxEvents>): void => {
  for (let told = 0; news.length > 0; told += 1) {
    const [{ name, event }] = news.splice(0, 1) as [News];
    if (told >= MOST_NEWS) {
      news.length = 0;
      const what = `It causes ever more events in the session; '${name}' and later ones are dropped.`;
      reportThrown('a listener', new Error(what));
      return;
    }
    emitter.emit(name, event);
    if (name !== 'decision' && name !== 'outcome') logEvent(name, event as LogEvents[typeof name]);
  }
};

/** R2: of a route what telemetry may hold. */
export const summaryOf = (route: Route): RouteSummary =>
  route.kind === 'alternative'
    ? { kind: route.kind, tool: route.tool, degradation: route.degradation }
    : { kind: route.kind, tool: undefined, degradation: undefined };
