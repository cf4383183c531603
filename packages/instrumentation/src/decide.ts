import type { AcquireOptions, Permit, Session } from '@breakerbox/core';

/** A call without arguments is the same call each time, which core can't know of what wasn't given to it (O5, F2). */
const NO_ARGUMENTS = {};

type CallNames = Pick<AcquireOptions, 'callId' | 'key' | 'type'>;

/** Asks the session about a call, arguments included: core keeps a digest of them alone. Default of `type`: `function`. */
export const decide = (session: Session, tool: string, input: unknown, names: CallNames = {}): Permit => {
  const { callId, key, type = 'function' } = names;
  return session.acquire(tool, { callId, key, type, input: input === undefined ? NO_ARGUMENTS : input });
};

/** What kind of tool it is: one of an MCP server, or a function of the agent's own. */
export const typeOf = (isOfServer: boolean): AcquireOptions['type'] => (isOfServer ? 'extension' : 'function');
