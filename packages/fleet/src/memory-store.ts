import {
  BOUNDS,
  type Bounds,
  claimProbe,
  controlAll,
  endOutage,
  type FleetState,
  type Moment,
  type Outcome,
  readSince,
  reportOpening,
  settleProbe,
} from './fleet-state.ts';
import type { FleetStore, Listeners } from './protocol.ts';

export interface MemoryStoreOptions {
  /** The store's clock in milliseconds. Default: the monotonic clock of this process. */
  readonly now?: () => number;
  /** Names a store that has just got its first data. Default: a random name. */
  readonly epoch?: () => string;
}

/** A store in the memory of this process. Several fleets can share it. */
export interface MemoryStore extends FleetStore {
  /** Loses all data, as Redis does that is restarted without a file. */
  clear(): void;
}

/**
 * A store in memory, with the semantics of the one in Redis: for tests, and for several boxes of one process.
 *
 * @example
 * ```ts
 * const store = memoryStore();
 * const fleets = [createFleet({ client: store }), createFleet({ client: store })];
 * ```
 */
export const memoryStore = (options: MemoryStoreOptions = {}): MemoryStore => boundedMemoryStore(BOUNDS, options);

/** A store in memory that keeps no more than `bounds`. */
export const boundedMemoryStore = (
  bounds: Bounds,
  { now = () => performance.now(), epoch = () => crypto.randomUUID() }: MemoryStoreOptions = {},
): MemoryStore => {
  let state: FleetState | undefined;
  const listeners = new Set<{ readonly onHint: () => void; topics: ReadonlySet<string> }>();

  const processes = (): number | undefined => listeners.size || undefined;

  const count = (topics: readonly string[]): Listeners => {
    const listenTo = (topic: string) => [...listeners].filter((one) => one.topics.has(topic)).length;
    const counted = listeners.size === 0 ? [] : topics;
    return { processes: processes(), topics: new Map(counted.map((topic) => [topic, listenTo(topic)])) };
  };

  const carryOut = async <Answer>(
    run: (state: FleetState | undefined, moment: Moment) => Outcome<Answer>,
  ): Promise<Answer> => {
    const outcome = run(state, { nowMs: now(), epoch: epoch(), processes: processes(), bounds });
    state = outcome.state;
    if (outcome.hint) for (const { onHint } of listeners) queueMicrotask(onHint);
    return outcome.answer;
  };

  return {
    read: async (since, topics = []) => ({ ...readSince(state, since, { nowMs: now() }), ...count(topics) }),
    report: (report) => carryOut((before, moment) => reportOpening(before, report, moment)),
    claim: (...claim) => carryOut((before, moment) => claimProbe(before, claim, moment)),
    settle: (...settlement) => carryOut((before, moment) => settleProbe(before, settlement, moment)),
    end: (...ending) => carryOut((before, moment) => endOutage(before, ending, moment)),
    control: (action) => carryOut((before, moment) => controlAll(before, action, moment)),
    listen: (onHint) => {
      const one = { onHint, topics: new Set<string>() as ReadonlySet<string> };
      listeners.add(one);
      return {
        isCounted: () => listeners.has(one),
        to: (topics) => {
          one.topics = new Set(topics);
        },
        stop: () => void listeners.delete(one),
      };
    },
    close: async () => {},
    clear: () => {
      state = undefined;
    },
  };
};
