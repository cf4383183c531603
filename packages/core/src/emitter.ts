import { reportThrown, safely, watchEnd } from './safely.ts';

/** Listeners by event name. */
export interface Emitter<Events extends object> {
  /** Calls `listener` for each event of that name until the returned function is called. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void;
  /** Which events have listeners, so that a caller can skip building the others. Plain flags, because every call reads two. */
  readonly heard: { readonly [Name in keyof Events]?: boolean };
  /** An error in a listener is reported and affects no one else (E5). */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void;
}

/**
 * Depth of events that listeners cause inside one another. Without a limit, a cycle of listeners would overflow the stack in the
 * middle of a decision.
 */
const DEEPEST = 50;

interface Entry {
  readonly listener: (event: never) => unknown;
  gone: boolean;
}

export const createEmitter = <Events extends object>(): Emitter<Events> => {
  /** Lists are never changed: adding or removing a listener while an event is sent makes a new list. */
  const listeners = new Map<keyof Events, readonly Entry[]>();
  const heard: { [Name in keyof Events]?: boolean } = {};
  let depth = 0;
  /** Nothing more is sent until the outermost event is done. Otherwise listeners that cause two events each would run for ever. */
  let tooDeep = false;
  const put = (name: keyof Events, entries: readonly Entry[]): void => {
    listeners.set(name, entries);
    heard[name] = entries.length > 0;
  };
  const of = (name: keyof Events): readonly Entry[] => listeners.get(name) ?? [];
  const tell = (name: keyof Events, event: unknown): void => {
    const what = `a listener of '${String(name)}'`;
    for (const entry of of(name)) {
      if (tooDeep && depth > 1) return;
      if (!entry.gone) safely(what, () => watchEnd(what, entry.listener(event as never)));
    }
  };
  return {
    heard,
    on(name, listener) {
      const entry: Entry = { listener, gone: false };
      put(name, [...of(name), entry]);
      return () => {
        entry.gone = true;
        put(
          name,
          of(name).filter((one) => one !== entry),
        );
      };
    },
    emit(name, event) {
      if (tooDeep) return;
      if (depth >= DEEPEST) {
        tooDeep = true;
        const what = `A listener causes a new event for each event, ${DEEPEST} levels deep. '${String(name)}' and later events are dropped.`;
        reportThrown(
          'a listener',
          new Error(`${what} Move the calls that cause events out of the listener, for example into setTimeout().`),
        );
        return;
      }
      depth += 1;
      try {
        tell(name, event);
      } finally {
        depth -= 1;
        if (depth === 0) tooDeep = false;
      }
    },
  };
};
