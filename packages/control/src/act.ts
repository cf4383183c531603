import type { OperatorAction } from '@breakerbox/core';
import type { ActionResult, ForcedMode, LimitView, OperatedSession, Operator } from '@breakerbox/core/control';
import { amountOf, MOST_MODES, usedOf } from '@breakerbox/core/internal';
import type { AgentModes } from './agent-modes.ts';
import { childrenNamed, exactFirst, pathsNamed } from './in-tree.ts';
import type { ActionRequest } from './schema.ts';
import { havingSession, type OperatedBox } from './state.ts';

/** What became of an action. */
export interface Acted {
  readonly result: 'done' | 'stale' | 'unknown';
  readonly message: string;
}

/** A new action of core is a type error here. Add its schema in `schema.ts`. If it forces no mode, name it here, and do it in {@link act}. */
type ForceAction = Exclude<OperatorAction, 'resume' | 'confirm' | 'extend' | 'release'>;

const MODES: Readonly<Record<ForceAction, ForcedMode>> = {
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
    case 'extend':
      return extend(acting.boxes, request);
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
    if (result === 'done' && session !== undefined)
      return { result, message: `${doneMessage(request.action, session.view.state)}${stillOver(session)}` };
    const over = request.action === 'resume' && result === 'stale' ? stillOver(found, request.session) : '';
    if (over !== '') return { result: 'stale', message: `Nothing was done: resume extends no limit.${over}` };
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
  if (action === 'resume' && state === 'paused_limit') return 'The session has a full budget again.';
  if (action === 'resume') return 'The session has a full budget again and goes on.';
  return state === 'paused_budget'
    ? 'The correlated failure is over. The session stays paused until you resume it, because its failure budget is used up.'
    : 'The correlated failure is over. The session probes its tools one after the other.';
};

const pauses = ({ level, mode }: Pick<LimitView, 'level' | 'mode'>): boolean => level === 'reached' && mode === 'pause';

/** The limits that pause a session, and its sub-agents of this name (D2). */
const overOf = (session: OperatedSession, name: string): readonly LimitView[] =>
  limitsNamed(session, name).filter(pauses);

const isOver = (session: OperatedSession): boolean => overOf(session, session.id).length > 0;

/** Empty unless a limit pauses the session. */
const stillOver = (session: OperatedSession, name = session.id): string => {
  const over = overOf(session, name);
  if (over.length === 0) return '';
  const how = over.map(({ limit }) => `breakerbox ctl extend SESSION ${limit} AMOUNT`);
  return ` A limit pauses the session: ${over.map(usedOf).join(', and ')}. To let it go on, extend the limit: Extend in the console, or ${how.join(', and ')}.`;
};

