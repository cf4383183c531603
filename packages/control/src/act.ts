import type { ForcedMode, NotDone } from '@breakerbox/core/control';
import type { ActionRequest } from './schema.ts';
import type { OperatedBox } from './state.ts';

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

/** An action that does not happen, for {@link Operator.notDone}. */
export const notDone = (request: ActionRequest, result: NotDone['result']): NotDone => {
  const { action, session } = request;
  return { action, result, session, tool: 'tool' in request ? request.tool : undefined };
};

/** Does what an operator asks for (A3). `boxes` are those of the agent. */
export const act = (boxes: readonly OperatedBox[], request: ActionRequest, who: string): Acted => {
  switch (request.action) {
    case 'resume':
    case 'confirm':
      return onSession(boxes, request);
    case 'release':
      return release(boxes, request, who);
    default:
      return force(boxes, request, who);
  }
};

const onSession = (boxes: readonly OperatedBox[], request: Of<'resume'> | Of<'confirm'>): Acted => {
  for (const { operator } of boxes) {
    const { result } =
      request.action === 'resume'
        ? operator.resume(request.session, { cycle: request.cycle })
        : operator.confirmRecovered(request.session, { event: request.event });
    if (result === 'done') return { result, message: DONE[request.action] };
    if (result === 'stale')
      return { result, message: 'The session has moved on. Nothing was done. Look at its state again.' };
  }
  return reported(boxes, request, noSession(request.agent, request.session));
};

const DONE = {
  resume: 'The session has a full budget again and goes on.',
  confirm: 'The event is over. The tools are probed one after the other.',
} as const;

const isStale = (boxes: readonly OperatedBox[], version: number | undefined): boolean =>
  version !== undefined && boxes.some(({ operator }) => operator.version !== version);

/** Reports what the operators of the boxes do not, because they are not asked. */
const reported = (boxes: readonly OperatedBox[], request: ActionRequest, acted: Acted): Acted => {
  if (acted.result !== 'done') for (const { operator } of boxes) operator.notDone(notDone(request, acted.result));
  return acted;
};

const noSession = (agent: string, session: string): Acted => ({
  result: 'unknown',
  message: `Agent ${agent} has no live session ${session}.`,
});

const STALE: Acted = { result: 'stale', message: 'The modes have changed. Nothing was done. Look at them again.' };

/** The boxes that have the tool or the group. */
const having = (boxes: readonly OperatedBox[], tool: string): readonly OperatedBox[] =>
  boxes.filter(({ operator }) => operator.knows(tool));

const force = (
  boxes: readonly OperatedBox[],
  request: Of<'force_open' | 'disable' | 'observe'>,
  owner: string,
): Acted => {
  const { tool, reason, expiresInMs, session, version, action } = request;
  const found = having(boxes, tool);
  const message = `Agent ${request.agent} has no tool or group ${tool}.`;
  if (found.length === 0) return reported(boxes, request, { result: 'unknown', message });
  if (isStale(found, version)) return reported(found, request, STALE);
  if (session !== undefined && !found.some(({ operator }) => operator.session(session)))
    return reported(found, request, noSession(request.agent, session));
  const forced: OperatedBox[] = [];
  try {
    for (const one of found) {
      one.operator.force(tool, { mode: MODES[action], owner, reason, expiresInMs, session });
      forced.push(one);
    }
  } catch (error) {
    for (const { operator } of forced) operator.release(tool, { owner, session }); // All boxes or none.
    throw error;
  }
  const whose = session === undefined ? 'each session' : `session ${session}`;
  return { result: 'done', message: `${tool} is ${MODES[action]} from the next call of ${whose} on.` };
};

const release = (boxes: readonly OperatedBox[], request: Of<'release'>, who: string): Acted => {
  const { tool, session, owner = who, version } = request;
  const found = having(boxes, tool);
  if (isStale(found, version)) return reported(found, request, STALE);
  const released = found.filter(({ operator }) => operator.release(tool, { owner, session }));
  return released.length > 0
    ? { result: 'done', message: `The mode that ${owner} forced on ${tool} has ended.` }
    : { result: 'unknown', message: `${owner} forces no mode on ${tool}.` };
};
