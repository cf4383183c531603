import type { Breakerbox } from '@breakerbox/core';
import { type Operator, operate } from '@breakerbox/core/control';
import { type SharedCircuits, shareCircuits } from '@breakerbox/core/fleet';
import { safely, warn } from '@breakerbox/core/internal';
import { joinFleet, type Member } from './member.ts';
import { checkOptions, type FleetOptions, isStore } from './options.ts';
import type { FleetStore } from './protocol.ts';
import { type Reader, startReader } from './reader.ts';
import { connectionOf } from './redis/recognize.ts';
import { fleetKey, redisStore } from './redis/redis-store.ts';
import { type Runtime, systemRuntime } from './runtime.ts';
import { type FleetStatus, statusOf } from './status.ts';

/** The processes that share circuits through a store. Give it to `createBreakerbox` as `fleet`. */
export interface Fleet {
  /** Called by `createBreakerbox`. */
  join(box: object): void;
  /** What this process knows, without a message to the store. */
  status(): FleetStatus;
  /** Gives back the probes that this process holds, and closes what it has opened. Takes no longer than `commandTimeoutMs`. */
  close(): Promise<void>;
}

/** What tests replace. */
export interface FleetSeams {
  readonly runtime: Runtime;
  readonly share: (box: Breakerbox) => SharedCircuits;
  readonly operate: (box: Breakerbox) => Operator;
}

interface Crew {
  readonly store: FleetStore;
  readonly reader: Reader;
  readonly members: Set<Member>;
}

/**
 * Makes the fleet of this process. Boxes that are given to it share the circuits of their tools with `share: 'fleet'` with all
 * processes that use the same Redis, prefix and name. Decisions never wait for Redis (G1).
 *
 * @throws BreakerboxConfigError if an option is wrong.
 *
 * @example
 * ```ts
 * const fleet = createFleet({ client: createClient({ url: 'redis://localhost:6379' }) });
 * const box = createBreakerbox({
 *   agent: 'research-agent', scope: 'process', fleet, tools: { web_search: { share: 'fleet' } },
 * });
 * ```
 */
export const createFleet = (options: FleetOptions): Fleet => fleetWith(options);

/** `createFleet` with other parts, for tests. */
export const fleetWith = (
  options: FleetOptions,
  { runtime, share, operate: operated }: FleetSeams = { runtime: systemRuntime, share: shareCircuits, operate },
): Fleet => {
  const checked = checkOptions(options, (client) => isStore(client) || connectionOf(client) !== undefined);
  const { client, prefix, name, quorum, windowMs, commandTimeoutMs } = checked;
  const process = runtime.id().replaceAll('-', '').slice(0, 16);
  const crews = new Map<string, Crew>();
  const joined = new WeakSet<object>();
  let isClosed = false;
  const connection = isStore(client) ? undefined : connectionOf(client)?.();

  const storeOf = (fleetName: string): FleetStore => {
    if (isStore(client)) return client;
    if (connection === undefined) throw new TypeError('The client is not recognized.');
    return redisStore(connection, { prefix, name: fleetName, commandTimeoutMs });
  };

  const told = new Set<string>();

  /** Without the records, which may be anything. */
  const warnIgnored = (fleetName: string): void => {
    if (told.has(fleetName)) return;
    told.add(fleetName);
    const key = fleetKey(prefix, fleetName);
    warn(
      `the store of the fleet has records that do not fit, and ignores them. Find out what else writes to the key ${key}, and delete the key. The processes report again what they know.`,
    );
  };

  const crewOf = (fleetName: string): Crew => {
    const known = crews.get(fleetName);
    if (known !== undefined) return known;
    const members = new Set<Member>();
    const store = storeOf(fleetName);
    const each = (run: (member: Member) => void) => {
      for (const member of members) safely('the fleet', () => run(member));
    };
    const reader = startReader(store, runtime, {
      onWord: (isAll) => each((member) => member.onWord(isAll)),
      topics: () => new Set([...members].flatMap((member) => member.topics())),
      onFailure: () => each((member) => member.onFailure()),
      onIgnored: (records) => {
        each((member) => member.onIgnored(records));
        warnIgnored(fleetName);
      },
    });
    const crew = { store, reader, members };
    crews.set(fleetName, crew);
    return crew;
  };

  /** At most until the time limit: a store that hangs does not delay the end of the process. */
  const close = async (): Promise<void> => {
    isClosed = true;
    const all = [...crews.values()];
    let cancel = (): void => {};
    const limit = new Promise<void>((resolve) => {
      cancel = runtime.after(commandTimeoutMs, resolve);
    });
    const left = all.flatMap(({ members }) => [...members].map((member) => member.leave().catch(() => {})));
    await Promise.race([Promise.all(left), limit]);
    cancel();
    for (const { reader, store } of all) {
      reader.close();
      // A store that the caller made may have other users.
      if (connection !== undefined) await store.close().catch(() => {});
    }
    connection?.close();
  };
  let closing: Promise<void> | undefined;

  return {
    join: (given) => {
      if (joined.has(given)) return;
      joined.add(given);
      if (isClosed) {
        warn('a box was given to a fleet that is closed, so it decides alone. Create the box before fleet.close().');
        return;
      }
      const box = given as Breakerbox;
      const shared = share(box);
      if (!shared.sharesAny)
        warn(
          `a box of agent "${shared.agent}" has a fleet and shares no circuit with it. Give a tool, a group or defaults share: 'fleet'.`,
        );
      const { reader, members } = crewOf(name ?? shared.agent);
      // Boxes of one process ask each other for the probe, as processes do.
      const holder = members.size === 0 ? process : `${process}-${members.size + 1}`;
      const options = { process, holder, quorum, windowMs };
      members.add(joinFleet(shared, box, operated(box), reader, runtime, options));
    },
    status: () =>
      statusOf(
        process,
        [...crews].map(([fleetName, { reader }]) => ({ name: fleetName, knowledge: reader.knowledge })),
        runtime.now(),
      ),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
};
