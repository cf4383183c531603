import { childrenNamed } from './in-tree.ts';
import type { ActionRequest } from './schema.ts';
import type { Boxes, OperatedBox } from './state.ts';

/** Different states of boxes in one line of the audit file. */
const MOST_STATES = 10;

/**
 * The part of the state that an action is about: of each box, equal ones once. Of the modes of a tool only the one that the action names,
 * and how many there are: a line does not grow with what other operators do.
 */
export const concernOf = (boxes: Boxes, request: ActionRequest, who: string): readonly unknown[] => {
  const { agent } = request;
  const version = boxes.version(agent);
  const parts = boxes.list(agent).flatMap((one) => partOf(one, request, version, who));
  const different = [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
  const leftOut = different.length - MOST_STATES;
  return leftOut > 0 ? [...different.slice(0, MOST_STATES), { leftOut }] : different;
};

const partOf = (
  { operator }: OperatedBox,
  request: ActionRequest,
  version: number,
  who: string,
): readonly unknown[] => {
  if ('tool' in request) {
    const owner = (request.action === 'release' && request.owner) || who;
    const all = operator.modes().filter(({ tool }) => tool === request.tool);
    return [
      { version, mode: all.find((one) => one.owner === owner && one.session === request.session), modes: all.length },
    ];
  }
  const found = operator.session(request.session);
  if (found !== undefined && request.action === 'extend') {
    const limits = [found.view, ...childrenNamed({ id: found.id, children: found.tree?.children }, request.session)]
      .flatMap((one) => one.limits ?? [])
      .filter(({ limit }) => limit === request.limit);
    return [{ state: found.view.state, limits: limits.map(({ session, size, used }) => ({ session, size, used })) }];
  }
  return found === undefined ? [] : [{ state: found.view.state, cycle: found.view.budget.cycle, event: found.event }];
};
