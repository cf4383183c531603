import type { AcquireOptions, Permit, Session } from '@breakerbox/core';

/** The input of a call without arguments: all such calls are the same. Core cannot know that if no input is given (O5, F2). */
const NO_ARGUMENTS = {};

type CallNames = Pick<AcquireOptions, 'callId' | 'key' | 'type'>;

/** Asks the session about a call with its arguments, of which core only keeps a digest. Default of `type`: `function`. */
export const decide = (session: Session, tool: string, input: unknown, names: CallNames = {}): Permit => {
  const { callId, key, type = 'function' } = names;
  return session.acquire(tool, { callId, key, type, input: input === undefined ? NO_ARGUMENTS : input });
};

/** The type of a tool: one of an MCP server, or a function of the agent's own. */
export const typeOf = (isOfServer: boolean): AcquireOptions['type'] => (isOfServer ? 'extension' : 'function');
