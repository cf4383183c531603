import type { Session } from './session-api.ts';
import { sessionInternals } from './session-internals.ts';

/**
 * The server of a group has come back: it was started again, or has begun another session. If the group's circuit is open, the next call of
 * one of its tools is the probe (C13, M7). A `Retry-After` and a fleet's order still hold.
 */
export const groupReturned = (session: Session, group: string): void =>
  sessionInternals(session, 'groupReturned()').groupReturned(group);
