import type { ActionResult, ForcedMode, OperatedSession, Operator } from '@breakerbox/core/control';
import { MOST_MODES } from '@breakerbox/core/internal';
import type { AgentModes } from './agent-modes.ts';
import type { ActionRequest } from './schema.ts';
import { havingSession, type OperatedBox } from './state.ts';

/** What became of an action. */
export interface Acted {
  readonly result: 'done' | 'stale' | 'unknown';
  readonly message: string;
}

const MODES: Readonly<Record<'force_open' | 'disable' | 'observe', ForcedMode>> = {
  force_open: 'forced_open',
  disable: 'disabled',
  observe: 'observe_only',
};

type Of<Action extends ActionRequest['action']> = Extract<ActionRequest, { readonly action: Action }>;

/** The caller counts an action once, however many boxes it concerns. */
const isCounted = false;

/** What an action is about. */
export interface Acting {
  /** Those of the agent. */
  readonly boxes: readonly OperatedBox[];
  readonly version: number;
  /** For boxes that the agent makes later. */
  readonly modes: AgentModes;
}

/** Does what an operator asks for (A3). */
export const act = (acting: Acting, request: ActionRequest, who: string): Acted => {
  switch (request.action) {
    case 'resume':
    case 'confirm':
      return onSession(acting.boxes, request);
    case 'release':
      return release(acting, request, who);
    default:
      return force(acting, request, who);
  }
};

const onSession = (boxes: readonly OperatedBox[], request: Of<'resume'> | Of<'confirm'>): Acted => {
  let isStale = false;
  for (const { operator, found } of havingSession(boxes, request.session)) {
    const { result, session } = actOn(operator, found, request);
    if (result === 'done') return { result, message: doneMessage(request.action, session?.view.state) };
    isStale ||= result === 'stale';
  }
  if (isStale)
    return {
      result: 'stale',
      message:
        'Nothing was done: the session has changed since you read its state, or it does not need this action. Read its state again.',
    };
  return noSession(request.agent, request.session);
};

/** A session that its budget does not pause is not resumed: another operator has done that, or its correlated failure comes first. */
const actOn = (
  operator: Operator,
  { view }: OperatedSession,
  request: Of<'resume'> | Of<'confirm'>,
): Pick<ActionResult, 'result' | 'session'> => {
  if (request.action === 'confirm')
    return operator.confirmRecovered(request.session, { event: request.event, isCounted });
  if (view.state !== 'paused_budget') return { result: 'stale', session: undefined };
  return operator.resume(request.session, { cycle: request.cycle, isCounted });
};

const doneMessage = (action: 'resume' | 'confirm', state: string | undefined): string => {
  if (action === 'resume') return 'The session has a full budget again and goes on.';
  return state === 'paused_budget'
    ? 'The correlated failure is over. The session stays paused until you resume it, because its failure budget is used up.'
    : 'The correlated failure is over. The session probes its tools one after the other.';
};

const isStale = ({ version }: Acting, expected: number | undefined): boolean =>
  expected !== undefined && expected !== version;

const noSession = (agent: string, session: string): Acted => ({
  result: 'unknown',
  message: `Agent ${agent} has no live session ${session}.`,
});

const notForOneSession = (agent: string): Acted => ({
  result: 'unknown',
  message: `Sessions of agent ${agent} share their circuits (scope 'process'), so a mode cannot apply to one session only. Leave the session out: the mode then applies to all sessions.`,
});

const STALE: Acted = {
  result: 'stale',
  message: 'Nothing was done: the forced modes of this agent have changed since you read them. Read them again.',
};

/** The boxes that have circuits of the tool or the group. */
export const having = (boxes: readonly OperatedBox[], tool: string): readonly OperatedBox[] =>
  boxes.filter(({ operator }) => operator.scope !== 'none' && operator.knows(tool));

/** Core has the same limit, and would find it after some boxes have the mode. */
const isFull = ({ operator }: OperatedBox, tool: string, owner: string, session: string | undefined): boolean => {
  const others = operator
    .modes()
    .filter((one) => one.tool === tool && !(one.owner === owner && one.session === session));
  return others.length >= MOST_MODES;
};

const force = (acting: Acting, request: Of<'force_open' | 'disable' | 'observe'>, owner: string): Acted => {
  const { agent, tool, reason, expiresInMs, session, version, action } = request;
  const found = having(acting.boxes, tool);
  const message = `Agent ${agent} has no circuit of a tool or group ${tool}. Correct the name, as breakerbox ctl list --json shows it. With scope 'none' an agent keeps no circuits.`;
  if (found.length === 0) return { result: 'unknown', message };
  if (isStale(acting, version)) return STALE;
  if (session !== undefined && havingSession(found, session).length === 0) return noSession(agent, session);
  if (session !== undefined && found.some(({ operator }) => operator.scope === 'process'))
    return notForOneSession(agent);
  if (found.some((one) => isFull(one, tool, owner, session)))
    return {
      result: 'unknown',
      message: `Nothing was done: ${tool} has ${MOST_MODES} forced modes already, which is the most. Release some, or force one mode for all sessions.`,
    };
  const options = { mode: MODES[action], owner, reason, expiresInMs };
  for (const { operator } of found) operator.force(tool, { ...options, session, isCounted });
  if (session === undefined) acting.modes.forced(agent, tool, options);
  const whose = session === undefined ? 'each session' : `session ${session}`;
  return { result: 'done', message: `The circuit of ${tool} is ${MODES[action]} from the next call of ${whose} on.` };
};

const release = (acting: Acting, request: Of<'release'>, who: string): Acted => {
  const { agent, tool, session, owner = who, allOwners, version } = request;
  if (isStale(acting, version)) return STALE;
  const boxes = having(acting.boxes, tool);
  const ended = (allOwners ? ownersOf(acting, request) : [owner]).filter((one) => {
    const isKept = session === undefined && acting.modes.released(agent, tool, one);
    const released = boxes.filter(({ operator }) => operator.release(tool, { owner: one, session, isCounted }));
    return released.length > 0 || isKept;
  });
  if (ended.length > 0) return { result: 'done', message: `${whose(ended)} on ${tool} has ended.` };
  const forWhom = session === undefined ? 'all sessions' : `session ${session}`;
  return {
    result: 'unknown',
    message: `${allOwners ? 'No owner has forced a' : `${owner} has forced no`} mode on ${tool} for ${forWhom}. breakerbox ctl list shows each mode with its owner and session. Give that owner, and the session unless the mode is for all sessions.`,
  };
};

const ownersOf = ({ boxes, modes }: Acting, { agent, tool, session }: Of<'release'>): readonly string[] => {
  const forced = having(boxes, tool).flatMap(({ operator }) => operator.modes());
  const ofTool = forced.filter((one) => one.tool === tool && one.session === session).map(({ owner }) => owner);
  return [...new Set([...ofTool, ...(session === undefined ? modes.ownersOf(agent, tool) : [])])];
};

const whose = (owners: readonly string[]): string =>
  owners.length === 1 ? `The mode that ${owners[0]} forced` : `Each mode that one of ${owners.length} owners forced`;
