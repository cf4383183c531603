import type { Change } from '../changes.ts';
import type { ActionRequest, ProcessState } from '../schema.ts';

/**
 * A control endpoint as the page sees it. `waiting`: asked, and no answer yet. `silent`: it does not answer, as a stopped process.
 * `ended`: its process has ended and left the socket behind.
 */
export interface EndpointState {
  /** The address, without credentials. */
  readonly id: string;
  readonly status: 'answers' | 'waiting' | 'silent' | 'ended';
  /** Why it does not answer. */
  readonly error?: string | undefined;
  /** The last answer, however old. */
  readonly state?: ProcessState | undefined;
  /** Unix milliseconds of the last answer. */
  readonly answeredUnixMs?: number | undefined;
}

/** What `GET /api/state` answers. */
export interface ConsoleState {
  readonly unixMs: number;
  readonly endpoints: readonly EndpointState[];
}

/** What `POST /api/actions` takes. */
export interface ConsoleAction {
  readonly action: ActionRequest;
  /** The `version` that the operator has seen, by endpoint: each process counts its own. */
  readonly versions?: Readonly<Record<string, number>> | undefined;
  /** Only this endpoint: sessions of one id in two processes have events and cycles of their own. */
  readonly endpoint?: string | undefined;
}

/** What became of an action at one endpoint. */
export interface EndpointResult {
  readonly endpoint: string;
  readonly pid?: number | undefined;
  readonly result: 'done' | 'stale' | 'unknown' | 'failed' | 'silent';
  readonly message: string;
}

/** What `POST /api/actions` answers. */
export interface ConsoleResult {
  /** Processes that were asked. */
  readonly asked: number;
  /** Processes in which the action took effect. */
  readonly applied: number;
  readonly results: readonly EndpointResult[];
  /** Endpoints that have not answered since the console began. They may have the agent too, and were not asked. */
  readonly neverAnswered: number;
}

/** A change with the endpoint that it comes from. */
export interface ConsoleChange extends Change {
  readonly endpoint: string;
}
