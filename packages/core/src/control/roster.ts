import { type Budget, chargesOf } from '../budget/budget.ts';
import type { SystemicEvent } from '../budget/systemic.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { livingRun, type TreeView, type UsedView, viewTree } from '../limits/tree-view.ts';
import type { Session } from '../session-api.ts';
import { sessionInternals } from '../session-internals.ts';
import type { SessionView } from '../view.ts';

/** Failures of one tool and category that have used a failure budget. */
export interface ChargedFailures {
  /** The tool, or `group:NAME` (C15). */
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly failures: number;
}

/** A session that has not ended, as it is now. */
export interface OperatedSession {
  readonly id: string;
  /** The session itself, such as for `report(session)`. */
  readonly session: Session;
  /** Milliseconds since it began, or was restored. */
  readonly ageMs: number;
  /** The event to expect in `confirmRecovered`; undefined without a systemic failure. */
  readonly event: string | undefined;
  /** State, steps, budget left, cycle, circuits, limits. */
  readonly view: SessionView;
  /** Which failures have used the budget, at most 20; undefined unless the budget pauses the session. */
  readonly charges: readonly ChargedFailures[] | undefined;
  /** What it and its sub-agents have used; undefined without limits and without sub-agents (D2). */
  readonly used: UsedView | undefined;
  /** Its sub-agents (D1), at most 100; undefined without limits and without sub-agents. */
  readonly tree: TreeView | undefined;
}

/** Sub-agents of a session that an operator sees. */
const MOST_CHILDREN = 100;
const MOST_CHARGES = 20;

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
    /**
     * The latest session with this id, else one that has a sub-agent with it (D1). One that is paused comes first, because it is the one that
     * needs an operator; of several sub-agents, one whose limit is reached, because its session may go on without it.
     */
    find: (id: string): Session | undefined => {
      const sessions = all();
      const own = sessions.filter((session) => session.id === id);
      const isPaused = (session: Session): boolean => session.view().state !== 'active';
      if (own.length > 0) return own.findLast(isPaused) ?? own.at(-1);
      const above = sessions.filter((session) => runNamed(session, id) !== undefined);
      return above.findLast((session) => isOver(session, id)) ?? above.findLast(isPaused) ?? above.at(-1);
    },
    all,
  };
};

/** The run of a session or of one of its sub-agents, if it lives. */
export const runNamed = (session: Session, id: string) =>
  livingRun(sessionInternals(session, 'runNamed(session)').run, id);

/** Whether a limit of this sub-agent, or of one above it, is reached (D2). */
const isOver = (session: Session, id: string): boolean => {
  const { clock } = sessionInternals(session, 'isOver(session)').box;
  return (
    runNamed(session, id)
      ?.view(clock.now())
      .some(({ level }) => level === 'reached') === true
  );
};

/** How a session is now. Its tree has the sub-agent `wanted`, however large it is. Changes nothing (C11). */
export const operatedSession = (session: Session, wanted = session.id): OperatedSession => {
  const internals = sessionInternals(session, 'operatedSession(session)');
  const { beganMs, box, run } = internals;
  const view = session.view();
  const event = view.systemic && eventId(view.systemic);
  const ms = box.clock.now();
  return {
    id: session.id,
    session,
    ageMs: ms - beganMs,
    event,
    view,
    charges: view.state === 'paused_budget' ? charged(internals.lookAhead().ledgers.real.ledger.budget) : undefined,
    used: run && { ...run.used },
    tree: run && viewTree(run, ms, MOST_CHILDREN, wanted),
  };
};

/** First to last. */
const charged = (budget: Budget): readonly ChargedFailures[] => {
  const found = new Map<string, ChargedFailures>();
  for (const { tool, category, count } of chargesOf(budget)) {
    const key = JSON.stringify([tool, category]);
    found.set(key, { tool, category, failures: count + (found.get(key)?.failures ?? 0) });
  }
  return [...found.values()].slice(0, MOST_CHARGES);
};

/** An event that grows keeps its id. In another process it has another one. */
const eventId = ({ began, openings }: SystemicEvent): string => `${began?.ms ?? openings[0]?.at.ms}`;