/** D2: a limit is made larger. Of several boxes, the first whose limit is as the operator has seen it. */
const extend = (boxes: readonly OperatedBox[], { agent, session: id, limit, by, size }: Of<'extend'>): Acted => {
  let other: Acted | undefined;
  const having = exactFirst(havingSession(boxes, id), ({ found }) => treeOf(found), id);
  const isMeant = (one: LimitView): boolean => one.limit === limit && pauses(one);
  const over = having.filter(({ found }) => limitsNamed(found, id).some(isMeant));
  const meant = over.length > 0 ? over : having;
  if (new Set(meant.map(({ found }) => found.id)).size > 1 && meant.every(({ found }) => found.id !== id))
    return ambiguous(
      agent,
      id,
      meant.flatMap(({ found }) => pathsNamed(treeOf(found), id, isMeant)),
    );
  for (const { operator, found } of meant) {
    const { result, session, extended, names } = operator.extend(id, limit, by, { size, isCounted });
    if (result === 'ambiguous') return ambiguous(agent, id, names);
    const currency = currencyOf(found);
    const [own, ...above] = extended.map((one) => ({
      session: one.session,
      change: `${amountOf(one.from, { limit, currency })} to ${amountOf(one.to, { limit, currency })}`,
    }));
    if (result === 'done' && session !== undefined && own !== undefined) {
      const more = above.map((one) => ` So does the one of session ${one.session}, above it: ${one.change}.`);
      const next = stillPaused(session) || (isOver(found) ? ' It goes on at its next call.' : '');
      const [name = id] = names;
      const isOfOther = (one: (typeof having)[number]): boolean =>
        one.operator !== operator && pathsNamed(treeOf(one.found), id).includes(name);
      const twin = having.some(isOfOther)
        ? ` Another box of the agent has a session ${name} too: it stays as it was.`
        : '';
      // A sub-agent may have no such limit, so that the one above it grows.
      const whose = name.endsWith(`/${own.session}`) ? name : own.session;
      return {
        result,
        message: `The limit of session ${whose} grows from ${own.change}.${more.join('')}${next}${twin}`,
      };
    }
    if (result === 'stale')
      other = {
        result,
        message: `Nothing was done: the limit ${limit} of session ${id} has changed since you read it. Read its state again.`,
      };
    if (result === 'unknown_limit') other ??= { result: 'unknown', message: noLimit(agent, id, limit, found) };
  }
  return other ?? noSession(agent, id);
};

const treeOf = ({ id, tree }: OperatedSession) => ({ id, children: tree?.children });

/** The limits of a session, after those of its sub-agents with this name. */
const limitsNamed = (session: OperatedSession, name: string): readonly LimitView[] => [
  ...childrenNamed(treeOf(session), name).flatMap(({ limits }) => limits),
  ...(session.view.limits ?? []),
];

const ambiguous = (agent: string, id: string, names: readonly string[]): Acted => ({
  result: 'unknown',
  message: `Nothing was done: several sub-agents of agent ${agent} have the id ${id}. Name the one that you mean: ${names.join(', or ')}.`,
});

const currencyOf = ({ view, tree }: OperatedSession): string | undefined =>
  [view, ...(tree?.children ?? [])].flatMap(({ limits }) => limits ?? []).find(({ limit }) => limit === 'cost')
    ?.currency;

const noLimit = (agent: string, id: string, limit: string, { view }: OperatedSession): string => {
  const has = (view.limits ?? []).map((one) => one.limit);
  const list = has.length === 0 ? 'It has no limits.' : `It has limits of ${has.join(', ')}.`;
  return `Nothing was done: session ${id} of agent ${agent} has no limit ${limit}, so that nothing stops it. ${list} A program sets limits when the session begins.`;
};

/** Empty if the session is not paused. */
const stillPaused = (session: OperatedSession): string => {
  const { state } = session.view;
  if (isOver(session)) return stillOver(session);
  if (state === 'active') return '';
  return state === 'paused_budget'
    ? ' It stays paused until you resume it, because its failure budget is used up.'
    : ' It stays paused until you confirm that its correlated failure is over.';
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
  boxes.filter(({ operator }) => operator.knows(tool));

/** Core has the same limit, and would find it after some boxes have the mode. */
const isFull = ({ operator }: OperatedBox, tool: string, owner: string, session: string | undefined): boolean => {
  const others = operator
    .modes()
    .filter((one) => one.tool === tool && !(one.owner === owner && one.session === session));
  return others.length >= MOST_MODES;
};

const force = (acting: Acting, request: Of<ForceAction>, owner: string): Acted => {
  const { agent, tool, reason, expiresInMs, session, version, action } = request;
  const found = having(acting.boxes, tool);
  const message = `Agent ${agent} has no circuit of a tool or group ${tool}. Correct the name, as breakerbox ctl list --json shows it. With scope 'none' an agent keeps no circuits.`;
  if (found.length === 0) return { result: 'unknown', message };
  if (isStale(acting, version)) return STALE;
  if (session !== undefined && !havingSession(found, session).some((one) => one.found.id === session))
    return noSession(agent, session);
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
