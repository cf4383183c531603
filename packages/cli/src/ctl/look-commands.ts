import {
  type Change,
  childrenNamed,
  exactFirst,
  isInTree,
  type LimitState,
  readChanges,
  readReport,
  type SessionState,
  type Target,
} from '@breakerbox/control/client';
import { safeJson } from '@breakerbox/core/internal';
import { documentOf } from '../command-io.ts';
import { onOneLine, printable } from '../plain-table.ts';
import { CODES, type Flags, type Invocation, reachable } from './ctl-flags.ts';
import { changeText, listText } from './ctl-text.ts';
import { type Found, look } from './targets.ts';

/** A session that an endpoint has. */
export interface FoundSession {
  readonly target: Target;
  readonly agent: string;
  readonly session: SessionState;
}

/**
 * The sessions with this id, or with a sub-agent that has it: one of each endpoint, paused ones first.
 *
 * @throws Error if several agents have one.
 */
export const sessionsNamed = (id: string, found: readonly Found[], flags: Flags): readonly FoundSession[] => {
  const matches = found
    .flatMap(({ target, state }) =>
      (state?.boxes ?? []).flatMap(({ agent, sessions }) =>
        sessions
          .filter((one) => isInTree(one, id) && (flags.agent ?? agent) === agent)
          .map((session) => ({ target, agent, session })),
      ),
    )
    .toSorted((a, b) => Number(b.session.state !== 'active') - Number(a.session.state !== 'active'));
  const exact = exactFirst(matches, ({ session }) => session, id);
  const agents = [...new Set(exact.map(({ agent }) => agent))];
  if (agents.length > 1)
    throw new Error(`several agents have a session ${id}: ${agents.join(', ')}. Choose the agent with --agent.`);
  const seen = new Set<Target>();
  return exact.filter(({ target }) => !seen.has(target) && seen.add(target));
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

/** Why endpoints did not answer. */
export const silentOf = (found: readonly Found[]): readonly string[] =>
  found.flatMap(({ error }) => (error === undefined ? [] : [error]));

/** `breakerbox ctl show SESSION`. */
export const show = async (id: string, invocation: Invocation): Promise<void> => {
  const { flags, io } = invocation;
  const found = await look(reachable(invocation), id);
  const reported = await firstReport(sessionsNamed(id, found, flags), id);
  if (reported === undefined) {
    const silent = silentOf(found);
    for (const error of silent) io.err(`${error}\n`);
    io.err(`breakerbox ctl: no agent that answers has a live session ${id}.\n`);
    return io.exitWith(silent.length > 0 ? 1 : CODES.unknown);
  }
  const { target, agent, session, text } = reported;
  if (flags.json) return io.out(documentOf({ endpoint: target.url, agent, session, report: text }));
  const next = wayBack(session, id);
  io.out(`${printable(text)}\n${next === undefined ? '' : `\nFrom a terminal: breakerbox ctl ${onOneLine(next)}\n`}`);
};

/**
 * The report of the first that has one. Another endpoint may claim the session without it.
 *
 * @throws ControlError of the first, if none has one.
 */
const firstReport = async (
  [one, ...others]: readonly FoundSession[],
  id: string,
): Promise<(FoundSession & { readonly text: string }) | undefined> => {
  if (one === undefined) return undefined;
  try {
    return { ...one, text: (await readReport(one.target, one.agent, id)).text };
  } catch (error) {
    const other = await firstReport(others, id).catch(() => undefined);
    if (other === undefined) throw error;
    return other;
  }
};

/** The command that brings a session back, unless it has moved on since; or its sub-agent of this name. */
export const wayBack = (session: SessionState, name: string): string | undefined => {
  const { id, state, budget, event } = session;
  if (state === 'paused_budget') return `resume --cycle ${budget.cycle} ${shown(id)}`;
  if (state !== 'paused_systemic' || event === undefined) return waysOverLimits(session, name)[0];
  return `confirm ${isPlain(event.id) ? `--event ${event.id}` : `--event=${quoted(event.id)}`} ${shown(id)}`;
};

/** The commands that extend the limits which pause a session; or its sub-agents of this name, while the session may go on (D1). */
export const waysOverLimits = (session: SessionState, name: string): readonly string[] =>
  [{ path: session.id, limits: session.limits }, ...childrenNamed(session, name)].flatMap(({ path, limits = [] }) =>
    limits.filter(pauses).map(({ size, limit }) => `extend --size ${size} ${shown(path)} ${limit} AMOUNT`),
  );

/** D2: whether a limit pauses its session. */
export const pauses = ({ level, mode }: LimitState): boolean => level === 'reached' && mode === 'pause';

const shown = (id: string): string => (isPlain(id) ? id : `-- ${quoted(id)}`);

/** Whether a shell and `breakerbox` take a text as one word that is no flag. */
const isPlain = (text: string): boolean => /^\w[\w.:@/-]*$/.test(text);

/** For a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** `breakerbox ctl watch`: ends when all endpoints have ended, or `signal` aborts. The exit code is 1 if none could be read. */
export const watch = async (invocation: Invocation, signal: AbortSignal): Promise<void> => {
  const { flags, io } = invocation;
  const print = (change: Change): void =>
    io.out(flags.json ? `${safeJson(change)}\n` : `${onOneLine(changeText(change))}\n`);
  const follow = async (target: Target): Promise<boolean> => {
    try {
      for await (const change of readChanges(target, signal)) print(change);
      io.err(`${target.url} has closed the stream of changes\n`);
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : `${error}`;
      if (!signal.aborted) io.err(`${target.url}: ${message}\n`);
      return signal.aborted || message === 'aborted'; // Its process ended.
    }
  };
  const wereRead = await Promise.all(reachable(invocation).map(follow));
  if (!wereRead.includes(true)) io.exitWith(1);
};
