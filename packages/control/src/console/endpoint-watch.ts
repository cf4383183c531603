import { setTimeout as sleep } from 'node:timers/promises';
import { safeJson } from '@breakerbox/core/internal';
import { type ControlError, readShare } from '../control-client.ts';
import type { ProcessState } from '../schema.ts';
import { shownUrl, type Target } from '../target.ts';
import type { EndpointState } from './console-state.ts';

/** Milliseconds that a look waits. What answers later is in the next look. */
const LOOK_MS = 1_000;
/** Milliseconds until an endpoint that did not answer is asked again. */
const RETRY_MS = 5_000;

/**
 * Reading an endpoint may take 5% of the time of this process, and reading all of them half of it: one whose answers take long to read is
 * asked less often.
 */
const PAUSE_FACTOR = 20;
const PAUSE_FACTOR_EACH = 2;

/** An endpoint, and what it answered last. */
export interface WatchedEndpoint {
  readonly id: string;
  readonly target: Target;
  status: EndpointState['status'];
  error?: string | undefined;
  state?: ProcessState | undefined;
  /** {@link shownEndpoint} once the page has asked for it. */
  stateText?: string | undefined;
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
    const { length } = looked;
    await Promise.race([
      Promise.all(looked.map((one) => refreshed(one, length))),
      sleep(LOOK_MS, undefined, { ref: false }),
    ]);
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

const refreshed = (endpoint: WatchedEndpoint, endpoints: number): Promise<void> => {
  if (endpoint.asking !== undefined) return endpoint.asking;
  if (performance.now() < endpoint.notBeforeMs) return Promise.resolve();
  const asking = ask(endpoint, endpoints).finally(() => {
    if (endpoint.asking === asking) endpoint.asking = undefined;
  });
  endpoint.asking = asking;
  return asking;
};

const ask = async (endpoint: WatchedEndpoint, endpoints: number): Promise<void> => {
  const { actions } = endpoint;
  try {
    const { result, spentMs } = await readShare(endpoint.target, undefined, endpoints);
    if (endpoint.actions !== actions) return;
    answered(endpoint, result);
    endpoint.notBeforeMs = performance.now() + spentMs * Math.max(PAUSE_FACTOR, PAUSE_FACTOR_EACH * endpoints);
  } catch (error) {
    if (endpoint.actions === actions) failed(endpoint, error as ControlError);
  }
};

const answered = (endpoint: WatchedEndpoint, state: ProcessState): void => {
  endpoint.status = 'answers';
  endpoint.error = undefined;
  endpoint.state = state;
  endpoint.stateText = undefined;
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
  endpoint.notBeforeMs = 0;
};

/** An {@link EndpointState} as JSON: an endpoint as the page sees it, without the token. What it answered is written once. */
export const shownEndpoint = (endpoint: WatchedEndpoint): string => {
  const { id, status, error, state, answeredUnixMs } = endpoint;
  endpoint.stateText ??= safeJson(state);
  const own = safeJson({ id, status, error, answeredUnixMs } satisfies EndpointState);
  return state === undefined ? own : `${own.slice(0, -1)},"state":${endpoint.stateText}}`;
};
