import { BreakerboxUsageError, type Session } from '@breakerbox/core';

/** A session, or a function that finds the one in use: a server then wraps its tools once for all its conversations. */
export type SessionSource = Session | (() => Session);

/** Asks a source for its session, at each call. */
export type SessionFinder = () => Session;

/**
 * @throws BreakerboxUsageError when `source` is neither a session nor a function.
 */
export const sessionFinder = (source: SessionSource, where: string): SessionFinder => {
  checkSource(source, where);
  return () => currentOf(source, where);
};

/**
 * @throws BreakerboxUsageError when `source` is neither a session nor a function.
 */
export const checkSource = (source: SessionSource, where: string): void => {
  if (typeof source !== 'function') asSession(source, where);
};

/** The session of a source that was checked. */
export const currentOf = (source: SessionSource, where: string): Session =>
  typeof source === 'function' ? asSession(source(), `the session function given to ${where}`) : source;

/** Gives tools their circuits when they are wrapped; by a session function that has to wait for a call. */
export const declareNow = (source: SessionSource, tools: readonly string[]): void => {
  if (typeof source !== 'function') for (const tool of tools) source.declare(tool);
};

const asSession = (value: Session, where: string): Session => {
  const given = value as Partial<Session> | null | undefined;
  if (typeof given?.acquire === 'function' && typeof given.declare === 'function') return value;
  const isBox = typeof (given as { session?: unknown } | null | undefined)?.session === 'function';
  throw new BreakerboxUsageError(
    `${where}: got ${isBox ? 'a box' : `${value === null ? 'null' : `a value of type ${typeof value}`}`} instead of a session, so nobody could decide ` +
      `whether a tool may be called. Give what box.session() returns, or a function that returns it.`,
  );
};
