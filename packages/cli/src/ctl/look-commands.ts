import { type Change, readChanges, readReport, type SessionState, type Target } from '@breakerbox/control/client';
import { documentOf } from '../command-io.ts';
import { onOneLine, printable } from '../plain-table.ts';
import { CODES, type Flags, type Invocation, reachable } from './ctl-flags.ts';
import { changeText, listText } from './ctl-text.ts';
import { type Found, look } from './targets.ts';

/** A session that an endpoint has. */
interface FoundSession {
  readonly target: Target;
  readonly agent: string;
  readonly session: SessionState;
}

/**
 * The session with this id; undefined if no endpoint has it.
 *
 * @throws Error if several agents have one.
 */
export const sessionNamed = (id: string, found: readonly Found[], flags: Flags): FoundSession | undefined => {
  const matches = found.flatMap(({ target, state }) =>
    (state?.boxes ?? []).flatMap(({ agent, sessions }) =>
      sessions
        .filter((one) => one.id === id && (flags.agent ?? agent) === agent)
        .map((session) => ({ target, agent, session })),
    ),
  );
  const agents = [...new Set(matches.map(({ agent }) => agent))];
  if (agents.length > 1)
    throw new Error(`several agents have a session ${id}: ${agents.join(', ')}. Name one with --agent.`);
  return matches[0];
};

/** `breakerbox ctl list`. */
export const list = async (invocation: Invocation): Promise<void> => {
  const { flags, io } = invocation;
  const found = await look(reachable(invocation));
  io.out(
    flags.json
      ? documentOf(found.map(({ target, ...rest }) => ({ endpoint: target.url, ...rest })))
      : listText(found, io.columns),
  );
  if (found.every(({ error }) => error !== undefined)) io.exitWith(1);
};

/** `breakerbox ctl show SESSION`. */
export const show = async (id: string, invocation: Invocation): Promise<void> => {
  const { flags, io } = invocation;
  const one = sessionNamed(id, await look(reachable(invocation)), flags);
  if (one === undefined) {
    io.err(`breakerbox ctl: no agent has a live session ${id}.\n`);
    return io.exitWith(CODES.unknown);
  }
  const { target, agent, session } = one;
  const { text } = await readReport(target, agent, id);
  io.out(flags.json ? documentOf({ endpoint: target.url, agent, session, report: text }) : `${printable(text)}\n`);
};

/** `breakerbox ctl watch`: ends when all endpoints have ended, or `signal` aborts. */
export const watch = async (invocation: Invocation, signal: AbortSignal): Promise<void> => {
  const { flags, io } = invocation;
  const print = (change: Change): void =>
    io.out(flags.json ? `${JSON.stringify(change)}\n` : `${onOneLine(changeText(change))}\n`);
  const follow = async (target: Target): Promise<void> => {
    try {
      for await (const change of readChanges(target, signal)) print(change);
      io.err(`${target.url} has ended\n`);
    } catch (error) {
      if (!signal.aborted) io.err(`${error instanceof Error ? error.message : error}\n`);
    }
  };
  await Promise.all(reachable(invocation).map(follow));
};
