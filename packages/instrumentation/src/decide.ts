import type { AcquireOptions, Permit, Session } from '@breakerbox/core';

/** A call without arguments is the same call each time, which core can't know of what wasn't given to it (O5, F2). */
const NO_ARGUMENTS = {};

type CallNames = Pick<AcquireOptions, 'callId' | 'key'>;

/** Asks the session about a call, arguments included: core keeps a digest of them alone. */
export const decide = (session: Session, tool: string, input: unknown, { callId, key }: CallNames = {}): Permit =>
  session.acquire(tool, { callId, key, input: input === undefined ? NO_ARGUMENTS : input });
