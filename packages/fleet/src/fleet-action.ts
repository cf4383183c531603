import type { ForcedMode } from '@breakerbox/core/control';
import { isObject } from '@breakerbox/core/internal';
import type { StoredAction } from './protocol.ts';

/** Which mode of which agent. An owner has at most one for each tool. */
interface Target {
  readonly agent: string;
  readonly tool: string;
  readonly owner: string;
}

/** An action of an operator on all processes of an agent, as JSON in the store. */
export type FleetAction = Target &
  ({ readonly do: 'force'; readonly mode: ForcedMode; readonly reason: string } | { readonly do: 'release' });

/** Characters of an action as JSON. The store keeps no longer ones. */
export const LONGEST_BODY = 2_000;

const MODES: readonly ForcedMode[] = ['forced_open', 'disabled', 'observe_only'];

/** Any release writes an object as JSON. */
const objectOf = (body: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const isFilled = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** `later`: of a later release, whose actions and modes this one does not know. Undefined if it does not fit. */
const readAction = (body: string): FleetAction | 'later' | undefined => {
  const action = body.length > LONGEST_BODY ? undefined : objectOf(body);
  if (action === undefined) return undefined;
  const { do: what, agent, tool, owner, mode, reason } = action as Record<string, unknown>;
  const known = MODES.find((one) => one === mode);
  if (what === 'force' ? known === undefined : what !== 'release') return 'later';
  if (!isFilled(agent) || !isFilled(tool) || !isFilled(owner)) return undefined;
  if (what === 'release') return { do: 'release', agent, tool, owner };
  return known !== undefined && isFilled(reason) ? { do: 'force', agent, tool, owner, mode: known, reason } : undefined;
};

/** Reads what another process wrote. Undefined for an action that does not fit, or that this release does not know. */
export const parseAction = (body: string): FleetAction | undefined => {
  const action = readAction(body);
  return action === 'later' ? undefined : action;
};

const parsed = new WeakMap<object, FleetAction | undefined>();

/** {@link parseAction}, once for each record that was heard: topics and status ask again with each read. */
export const actionOf = (stored: Pick<StoredAction, 'body'>): FleetAction | undefined => {
  if (!parsed.has(stored)) parsed.set(stored, parseAction(stored.body));
  return parsed.get(stored);
};

/** The body of a record with this key, made again from what this release knows of it. Undefined if it does not fit. */
export const fittingBody = (key: string, body: string): string | undefined => {
  const action = readAction(body);
  if (action === 'later') return body;
  return action !== undefined && keyOf(action) === key ? JSON.stringify(action) : undefined;
};

/** Which mode of the fleet an action is about. */
export const keyOf = ({ agent, tool, owner }: Target): string => JSON.stringify([agent, tool, owner]);

/** The processes that have a box of this agent listen to it. */
export const agentTopic = (agent: string): string => `agent:${agent}`;

/** How many processes have carried it out, and of how many. */
export const topicsOf = (stored: StoredAction): readonly string[] => {
  const action = actionOf(stored);
  return action === undefined ? [] : [stored.id, agentTopic(action.agent)];
};
