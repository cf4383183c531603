import { AsyncLocalStorage } from 'node:async_hooks';
import { BreakerboxUsageError, type Session } from '@breakerbox/core';
import { activeSession, type SessionStorage } from './active-session.ts';
import { processWide } from './process-wide.ts';
import { runInContext } from './run.ts';

const storage = processWide('session', (): SessionStorage => new AsyncLocalStorage<Session>());

/**
 * Makes a session the current one for all work of `run`, asynchronous work included. Tools that are guarded with `currentSession` ask it.
 * A server then guards its tools once, and each of a thousand conversations has its own session. End a session with its conversation.
 * If you make a session for each request, they share circuits through a box with `scope: 'process'`.
 *
 * `run` is called in `session.context`. If the session has a span (`span: true`), the spans of `run` are beneath it.
 *
 * @returns the result of `run`. Errors of `run` are thrown.
 *
 * @example
 * ```ts
 * const tools = guardTools(ownTools, currentSession); // once
 * const prepareStep = breakerPrepareStep(currentSession);
 * app.post('/chat', ({ conversation, messages }) => {
 *   const session = sessions.get(conversation) ?? box.session({ id: conversation });
 *   sessions.set(conversation, session);
 *   return withSession(session, () => generateText({ model, tools, prepareStep, messages }));
 * });
 * ```
 */
export const withSession = <Value>(session: Session, run: () => Value): Value =>
  storage.run(session, () => runInContext(session, run));

/**
 * The session of the innermost `withSession`, for every function here that takes a session or a function.
 *
 * @throws BreakerboxUsageError outside of `withSession`.
 */
export const currentSession: () => Session = processWide('currentSession', () => () => {
  const session = activeSession();
  if (session !== undefined) return session;
  throw new BreakerboxUsageError(
    'currentSession(): there is no current session, so Breakerbox cannot decide about calls. Run the agent inside ' +
      'withSession(session, () => …), or pass the session itself when you guard the tools.',
  );
});
