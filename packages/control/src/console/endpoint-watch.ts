import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlError, readState } from '../client.ts';
import type { ProcessState } from '../schema.ts';
import { shownUrl, type Target } from '../target.ts';
import type { EndpointState } from './console-state.ts';

/** Milliseconds that a look waits. What answers later is in the next look. */
const LOOK_MS = 1_000;
/** Milliseconds until an endpoint that did not answer is asked again. */
const RETRY_MS = 5_000;

/** An endpoint, and what it answered last. */
export interface WatchedEndpoint {
  readonly id: string;
  readonly target: Target;
  status: EndpointState['status'];
  error?: string | undefined;
  state?: ProcessState | undefined;
  answeredUnixMs?: number | undefined;
  asking?: Promise<void> | undefined;
  notBeforeMs: number;
  /** Counts actions: an answer from before the latest action is old. */
  actions: number;
}

/** All endpoints of a console. */
export interface EndpointWatch {
  /** Asks all endpoints that are due, and waits for a second at most. */
  look(): Promise<readonly WatchedEndpoint[]>;
  /** All endpoints, with their last answers. Looks only if one was never asked. */
  known(): Promise<readonly WatchedEndpoint[]>;
  /** Follows a new list of targets. */
  setTargets(targets: readonly Target[]): void;
  close(): void;
}

/** `follow` begins to read the changes of an endpoint, and returns how to stop. */
export const watchEndpoints = (follow: (id: string, target: Target) => () => void): EndpointWatch => {
  const endpoints = new Map<string, { readonly endpoint: WatchedEndpoint; readonly stop: () => void }>();

  const setTargets = (targets: readonly Target[]): void => {
    const wanted = new Map(targets.map((target) => [shownUrl(target), target]));
    for (const [id, { stop }] of endpoints) {
      if (wanted.has(id)) continue;
      stop();
      endpoints.delete(id);
    }
    for (const [id, target] of wanted) {
      if (endpoints.has(id)) continue;
      const endpoint: WatchedEndpoint = { id, target, status: 'waiting', notBeforeMs: 0, actions: 0 };
      endpoints.set(id, { endpoint, stop: follow(id, target) });
    }
  };

  const all = (): readonly WatchedEndpoint[] => [...endpoints.values()].map(({ endpoint }) => endpoint);
  const look = async (): Promise<readonly WatchedEndpoint[]> => {
    const looked = all();
    await Promise.race([Promise.all(looked.map(refreshed)), sleep(LOOK_MS, undefined, { ref: false })]);
    return looked;
  };

  return {
    setTargets,
    look,
    known: async () =>
      all().some(({ status, asking }) => status === 'waiting' && asking === undefined) ? look() : all(),
    close: () => setTargets([]),
  };
};

const refreshed = (endpoint: WatchedEndpoint): Promise<void> => {
  if (endpoint.asking !== undefined) return endpoint.asking;
  if (performance.now() < endpoint.notBeforeMs) return Promise.resolve();
  const asking = ask(endpoint).finally(() => {
    if (endpoint.asking === asking) endpoint.asking = undefined;
  });
  endpoint.asking = asking;
  return asking;
};

const ask = async (endpoint: WatchedEndpoint): Promise<void> => {
  const { actions } = endpoint;
  try {
    const state = await readState(endpoint.target);
    if (endpoint.actions === actions) answered(endpoint, state);
  } catch (error) {
    if (endpoint.actions === actions) failed(endpoint, error as ControlError);
  }
};

const answered = (endpoint: WatchedEndpoint, state: ProcessState): void => {
  endpoint.status = 'answers';
  endpoint.error = undefined;
  endpoint.state = state;
  endpoint.answeredUnixMs = Date.now();
};

/** Notes that an endpoint did not answer. */
export const failed = (endpoint: WatchedEndpoint, error: Error): void => {
  endpoint.status = isEnded(endpoint, error) ? 'ended' : 'silent';
  endpoint.error = error.message;
  endpoint.notBeforeMs = performance.now() + RETRY_MS;
};

/** A socket on which no process listens was left behind. */
const isEnded = ({ target }: WatchedEndpoint, { cause }: Error): boolean =>
  target.url.startsWith('unix:') && ['ECONNREFUSED', 'ENOENT'].includes((cause as NodeJS.ErrnoException)?.code ?? '');

/** After an action, an answer that was asked for before is old. */
export const acted = (endpoint: WatchedEndpoint): void => {
  endpoint.actions += 1;
  endpoint.asking = undefined;
};

/** An endpoint as the page sees it: without the token. */
export const shownEndpoint = ({ id, status, error, state, answeredUnixMs }: WatchedEndpoint): EndpointState => ({
  id,
  status,
  error,
  state,
  answeredUnixMs,
});
