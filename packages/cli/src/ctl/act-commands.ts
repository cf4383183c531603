import {
  type ActionResponse,
  type BoxState,
  type ControlError,
  checkedAction,
  childrenNamed,
  type LimitState,
  pathsNamed,
  perform,
  type SessionState,
} from '@breakerbox/control/client';
import { documentOf } from '../command-io.ts';
import { printable } from '../plain-table.ts';
import { CODES, type Flags, type Invocation, reachable } from './ctl-flags.ts';
import { type FoundSession, pauses, sessionsNamed, silentOf, waysOverLimits } from './look-commands.ts';
import { look } from './targets.ts';

/** The processes of a session, and the endpoints that did not answer. Reports it if there is no such session. */
const findSession = async (id: string, invocation: Invocation) => {
  const found = await look(reachable(invocation), id);
  const all = sessionsNamed(id, found, invocation.flags);
  const silent = silentOf(found);
  if (all.length === 0) {
    const message = `No agent that answers has a live session ${id}.`;
    report(invocation, [{ result: 'unknown', message }], silent);
  }
  return { all, silent };
};

/** Finds the processes of a session, and what the caller has not named: the cycle or event that it has now. */
export const onFoundSession = async (
  action: 'resume' | 'confirm',
  id: string,
  invocation: Invocation,
): Promise<void> => {
  const { flags } = invocation;
  const { all, silent } = await findSession(id, invocation);
  if (all.length === 0) return;
  const paused = all.filter(
    ({ session }) => needs(action, session) || flags.event !== undefined || flags.cycle !== undefined,
  );
  if (paused.length === 0) {
    const message =
      (action === 'resume' && all.map(({ session }) => byLimit(session, id)).find(Boolean)) || NOT_NEEDED[action](id);
    return report(invocation, [{ result: 'stale', message }], silent);
  }
  report(invocation, await Promise.all(paused.map((one) => actOn(action, one, flags))));
};

const needs = (action: 'resume' | 'confirm', { state, event }: SessionState): boolean =>
  action === 'resume' ? state === 'paused_budget' : event !== undefined;

/** Undefined unless a limit pauses the session, or its sub-agent of this name. */
const byLimit = (session: SessionState, id: string): string | undefined => {
  const commands = session.state === 'paused_systemic' ? [] : waysOverLimits(session, id);
  if (commands.length === 0) return undefined;
  const ways = commands.map((command) => `breakerbox ctl ${command}`).join(', or ');
  return `Session ${id} is paused by a limit, and resume extends no limit. Nothing was done. To let it go on: ${ways}`;
};

const NOT_NEEDED = {
  resume: (id: string) =>
    `Session ${id} is not paused by its budget. Nothing was done. If a correlated failure pauses it, confirm the recovery first.`,
  confirm: (id: string) => `Session ${id} has no systemic (correlated) failure to confirm. Nothing was done.`,
} as const;

const actOn = async (
  action: 'resume' | 'confirm',
  { target, agent, session }: FoundSession,
  { cycle, event }: Flags,
): Promise<Answer> => {
  const { id } = session;
  try {
    // What an endpoint answered is a part of it, and must not keep the others from theirs.
    const request = checkedAction(
      action === 'resume'
        ? { action, agent, session: id, cycle: cycle ?? session.budget.cycle }
        : { action, agent, session: id, event: event ?? session.event?.id },
    );
    return await perform(target, request);
  } catch (error) {
    return failed(error as ControlError);
  }
};

/**
 * Extends a limit in the processes that have it: in those that it pauses, if there are any. `session` may be a sub-agent.
 *
 * @throws Error if there is no such limit, or if the amount cannot be used.
 */
export const onLimit = async (id: string, limit: string, amount: number, invocation: Invocation): Promise<void> => {
  const { flags } = invocation;
  const { all } = await findSession(id, invocation);
  if (all.length === 0) return;
  const paused = all.filter(({ session }) => {
    const one = limitOf(session, id, limit);
    return one !== undefined && pauses(one);
  });
  const meant = paused.length > 0 ? paused : all;
  if (new Set(meant.map(({ session }) => session.id)).size > 1 && meant.every(({ session }) => session.id !== id)) {
    const isMeant = (one: LimitState): boolean => one.limit === limit && pauses(one);
    const names = meant.flatMap(({ session }) => pathsNamed(session, id, isMeant));
    throw new Error(`several sub-agents have the id ${id}: write ${names.join(', or ')}.`);
  }
  report(invocation, await Promise.all(meant.map((one) => extend(one, id, limit, amount, flags))));
};

