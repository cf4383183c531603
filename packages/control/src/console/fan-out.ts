import { type ControlError, perform } from '../control-client.ts';
import { isInTree } from '../in-tree.ts';
import type { ActionRequest } from '../schema.ts';
import type { ConsoleAction, ConsoleResult, EndpointResult } from './console-state.ts';
import { acted, failed, type WatchedEndpoint } from './endpoint-watch.ts';

/** Asks all processes that have the agent and the session of an action, at once. */
export const fanOut = async (
  endpoints: readonly WatchedEndpoint[],
  { action, versions, endpoint }: ConsoleAction,
): Promise<ConsoleResult> => {
  const concerned = endpoints.filter(
    (one) => one.status !== 'ended' && (endpoint === undefined || one.id === endpoint) && concerns(one, action),
  );
  const all = await Promise.all(concerned.map((one) => askOne(one, expecting(action, versions?.[one.id]))));
  const known = all.filter(({ result }) => result !== 'unknown');
  const results = known.length > 0 ? known : all;
  return {
    asked: results.length,
    applied: results.filter(({ result }) => result === 'done').length,
    results,
    neverAnswered: endpoints.filter(({ state, status }) => state === undefined && status !== 'ended').length,
  };
};

/** By the last answer, however old: a process that is stopped acts when it goes on. */
const concerns = ({ state }: WatchedEndpoint, { agent, session }: ActionRequest): boolean =>
  (state?.boxes ?? []).some(
    (box) =>
      box.agent === agent &&
      (session === undefined ||
        box.sessionsLeftOut > 0 ||
        box.sessions.some((one) => (one.childrenLeftOut ?? 0) > 0 || isInTree(one, session)) ||
        box.modes.some((mode) => mode.session === session)),
  );

const expecting = (action: ActionRequest, version: number | undefined): ActionRequest =>
  'tool' in action && version !== undefined ? { ...action, version } : action;

const askOne = async (endpoint: WatchedEndpoint, action: ActionRequest): Promise<EndpointResult> => {
  const { id, state, target } = endpoint;
  const of = { endpoint: id, pid: state?.pid };
  try {
    const { result, message } = await perform(target, action);
    acted(endpoint);
    return { ...of, result, message };
  } catch (error) {
    const { message, status } = error as ControlError;
    if (status !== undefined) return { ...of, result: 'failed', message };
    failed(endpoint, error as ControlError);
    return { ...of, result: 'silent', message };
  }
};
