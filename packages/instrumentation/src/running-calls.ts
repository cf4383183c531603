import { ChildLimitError, type Permit, type Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { processWide } from './process-wide.ts';
import { hasMethod } from './untrusted.ts';

/**
 * A guarded call under way, as the code that it runs sees it. The first turn of an agent in it begins the session of a sub-agent (D1). All
 * agents of one call share that session, which ends with the call.
 */
export interface RunningCall {
  readonly session: Session;
  readonly permit: Permit;
  /** The call that this one is made in. */
  readonly outer: RunningCall | undefined;
  child: Session | undefined;
  /** A sub-agent could not begin in it. Frameworks wrap the error, or turn it into text. */
  isDenied: boolean;
  /** The context of a call outlives it: code that was begun in it may go on, and streams keep it. */
  isOver: boolean;
}

interface RunningCalls {
  /** The part of `AsyncLocalStorage` that is used. */
  readonly storage: {
    run<Value>(call: RunningCall, run: () => Value): Value;
    getStore(): RunningCall | undefined;
  };
  /** The sessions of permits. */
  readonly sessions: WeakMap<Permit, Session>;
  /** The sessions that were begun here, with the session above each. */
  readonly parents: WeakMap<Session, Session>;
}

/**
 * The running calls of all copies of the package. They are followed once a function counts the turns of agents. Before that no sub-agent
 * can begin, and a call asks for nothing else here.
 */
export const calls = processWide('calls', (): { running: RunningCalls | undefined } => ({ running: undefined }));

/** Follows calls from now on. Adapters import no Node modules. Without them, sub-agents share the session of their agent. */
export const followCalls = (): void => {
  const { AsyncLocalStorage } = globalThis.process?.getBuiltinModule?.('node:async_hooks') ?? {};
  if (AsyncLocalStorage === undefined) return;
  calls.running ??= { storage: new AsyncLocalStorage(), sessions: new WeakMap(), parents: new WeakMap() };
};

/** A call was decided. */
export const noteCall = (session: Session, permit: Permit): Permit => {
  calls.running?.sessions.set(permit, session);
  return permit;
};

/** A call that begins, if calls are followed. */
export const runningCall = (permit: Permit): RunningCall | undefined => {
  const session = calls.running?.sessions.get(permit);
  return session && { session, permit, outer: innermost(), child: undefined, isDenied: false, isOver: false };
};

/** Runs a part of the tool of a call. */
export const withinCall = <Value>(call: RunningCall, part: () => Value): Value => {
  const { running } = calls;
  return running === undefined ? part() : running.storage.run(call, part);
};

/** The call is settled, and so is its sub-agent. */
export const endCall = (call: RunningCall): void => {
  if (call.isOver) return;
  call.isOver = true;
  call.child?.end();
};

const innermost = (): RunningCall | undefined => liveOne(calls.running?.storage.getStore());

const liveOne = (call: RunningCall | undefined): RunningCall | undefined => {
  let one = call;
  while (one?.isOver) one = one.outer;
  return one;
};

/**
 * The session that decides here: a sub-agent is often given the session of its agent. Within a guarded call of that session, it is the session
 * of the sub-agent, once one has begun.
 */
export const sessionHere = (session: Session): Session => {
  for (let call = innermost(); call !== undefined; call = liveOne(call.outer))
    if (isWithin(call.session, session)) return call.child ?? call.session;
  return session;
};

const isWithin = (session: Session, above: Session): boolean => {
  let one: Session | undefined = session;
  while (one !== undefined && one !== above) one = calls.running?.parents.get(one);
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
  for (let call = innermost(); call !== undefined; call = liveOne(call.outer)) {
    const found = call;
    if (session === undefined || found.session === session || found.child === session) return () => childIn(found);
  }
  return undefined;
};

const childIn = (call: RunningCall): Session => {
  const { session, permit } = call;
  if (call.isOver || !hasMethod(session, 'child')) return call.child ?? session; // No method: a copy of core before there were children.
  if (call.child !== undefined) return call.child;
  call.isDenied = true;
  const child = session.child({ name: permit.tool, call: permit });
  call.isDenied = false;
  call.child = child;
  calls.running?.parents.set(child, session);
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
