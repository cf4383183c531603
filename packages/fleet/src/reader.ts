import { reportThrown, safely } from '@breakerbox/core/internal';
import { topicsOf } from './fleet-action.ts';
import { BOUNDS } from './fleet-state.ts';
import {
  type FleetStore,
  type Listeners,
  NOWHERE,
  type Position,
  type StoredAction,
  type StoredCircuit,
  type Word,
} from './protocol.ts';
import { reasonOf, type StoreReason, withoutAddress } from './reasons.ts';
import type { Runtime } from './runtime.ts';

/** Something of the store, and when this process heard of it. */
export type Heard<Stored> = Stored & { readonly heardMs: number };

export type FleetMode = 'starting' | 'up' | 'degraded';

/** What this process knows of the store. */
export interface Knowledge {
  readonly mode: FleetMode;
  /** Why it is degraded. */
  readonly why: StoreReason | undefined;
  /** Whether the last command was answered. */
  readonly answers: boolean;
  readonly epoch: string;
  /** The numbers of the latest read that was sent, and of the latest that was answered. */
  readonly sentRead: number;
  readonly read: number;
  /** Monotonic milliseconds of the last answer. */
  readonly answeredMs: number | undefined;
  /** As of the latest answer. */
  readonly listeners: Listeners;
  /**
   * The most processes of the last 60 s, because a process whose subscription is lost for a moment still lives. Undefined if the store
   * cannot tell, or has not counted this process.
   */
  readonly living: number | undefined;
  readonly circuits: ReadonlyMap<string, Heard<StoredCircuit>>;
  readonly actions: ReadonlyMap<string, Heard<StoredAction>>;
}

/** One for each fleet name of a process: reads what has changed, and knows whether the store answers. */
export interface Reader {
  readonly knowledge: Knowledge;
  /** Sends a message that changes the store. Undefined if it failed, which counts as a failure of the store. */
  write<Answer>(command: (store: FleetStore) => Promise<Answer>): Promise<{ readonly answer: Answer } | undefined>;
  /** A circuit as the store has just answered. */
  learn(circuit: StoredCircuit): void;
  /** The store's answer does not fit what is known of it: the next read is of everything. */
  doubt(): void;
  /** Reads soon, at most every 100 ms. */
  readSoon(): void;
  close(): void;
}

/** What a reader calls. It calls nothing after it is closed. */
export interface ReaderListener {
  /** After each answer of a read. `isAll`: it listed everything. */
  onWord(isAll: boolean): void;
  /** What this process listens to, besides hints. Asked for after each answer. */
  topics(): ReadonlySet<string>;
  /** After each failure, and when the mode has changed. */
  onFailure(): void;
  /** A read has found so many records that do not fit. */
  onIgnored(records: number): void;
}

/** Between two reads (G6). The jitter keeps processes from reading at the same moment. */
const READ_MS = 1_000;
const READ_JITTER_MS = 200;
const HINTED_MS = 100;
const HINT_JITTER_MS = 50;
/** A store that has failed for so long is degraded (G7). */
const DEGRADED_MS = 3_000;
/** A store that refuses messages is believed to take them again so long after the last one that failed. A process with something to say tries each second. */
const FORGIVEN_MS = 10_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;
/** Between two reads of everything. */
const WHOLE_MS = 30_000;
const COUNTED_MS = 60_000;

const UNKNOWN: Listeners = { processes: undefined, topics: new Map() };

