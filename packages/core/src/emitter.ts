import { reportThrown, safely } from './telemetry/safely.ts';

/** Listeners by event name. */
export interface Emitter<Events extends object> {
  /** Calls `listener` for each event of that name until the returned function is called. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void;
  /** Whether anybody listens: lets a caller save building the event. */
  has(name: keyof Events): boolean;
  /** A listener that throws is reported, and disturbs nobody (E5). */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void;
}

export const createEmitter = <Events extends object>(): Emitter<Events> => {
  const listeners = new Map<keyof Events, Set<(event: never) => unknown>>();
  return {
    on(name, listener) {
      const entry = (event: never) => listener(event);
      const entries = listeners.get(name) ?? new Set();
      listeners.set(name, entries.add(entry));
      return () => void entries.delete(entry);
    },
    has: (name) => (listeners.get(name)?.size ?? 0) > 0,
    emit(name, event) {
      const what = `a listener of '${String(name)}'`;
      for (const entry of listeners.get(name) ?? []) {
        const returned = safely(what, () => entry(event as never));
        // An async listener's rejection would otherwise end the process.
        if (returned instanceof Promise) returned.catch((error) => reportThrown(what, error));
      }
    },
  };
};
