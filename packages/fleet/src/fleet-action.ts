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

/** Whether it may be an action of another release. */
export const isActionBody = (body: string): boolean => objectOf(body) !== undefined;

/** Reads what another process wrote. Undefined for an action that this release does not know. */
export const parseAction = (body: string): FleetAction | undefined => {
  const action = objectOf(body);
  if (action === undefined) return undefined;
  const { do: what, agent, tool, owner, mode, reason } = action as Record<string, unknown>;
  if (typeof agent !== 'string' || typeof tool !== 'string' || typeof owner !== 'string') return undefined;
  if (what === 'release') return { do: 'release', agent, tool, owner };
  const known = MODES.find((one) => one === mode);
  return what === 'force' && known !== undefined && typeof reason === 'string'
    ? { do: 'force', agent, tool, owner, mode: known, reason }
    : undefined;
};

/** Which mode of the fleet an action is about. */
export const keyOf = ({ agent, tool, owner }: Target): string => JSON.stringify([agent, tool, owner]);

/** The processes that have a box of this agent listen to it. */
export const agentTopic = (agent: string): string => `agent:${agent}`;

/** How many processes have carried it out, and of how many. */
export const topicsOf = ({ id, body }: StoredAction): readonly string[] => {
  const action = parseAction(body);
  return action === undefined ? [] : [id, agentTopic(action.agent)];
};
