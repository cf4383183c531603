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
  const listeners = new Set<{ readonly onHint: () => void; actions: ReadonlySet<string> }>();

  const processes = (): number | undefined => listeners.size || undefined;

  const count = (actions: readonly string[]): Listeners => {
    const carriedOut = (id: string) => [...listeners].filter((one) => one.actions.has(id)).length;
    const counted = listeners.size === 0 ? [] : actions;
    return { processes: processes(), applied: new Map(counted.map((id) => [id, carriedOut(id)])) };
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
    read: async (since, actions = []) => {
      const changes = readSince(state, since, { nowMs: now() });
      return { ...changes, ...count([...actions, ...changes.actions.map(({ id }) => id)]) };
    },
    report: (report) => carryOut((before, moment) => reportOpening(before, report, moment)),
    claim: (...claim) => carryOut((before, moment) => claimProbe(before, claim, moment)),
    settle: (...settlement) => carryOut((before, moment) => settleProbe(before, settlement, moment)),
    end: (...ending) => carryOut((before, moment) => endOutage(before, ending, moment)),
    control: (action) => carryOut((before, moment) => controlAll(before, action, moment)),
    listen: (onHint) => {
      const one = { onHint, actions: new Set<string>() as ReadonlySet<string> };
      listeners.add(one);
      return {
        carriedOut: (actions) => {
          one.actions = new Set(actions);
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
