import type { Session } from '@breakerbox/core';
import { found } from './shared.ts';

/** Remembers the session of `withSession`: `AsyncLocalStorage`, as far as it is used. */
export interface SessionStorage {
  run<Value>(session: Session, run: () => Value): Value;
  getStore(): Session | undefined;
}

/** Made by `/session` when it is loaded. It is looked up by name, so that adapters import nothing of Node. */
const storage = (): SessionStorage | undefined => found('session', 1);

/** The session of the innermost `withSession` around; undefined outside of all. */
export const activeSession = (): Session | undefined => storage()?.getStore();

/** Makes a session the current one for `run`. Without `/session` no tool asks for it, so `run` is just called. */
export const inSession = <Value>(session: Session, run: () => Value): Value => {
  const known = storage();
  return known === undefined ? run() : known.run(session, run);
};

/** Whether a session source is `currentSession`, of any copy of the package. */
export const isCurrentSession = (source: unknown): boolean =>
  source !== undefined && source === found('currentSession', 1);
