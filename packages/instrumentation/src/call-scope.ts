import { ChildLimitError, type Permit, type Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { processWide } from './process-wide.ts';
import { hasMethod } from './untrusted.ts';

/**
 * A guarded call under way, as the code that it runs sees it. The first turn of an agent in it begins the session of a sub-agent (D1). All
 * agents of one call share that session, which ends with the call.
 */
export interface CallScope {
  readonly session: Session;
  readonly permit: Permit;
  /** The call that this one is made in. */
  readonly outer: CallScope | undefined;
  child: Session | undefined;
  /** A sub-agent could not begin in it. Frameworks wrap the error, or turn it into text. */
  isDenied: boolean;
  /** The context of a call outlives it: code that was begun in it may go on, and streams keep it. */
  isOver: boolean;
}

interface Scopes {
  /** The part of `AsyncLocalStorage` that is used. */
  readonly storage: {
    run<Value>(scope: CallScope, run: () => Value): Value;
    getStore(): CallScope | undefined;
  };
  /** The sessions of permits. */
  readonly sessions: WeakMap<Permit, Session>;
  /** The sessions that were begun here, with the session above each. */
  readonly parents: WeakMap<Session, Session>;
}

/**
 * The scopes of all copies of the package. They exist as soon as a function counts the turns of agents. Before that no sub-agent can begin,
 * and a call asks for nothing else here.
 */
export const calls = processWide('calls', (): { scopes: Scopes | undefined } => ({ scopes: undefined }));

/** Follows calls from now on. Adapters import no Node modules. Without them, sub-agents share the session of their agent. */
export const followCalls = (): void => {
  const { AsyncLocalStorage } = globalThis.process?.getBuiltinModule?.('node:async_hooks') ?? {};
  if (AsyncLocalStorage === undefined) return;
  calls.scopes ??= { storage: new AsyncLocalStorage(), sessions: new WeakMap(), parents: new WeakMap() };
};

/** A call was decided. */
export const noteCall = (session: Session, permit: Permit): Permit => {
  calls.scopes?.sessions.set(permit, session);
  return permit;
};

/** The scope of a call that begins. */
export const scopeOf = (permit: Permit): CallScope | undefined => {
  const session = calls.scopes?.sessions.get(permit);
  return session && { session, permit, outer: innermost(), child: undefined, isDenied: false, isOver: false };
};

/** Runs a part of the tool of a call. */
export const inScope = <Value>(scope: CallScope, part: () => Value): Value => {
  const { scopes } = calls;
  return scopes === undefined ? part() : scopes.storage.run(scope, part);
};

/** The call is settled, and so is its sub-agent. */
export const endScope = (scope: CallScope): void => {
  if (scope.isOver) return;
  scope.isOver = true;
  scope.child?.end();
};

const innermost = (): CallScope | undefined => liveOne(calls.scopes?.storage.getStore());

const liveOne = (scope: CallScope | undefined): CallScope | undefined => {
  let one = scope;
  while (one?.isOver) one = one.outer;
  return one;
};

/**
 * The session that decides here: a sub-agent is often given the session of its agent. Within a guarded call of that session, it is the session
 * of the sub-agent, once one has begun.
 */
export const sessionHere = (session: Session): Session => {
  for (let scope = innermost(); scope !== undefined; scope = liveOne(scope.outer))
    if (isWithin(scope.session, session)) return scope.child ?? scope.session;
  return session;
};

const isWithin = (session: Session, above: Session): boolean => {
  let one: Session | undefined = session;
  while (one !== undefined && one !== above) one = calls.scopes?.parents.get(one);
  return one === above;
};

/**
 * The session of an agent whose turn begins. If it runs within a guarded call of this session, it is a sub-agent (D1).
 *
 * @param session A result of `sessionHere`.
 * @throws ChildLimitError if the sub-agent may not begin.
 */
export const sessionOfAgent = (session: Session): Session => subAgentOf(session)?.() ?? session;

/**
 * Begins the session of a sub-agent later, at its first call. Undefined outside of a guarded call.
 *
 * @param session A result of `sessionHere`. Default: the session of the innermost call.
 */
export const subAgentOf = (session?: Session): (() => Session) | undefined => {
  for (let scope = innermost(); scope !== undefined; scope = liveOne(scope.outer)) {
    const found = scope;
    if (session === undefined || found.session === session || found.child === session) return () => childIn(found);
  }
  return undefined;
};

const childIn = (scope: CallScope): Session => {
  const { session, permit } = scope;
  if (scope.isOver || !hasMethod(session, 'child')) return scope.child ?? session; // No method: a copy of core before there were children.
  if (scope.child !== undefined) return scope.child;
  scope.isDenied = true;
  const child = session.child({ name: permit.tool, call: permit });
  scope.isDenied = false;
  scope.child = child;
  calls.scopes?.parents.set(child, session);
  return child;
};

/**
 * A part of an agent's turn. Frameworks end the run for an error of a hook, so none leaves this function (E5), except that a sub-agent may not
 * begin: its tool is the call that was denied (D1).
 */
export const inTurn = <Value>(where: string, part: () => Value): Value | undefined => {
  let denied: ChildLimitError | undefined;
  const value = safely(where, () => {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof ChildLimitError)) throw error;
      denied = error;
      return undefined;
    }
  });
  if (denied !== undefined) throw denied;
  return value;
};