/** The limit of a session or of a sub-agent, of several the one that pauses it; else of the session above it. */
const limitOf = (session: SessionState, id: string, limit: string): LimitState | undefined => {
  const own = childrenNamed(session, id).flatMap(({ limits }) => limits.filter((one) => one.limit === limit));
  return own.find(pauses) ?? own[0] ?? session.limits?.find((one) => one.limit === limit);
};

/** A size that no limit has, for one that the session does not have: the endpoint says which ones it has. */
const NO_SIZE = 1;

const extend = async (
  { target, agent, session }: FoundSession,
  id: string,
  limit: string,
  by: number,
  flags: Flags,
): Promise<Answer> => {
  const size = flags.size ?? limitOf(session, id, limit)?.size ?? NO_SIZE;
  try {
    return await perform(target, checkedAction({ action: 'extend', agent, session: id, limit, by, size }));
  } catch (error) {
    return failed(error as ControlError);
  }
};

const failed = ({ message, status }: ControlError): Answer => ({
  result: 'failed',
  message: status === undefined ? `${message}. If the process received the request, it may still act later.` : message,
});

/** Asks each process that has the agent, and the session if one is named. */
export const everywhere = async (given: object, invocation: Invocation): Promise<void> => {
  const request = checkedAction(given);
  const found = await look(reachable(invocation), request.session);
  const { agent, session } = request;
  const having = found.filter(({ state }) =>
    state?.boxes.some((box) => box.agent === agent && hasSession(box, session)),
  );
  const silent = silentOf(found);
  if (having.length === 0) {
    const of = session === undefined ? '' : ` with a live session ${session}`;
    return report(
      invocation,
      [
        {
          result: 'unknown',
          message: `No process that answers has an agent ${agent}${of}. breakerbox ctl list shows the agents and sessions.`,
        },
      ],
      silent,
    );
  }
  const answers = await Promise.all(having.map(({ target }) => perform(target, request).catch(failed)));
  report(invocation, answers, session === undefined ? silent : []);
};

/** A mode for a session ends also after the session has. */
const hasSession = ({ sessions, modes }: BoxState, id: string | undefined): boolean =>
  id === undefined || sessions.some((one) => one.id === id) || modes.some(({ session }) => session === id);

type Answer = Pick<ActionResponse, 'message'> & { readonly result: ActionResponse['result'] | 'failed' };

/**
 * Says what was asked and where it took effect (A8). The exit code is 0 only if it took effect in every process that it concerns.
 * `silent` says why others did not answer, which may concern them too. A process that does not know the tool or the mode counts only if
 * none does.
 */
const report = ({ io, flags }: Invocation, all: readonly Answer[], silent: readonly string[] = []): void => {
  const known = all.filter(({ result }) => result !== 'unknown');
  const answers = known.length > 0 ? known : all;
  const done = answers.filter(({ result }) => result === 'done').length;
  const worst = (['failed', 'unknown', 'stale'] as const).find((one) => answers.some(({ result }) => result === one));
  if (flags.json)
    io.out(
      documentOf({
        applied: done,
        of: answers.length + silent.length,
        answers: answers.map(({ result, message }) => ({ result, message })),
        unreachable: silent,
      }),
    );
  else {
    io.out(`${printable([...new Set(answers.map(({ message }) => message))].join('\n'))}\n`);
    if (answers.length > 1 || silent.length > 0)
      io.out(`Applied by ${done} of ${answers.length + silent.length} processes.\n`);
    for (const error of silent) io.err(`${error}\n`);
  }
  if (worst === 'failed' || silent.length > 0) io.exitWith(1);
  else if (worst === 'stale') io.exitWith(CODES.stale);
  else if (worst === 'unknown') io.exitWith(CODES.unknown);
};
