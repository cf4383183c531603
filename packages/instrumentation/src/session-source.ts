import { BreakerboxUsageError, type Session } from '@breakerbox/core';
import { noticeCopy, noticeExecutor, noticeWrapped, watchEnd } from '@breakerbox/core/internal';
import { declareTool, type GroupOf } from './groups.ts';
import { hasMethod } from './has-method.ts';

/** A session, or a function that finds the current one. With a function, a server wraps its tools once for all conversations. */
export type SessionSource = Session | (() => Session);

/** Finds the session of a source, at each call. */
export type SessionFinder = () => Session;

/**
 * @throws BreakerboxUsageError when `source` is neither a session nor a function.
 */
export const sessionFinder = (source: SessionSource, where: string): SessionFinder => {
  checkSource(source, where);
  noticeCopy();
  return () => currentOf(source, where);
};

/**
 * @throws BreakerboxUsageError when `source` is neither a session nor a function.
 */
export const checkSource = (source: SessionSource, where: string): void => {
  if (typeof source === 'function') return;
  if (!isSession(source)) throw noSession(source, where);
  noticeExecutor(source);
};

/** The current session of a source that is already checked. */
export const currentOf = (source: SessionSource, where: string): Session => {
  if (typeof source !== 'function') return source;
  const given = source();
  if (isSession(given)) {
    noticeExecutor(given);
    return given;
  }
  const what = `the session function given to ${where}`;
  watchEnd(what, given);
  throw noSession(given, what);
};

/** Gives tools their circuits when they are wrapped. With a session function, that happens at their calls. */
export const declareNow = (source: SessionSource, tools: readonly string[], groupOf?: GroupOf): void => {
  if (typeof source === 'function') noticeWrapped(tools);
  else for (const tool of tools) declareTool(source, tool, groupOf?.(tool));
};

const isSession = (value: Session | null | undefined): value is Session =>
  typeof value?.acquire === 'function' && typeof value.declare === 'function';

const noSession = (value: unknown, where: string): BreakerboxUsageError =>
  new BreakerboxUsageError(
    `${where}: got ${kindOf(value)} instead of a session, so no decision is possible. Pass what ` +
      'box.session() returns, or a function that returns it.',
  );

const kindOf = (value: unknown): string => {
  if (hasMethod(value, 'session')) return 'a box';
  if (hasMethod(value, 'then')) return 'a promise';
  return value === null ? 'null' : `a value of type ${typeof value}`;
};
