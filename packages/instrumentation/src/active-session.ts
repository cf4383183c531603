import type { Session } from '@breakerbox/core';
import { findProcessWide } from './process-wide.ts';

/** The storage of the session of `withSession`: the part of `AsyncLocalStorage` that is used. */
export interface SessionStorage {
  run<Value>(session: Session, run: () => Value): Value;
  getStore(): Session | undefined;
}

/** The storage that `/session` creates when it is loaded. It is looked up by name, so adapters import no Node modules. */
const storage = (): SessionStorage | undefined => findProcessWide('session');

/** The session of the innermost `withSession`; undefined outside of `withSession`. */
export const activeSession = (): Session | undefined => storage()?.getStore();

/** Makes a session the current one for `run`. If `/session` is not loaded, no tool asks for it, and `run` is only called. */
export const inSession = <Value>(session: Session, run: () => Value): Value => {
  const known = storage();
  return known === undefined ? run() : known.run(session, run);
};

/** Whether a session source is `currentSession`, from any copy of the package. */
export const isCurrentSession = (source: unknown): boolean =>
  source !== undefined && source === findProcessWide('currentSession');