export const startReader = (store: FleetStore, runtime: Runtime, listener: ReaderListener): Reader => {
  const circuits = new Map<string, Heard<StoredCircuit>>();
  const actions = new Map<string, Heard<StoredAction>>();
  let position: Position = NOWHERE;
  let mode: FleetMode = 'starting';
  let why: StoreReason | undefined;
  let failingSinceMs: number | undefined;
  let failures = 0;
  /** Messages that fail, although the store may be read: a full disk, a replica, a right that is missing. */
  let refusing: { readonly sinceMs: number; readonly lastMs: number } | undefined;
  /** While degraded: the latest read that was sent before a message was taken. What it says may be older than the message. */
  let takenAfter = 0;
  let answeredMs: number | undefined;
  let listeners: Listeners = UNKNOWN;
  /** Falling numbers of the last 60 s: an earlier one counts only while it is the higher one. */
  let counts: readonly { readonly count: number; readonly atMs: number }[] = [];
  let wholeMs = Number.NEGATIVE_INFINITY;
  let sentRead = 0;
  let answeredRead = 0;
  /**
   * A store that went back to older data has the same epoch, and its versions may have grown past the known one. So everything is read
   * after each failure, every 30 s, and in doubt.
   */
  let isDoubted = false;
  let isClosed = false;
  let isReading = false;
  let isHinted = false;
  let lastReadMs = Number.NEGATIVE_INFINITY;
  let cancel = (): void => {};

  const isForgiven = (): boolean => refusing === undefined || runtime.now() - refusing.lastMs >= FORGIVEN_MS;

  const succeeded = (isWrite: boolean): void => {
    failingSinceMs = undefined;
    failures = 0;
    answeredMs = runtime.now();
    if (isWrite || isForgiven()) refusing = undefined;
    if (isWrite && mode === 'degraded') takenAfter = sentRead;
  };

  const failed = (sentMs: number, isWrite: boolean, error: unknown): void => {
    failingSinceMs ??= sentMs;
    failures += 1;
    isDoubted = true;
    if (!isWrite)
      refusing = undefined; // It does not answer at all.
    else refusing = { sinceMs: isForgiven() ? sentMs : (refusing?.sinceMs ?? sentMs), lastMs: runtime.now() };
    const sinceMs = Math.min(failingSinceMs, isWrite ? (refusing?.sinceMs ?? sentMs) : sentMs);
    if (mode !== 'degraded' && runtime.now() - sinceMs >= DEGRADED_MS) {
      mode = 'degraded';
      why = reasonOf(error);
      reportThrown('the store of the fleet', withoutAddress(error));
    }
    safely('the fleet', () => listener.onFailure());
  };

  const run = async <Answer>(
    command: (store: FleetStore) => Promise<Answer>,
    isWrite = false,
  ): Promise<{ readonly answer: Answer } | undefined> => {
    const sentMs = runtime.now();
    try {
      const answer = await command(store);
      if (!isClosed) succeeded(isWrite);
      return { answer };
    } catch (error) {
      if (!isClosed) failed(sentMs, isWrite, error);
      return undefined;
    }
  };

  /** What was learned since the latest read was sent, which its answer may not know yet. */
  const learned = new Map<string, Heard<StoredCircuit>>();

  const hear = <Stored>(stored: Stored): Heard<Stored> => ({ ...stored, heardMs: runtime.now() });

  const apply = (word: Word, isCounted: boolean): void => {
    if (word.whole) {
      circuits.clear();
      actions.clear();
    }
    position = word.position;
    answeredRead = sentRead;
    for (const circuit of word.circuits) put(circuits, circuit.id, hear(circuit), BOUNDS.circuits);
    for (const [id, circuit] of learned) {
      if (circuit.version <= position.version) continue;
      put(circuits, id, circuit, BOUNDS.circuits);
      isDoubted = true;
    }
    for (const action of word.actions) put(actions, action.key, hear(action), BOUNDS.actions);
    listeners = isCounted ? word : UNKNOWN;
    noteCount(listeners.processes);
    if ((word.ignored ?? 0) > 0) safely('the fleet', () => listener.onIgnored(word.ignored ?? 0));
    if (mode !== 'degraded' || (refusing === undefined && answeredRead > takenAfter)) {
      mode = 'up';
      why = undefined;
    }
    forgetEnded();
    listener.onWord(word.whole);
    listening?.to(listener.topics());
  };

  /** G9: no more than a store keeps. The one that was heard of the longest ago goes first, and then all is read again. */
  const put = <Stored>(known: Map<string, Stored>, key: string, stored: Stored, most: number): void => {
    known.delete(key);
    known.set(key, stored);
    const [oldest = key] = known.keys();
    if (known.size <= most) return;
    known.delete(oldest);
    isDoubted = true;
  };

  const forgetEnded = (): void => {
    for (const [key, { heardMs, keptMs }] of actions) if (runtime.now() - heardMs >= keptMs) actions.delete(key);
  };

  const noteCount = (count: number | undefined): void => {
    const atMs = runtime.now();
    counts = counts.filter((one) => atMs - one.atMs < COUNTED_MS && !(count !== undefined && one.count <= count));
    if (count !== undefined) counts = [...counts, { count, atMs }];
  };

  const schedule = (ms: number): void => {
    cancel();
    if (!isClosed) cancel = runtime.after(ms, () => void read());
  };

  const waitMs = (): number => {
    const soonestMs = lastReadMs + HINTED_MS - runtime.now();
    if (failures > 0) {
      const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 10));
      const degradedInMs =
        mode === 'degraded' ? backoff : (failingSinceMs ?? runtime.now()) + DEGRADED_MS - runtime.now();
      return Math.max(soonestMs, Math.min(degradedInMs, backoff * (0.5 + runtime.random() / 2)));
    }
    if (isHinted) return Math.max(0, soonestMs) + runtime.random() * HINT_JITTER_MS;
    return READ_MS + runtime.random() * READ_JITTER_MS;
  };

  /** Never rejects. Only one read is under way at a time, so answers arrive in order. */
  const read = async (): Promise<void> => {
    if (isClosed || isReading) return;
    isReading = true;
    isHinted = false;
    lastReadMs = runtime.now();
    sentRead += 1;
    const isWhole = isDoubted || runtime.now() - wholeMs >= WHOLE_MS;
    if (isWhole) wholeMs = runtime.now();
    const since = isWhole ? NOWHERE : position;
    isDoubted = false;
    learned.clear();
    const isCounted = listening?.isCounted() === true;
    forgetEnded();
    const topics = new Set([...actions.values()].flatMap(topicsOf));
    const word = await run((one) => one.read(since, [...topics]));
    if (word !== undefined && !isClosed) safely('the fleet', () => apply(word.answer, isCounted));
    isReading = false;
    schedule(waitMs());
  };

  const readSoon = (): void => {
    if (isHinted || isClosed) return;
    isHinted = true;
    if (!isReading && failures === 0) schedule(waitMs());
  };

  const listening = safely('listening to the fleet', () => store.listen(readSoon));
  void read().catch((error) => reportThrown('reading the fleet', error));

  return {
    get knowledge() {
      const { epoch } = position;
      const answers = failures === 0 && mode !== 'starting';
      const living = counts[0]?.count;
      const heard = { listeners, living, circuits, actions };
      return { mode, why, answers, epoch, sentRead, read: answeredRead, answeredMs, ...heard };
    },
    write: async (command) => {
      const wasRefusing = refusing !== undefined;
      const answer = await run(command, true);
      if (wasRefusing && answer !== undefined) readSoon();
      return answer;
    },
    learn: (circuit) => {
      const known = circuits.get(circuit.id);
      if (known !== undefined && known.version >= circuit.version) return;
      put(circuits, circuit.id, hear(circuit), BOUNDS.circuits);
      learned.set(circuit.id, hear(circuit));
    },
    doubt: () => {
      isDoubted = true;
    },
    readSoon,
    close: () => {
      isClosed = true;
      cancel();
      safely('leaving the fleet', () => listening?.stop());
    },
  };
};
