import type { ErrorCategory } from '@breakerbox/core';

/**
 * What a process says to the store that many processes share, and what it hears. The store may be Redis, or a hub on this machine. All
 * times are durations in milliseconds: the store has its own clock and no other clock counts (G9).
 */

/** Which state of the store a process knows: a store that lost its data has another epoch. `version` grows with each change. */
export interface Position {
  readonly epoch: string;
  readonly version: number;
}

/** Before the first word of the store. */
export const NOWHERE: Position = { epoch: '', version: 0 };

/** One circuit as the store has it. */
export interface StoredCircuit {
  /** The circuit's name and the digest of its policy. */
  readonly id: string;
  readonly version: number;
  /** `pending`: fewer processes than the quorum have seen it open (G3). */
  readonly state: 'pending' | 'open' | 'closed';
  /** Grows with each opening, failed probe and closing. */
  readonly generation: number;
  readonly category: ErrorCategory;
  /** Since it was opened, reopened or closed. */
  readonly ageMs: number;
  /** From the opening to the next probe, with what a Retry-After asked for. */
  readonly waitMs: number;
  /** How many processes have said so, while pending. */
  readonly seenBy: number;
  /** The process that holds the probe, how long its lease still is, and whether another process waits for it. */
  readonly probe: { readonly holder: string; readonly leaseMs: number; readonly isWanted: boolean } | undefined;
}

/** What an operator did last to one mode of all processes: forced or released it (G8). */
export interface StoredAction {
  /** Which mode. The store keeps one action for each. */
  readonly key: string;
  /** Unique: an action that arrives twice is done once. */
  readonly id: string;
  readonly version: number;
  /** When it was asked for, in milliseconds of the store's clock. Of two actions on one mode, the later one counts, whichever arrives first. */
  readonly made: number;
  /** Since then. */
  readonly ageMs: number;
  /** What it is, as JSON that the sender's release understands. At most 2,000 characters. */
  readonly body: string;
  /** How long the mode is still forced; 0 for a release. */
  readonly leftMs: number;
  /** How long the store still knows it. A process that was cut off then hears that its own, earlier action has been replaced. */
  readonly keptMs: number;
}

/** What the store is told of an action. */
export interface SentAction extends Pick<StoredAction, 'key' | 'id' | 'ageMs' | 'body' | 'leftMs' | 'keptMs'> {
  /** `made` of the action on the same mode that its author knew, which this one follows in any case; 0 for none. */
  readonly after: number;
}

/** Who listens to the store at a moment. A process that has ended does not. */
export interface Listeners {
  /** Undefined if the store cannot tell. */
  readonly processes: number | undefined;
  /** How many of them listen to each topic that was asked about. Empty if the store cannot tell. */
  readonly topics: ReadonlyMap<string, number>;
}

/** What has changed since a position, and who listens. */
export interface Word extends Listeners {
  readonly position: Position;
  /** Empty, without an epoch, if the store knows nothing: unknown, not closed (G7). */
  readonly circuits: readonly StoredCircuit[];
  readonly actions: readonly StoredAction[];
  /** Everything is listed, because the position was of another epoch, or too old. */
  readonly whole: boolean;
  /** Records that do not fit, and that are not listed. Default: 0. */
  readonly ignored?: number;
}

/** A process saw a circuit open. */
export interface Report {
  readonly id: string;
  readonly process: string;
  readonly category: ErrorCategory;
  readonly waitMs: number;
  /** Processes that must have seen it within `windowMs` (G3). If fewer live, all of them. */
  readonly quorum: number;
  /**
   * Processes that live, as far as this one knows. The store goes by it if it counts fewer. Undefined if this process does not listen
   * yet: then the store would not count it, and the quorum stays as it is.
   */
  readonly living?: number | undefined;
  readonly windowMs: number;
  /** The generation that this process last knew, if it knew that the fleet's circuit was open: after a loss, the newer one wins. */
  readonly generation: number;
  /** Since that opening, so that it is due when it would have been; 0 for an opening that the fleet did not know. */
  readonly ageMs: number;
}

/** The right to send the one probe, until the lease ends. */
export interface Grant {
  readonly epoch: string;
  readonly generation: number;
  readonly token: string;
}

/** How the probe ended. `returned`: it was not used, or said nothing about the tool. */
export type ProbeResult =
  | { readonly result: 'success' }
  | { readonly result: 'failure'; readonly category: ErrorCategory; readonly waitMs: number }
  | { readonly result: 'returned' };

/**
 * The protocol: claim, settle, report, control, read. Each call is one round trip, is atomic, and may be repeated: a repetition changes
 * nothing. A call rejects if the store did not answer in time; then it may or may not have happened.
 */
export interface FleetStore {
  /** What has changed since a position, and how many processes listen, also to these topics. */
  read(since: Position, topics?: readonly string[]): Promise<Word>;
  /** A store that is full of open circuits keeps no other, and answers that it is pending. */
  report(report: Report): Promise<StoredCircuit>;
  /**
   * Undefined: another process holds the probe, or the circuit is not open, or not due, or of another generation. The holder renews its
   * lease with the same token. `isWanted`: a holder that has not used it is asked to give it back. `longestWaitMs`: the circuit is due
   * after this time, even if the store has a longer wait.
   */
  claim(
    id: string,
    process: string,
    generation: number,
    token: string,
    leaseMs: number,
    isWanted: boolean,
    longestWaitMs?: number,
  ): Promise<Grant | undefined>;
  /** `stale`: the lease, the generation or the epoch is another one now, and nothing was changed (G4). */
  settle(id: string, process: string, grant: Grant, result: ProbeResult): Promise<'done' | 'stale'>;
  /** Closes a circuit without a probe: a person, a health check or a time has ended its outage. False if it is of another generation. */
  end(id: string, generation: number): Promise<boolean>;
  /**
   * Replaces an earlier action on the same mode. Returns the one that counts now. If there is no room for another mode, the oldest one
   * that is not forced any more goes. Undefined if all are. `ignored`: the action does not fit, or the one that counts does not.
   */
  control(action: SentAction): Promise<StoredAction | 'ignored' | undefined>;
  /** Calls `onHint` when something may have changed. It may never be called: the fleet reads once a second anyway (G6). */
  listen(onHint: () => void): Listening;
  close(): Promise<void>;
}

/** One process that listens to the store, until it stops or ends. Nothing is written: the store counts it while it lives. */
export interface Listening {
  /** Whether the store counts it. */
  isCounted(): boolean;
  /** What it listens to besides hints: these topics, and no others. They say nothing; they are only counted. */
  to(topics: ReadonlySet<string>): void;
  stop(): void;
}
