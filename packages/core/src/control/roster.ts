import type { SystemicEvent } from '../budget/systemic.ts';
import type { Session } from '../session-api.ts';
import { sessionInternals } from '../session-internals.ts';
import type { SessionView } from '../view.ts';

/** A session that has not ended, as it is now. */
export interface OperatedSession {
  readonly id: string;
  /** The session itself, such as for `report(session)`. */
  readonly session: Session;
  /** Milliseconds since it began, or was restored. */
  readonly ageMs: number;
  /** The event to expect in `confirmRecovered`; undefined without a systemic failure. */
  readonly event: string | undefined;
  /** State, steps, budget left, cycle, circuits. */
  readonly view: SessionView;
}

/** The sessions of a box that have not ended. Sessions that the program has dropped may be garbage collected. */
export const createRoster = () => {
  const refs = new Set<WeakRef<Session>>();
  const known = new WeakMap<Session, WeakRef<Session>>();
  const gone = new FinalizationRegistry<WeakRef<Session>>((ref) => refs.delete(ref));
  const all = (): readonly Session[] => [...refs].flatMap((ref) => ref.deref() ?? []);
  return {
    add: (session: Session): void => {
      if (known.has(session)) return;
      const ref = new WeakRef(session);
      known.set(session, ref);
      refs.add(ref);
      gone.register(session, ref);
    },
    remove: (session: Session): void => {
      const ref = known.get(session);
      known.delete(session);
      if (ref !== undefined) refs.delete(ref);
    },
    /** The latest session with this id. A paused one comes first, because it is the one that needs an operator. */
    find: (id: string): Session | undefined => {
      const named = all().filter((session) => session.id === id);
      return named.findLast((session) => session.view().state !== 'active') ?? named.at(-1);
    },
    all,
  };
};

/** How a session is now. Changes nothing (C11). */
export const operatedSession = (session: Session): OperatedSession => {
  const { beganMs, box } = sessionInternals(session, 'operatedSession(session)');
  const view = session.view();
  const event = view.systemic && eventId(view.systemic);
  return { id: session.id, session, ageMs: box.clock.now() - beganMs, event, view };
};

/** An event that grows keeps its id. In another process it has another one. */
const eventId = ({ began, openings }: SystemicEvent): string => `${began?.ms ?? openings[0]?.at.ms}`;
