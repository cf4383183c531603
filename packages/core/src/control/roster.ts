import { type Budget, chargesOf } from '../budget/budget.ts';
import type { SystemicEvent } from '../budget/systemic.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { LimitKind } from '../limits/limits.ts';
import { pausesRun, type Run } from '../limits/run.ts';
import { livingNamed, pathOf, type TreeView, type UsedView, viewTree } from '../limits/tree-view.ts';
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
     * needs an operator; of several sub-agents, one that a limit pauses, because its session may go on without it.
     */
    find: (id: string): Session | undefined => meant(all(), id).at(-1)?.session,
    /** Whose limit of this kind the operator means: several sub-agents if the name does not say which (D2). */
    findLimited: (id: string, limit: LimitKind): readonly Meant[] => {
      const found = meant(all(), id, limit);
      if (found.at(-1)?.session.id === id) return found.slice(-1);
      const over = found.filter(({ isOver }) => isOver);
      const named = over.length > 0 ? over : found;
      return [...new Map(named.map((one) => [nameOf(one), one])).values()];
    },
    all,
  };
};

/** The exact name. */
export const nameOf = ({ session, run }: Meant): string => (run === undefined ? session.id : pathOf(run));

/** A session, or a sub-agent of it, that has the name which an operator has given. */
export interface Meant {
  readonly session: Session;
  /** Undefined without limits and sub-agents. */
  readonly run: Run | undefined;
  /** A limit pauses it (D2). */
  readonly isOver: boolean;
}

/** The last one needs an operator most. `limit`: the one that has to be reached; by default any. */
const meant = (sessions: readonly Session[], id: string, limit?: LimitKind): readonly Meant[] => {
  const own = sessions.filter((session) => session.id === id);
  const named = (own.length > 0 ? own : sessions).flatMap((session) => {
    const { run, box } = sessionInternals(session, 'operate(box)');
    const runs = own.length > 0 ? [run] : run === undefined ? [] : livingNamed(run, id);
    const ms = box.clock.now();
    return runs.map((one) => {
      const limits = one?.view(ms).filter((view) => pausesRun(view) && view.limit === (limit ?? view.limit)) ?? [];
      return { session, run: one, isOver: limits.length > 0 };
    });
  });
  const exact = named.filter((one) => nameOf(one) === id);
  const all = exact.length > 0 ? exact : named;
  const need = ({ session, isOver }: Meant): number => (isOver ? 2 : Number(session.view().state !== 'active'));
  return all.map((one) => ({ ...one, need: need(one) })).toSorted((a, b) => a.need - b.need);
};

/** How a session is now. Its tree has the sub-agent `wanted`, however large it is. Changes nothing (C11). */
export const operatedSession = (session: Session, wanted = session.id): OperatedSession => {
  const internals = sessionInternals(session, 'operatedSession(session)');
  const { beganMs, box } = internals;
  const ahead = internals.lookAhead();
  const run = internals.run && ahead.runOf(internals.run);
  const view = session.view();
  const event = view.systemic && eventId(view.systemic);
  const ms = box.clock.now();
  return {
    id: session.id,
    session,
    ageMs: ms - beganMs,
    event,
    view,
    charges: view.state === 'paused_budget' ? charged(ahead.ledgers.real.ledger.budget) : undefined,
    used: run && { ...run.used },
    tree: run && viewTree(run, ms, MOST_CHILDREN, wanted, ahead.isObserved()),
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
