import { BreakerboxConfigError, type ConfigIssue } from '@breakerbox/core';
import { MOST_QUORUM } from './fleet-state.ts';
import type { FleetStore } from './protocol.ts';
import type { IoredisClient, NodeRedisClient } from './redis/connection.ts';

/** A client that `createFleet` can use. */
export type FleetClient = NodeRedisClient | IoredisClient | FleetStore;

export interface FleetOptions {
  /**
   * A client or cluster of `redis` or `ioredis`, or a store, such as `memoryStore()`. The fleet makes connections of its own with the
   * options of the client, and leaves the client as it is, open or not.
   */
  readonly client: FleetClient;
  /** The first part of every key in Redis. Default `breakerbox`. */
  readonly prefix?: string;
  /** The processes with the same name share circuits. Default: the agent's name of each box. */
  readonly name?: string;
  /** Processes that must see a circuit open within `windowMs`, before it opens for all (G3). From 1 to 16. Default 2. */
  readonly quorum?: number;
  /** Milliseconds within which a quorum must agree. Default 60,000. */
  readonly windowMs?: number;
  /** Milliseconds that a command may take. Nothing but the fleet's own messages waits for it. Default 1,000. */
  readonly commandTimeoutMs?: number;
}

export type CheckedOptions = Required<Omit<FleetOptions, 'name'>> & Pick<FleetOptions, 'name'>;

const KNOWN = ['client', 'prefix', 'name', 'quorum', 'windowMs', 'commandTimeoutMs'];

const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value));

const hasMethod = (value: unknown, name: string): boolean =>
  typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';

/** Only its type: an address may have a password. */
const kindOf = (client: unknown): string => {
  if (typeof client === 'string') return 'a string';
  if (hasMethod(client, 'then')) return 'a promise (await it first)';
  if (hasMethod(client, 'getMasterNode')) return 'a sentinel of redis';
  return client === undefined || client === null ? String(client) : `of type ${typeof client}`;
};

const checkNumber = (path: string, value: unknown, least: number, most: number, why: string): readonly ConfigIssue[] =>
  value === undefined || (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    ? []
    : [{ path, message: `is ${shown(value)}. Give a whole number from ${least} to ${most}: ${why}` }];

const checkName = (path: string, value: unknown): readonly ConfigIssue[] =>
  value === undefined || (typeof value === 'string' && value.trim() !== '' && value.length <= 200)
    ? []
    : [
        {
          path,
          message: `is ${shown(value)}. Give a string of 1 to 200 characters: it is a part of the key in Redis.`,
        },
      ];

export const isStore = (client: object): client is FleetStore =>
  ['read', 'report', 'claim', 'settle', 'end', 'control', 'listen', 'close'].every(
    (name) => typeof (client as Record<string, unknown>)[name] === 'function',
  );

/** Checks the options (E6). `isClient` says whether a client is recognized. */
export const checkOptions = (options: FleetOptions, isClient: (client: object) => boolean): CheckedOptions => {
  const given = (typeof options === 'object' && options !== null ? options : {}) as Partial<FleetOptions>;
  const { client, prefix, name, quorum, windowMs, commandTimeoutMs } = given;
  const isUsable = typeof client === 'object' && client !== null && isClient(client);
  const issues: readonly ConfigIssue[] = [
    ...(isUsable
      ? []
      : [
          {
            path: 'client',
            message: `is ${kindOf(client)}, which is not a client of redis 6 or ioredis 6. Give createClient({ url }) of the package redis, new Redis(url) of ioredis (with sentinels, if you have some), a cluster of either, or memoryStore().`,
          },
        ]),
    ...checkName('prefix', prefix),
    ...checkName('name', name),
    ...checkNumber('quorum', quorum, 1, MOST_QUORUM, 'so many processes must see a tool fail before it opens for all.'),
    ...checkNumber('windowMs', windowMs, 1_000, 3_600_000, 'milliseconds within which the quorum must agree.'),
    ...checkNumber('commandTimeoutMs', commandTimeoutMs, 50, 30_000, 'milliseconds that Redis has for an answer.'),
    ...Object.keys(given)
      .filter((key) => !KNOWN.includes(key))
      .map((path) => ({
        path,
        message: `is not an option of createFleet. Remove it. The options are ${KNOWN.join(', ')}.`,
      })),
  ];
  if (issues.length > 0) throw new BreakerboxConfigError(issues, 'fleet');
  return {
    client: client as FleetClient,
    prefix: prefix ?? 'breakerbox',
    ...(name !== undefined && { name }),
    quorum: quorum ?? 2,
    windowMs: windowMs ?? 60_000,
    commandTimeoutMs: commandTimeoutMs ?? 1_000,
  };
};
