import type { Bounds } from '../fleet-state.ts';
import type { FleetStore, Grant } from '../protocol.ts';
import { circuitOf, controlOf, epochOf, isNothing, readWord } from './answers.ts';
import type { RedisConnection, Subscription } from './connection.ts';
import { fleetScripts, type ScriptName } from './scripts.ts';

/** Another number is another layout of the data, so that releases with different layouts do not read each other's. */
const SCHEMA = 1;

export interface RedisStoreOptions {
  readonly prefix: string;
  /** Of the fleet. */
  readonly name: string;
  readonly commandTimeoutMs: number;
  /** Tests set the time. Otherwise Redis does. */
  readonly now?: () => number;
  readonly epoch?: () => string;
  readonly bounds?: Bounds;
}

/** The key of a fleet's hash. All of it is the hash tag. Braces in names are escaped, because they end a hash tag. */
export const fleetKey = (prefix: string, name: string): string => {
  const escaped = (part: string) => part.replace(/[%{}:]/g, (one) => encodeURIComponent(one));
  return `{${escaped(prefix)}:${SCHEMA}:${escaped(name)}}`;
};

/** The store in Redis. Each call of the protocol is one script, in one round trip. */
export const redisStore = (connection: RedisConnection, options: RedisStoreOptions): FleetStore => {
  const { commandTimeoutMs, now = () => '', epoch = () => crypto.randomUUID() } = options;
  const key = fleetKey(options.prefix, options.name);
  const scripts = fleetScripts(options.bounds);
  const open = new Set<Subscription>();

  const send = (...command: [string, ...string[]]): Promise<unknown> => connection.send(command, key, commandTimeoutMs);

  /** Redis forgets scripts when it restarts or is told to. */
  const run = async (name: ScriptName, ...given: readonly (string | number)[]): Promise<unknown> => {
    const { sha, text } = scripts[name];
    const args = ['1', key, ...[now(), epoch(), ...given].map(String)];
    try {
      return await send('EVALSHA', sha, ...args);
    } catch (error) {
      if (!String(error).includes('NOSCRIPT')) throw error;
      return send('EVAL', text, ...args);
    }
  };

  return {
    read: async ({ epoch, version }, topics = []) =>
      readWord(await run('read', epoch, version, ...topics), topics.length),
    report: async ({ id, process, category, waitMs, quorum, windowMs, generation, ageMs, living = '' }) => {
      const said = [category, waitMs, quorum, windowMs, generation, ageMs, living];
      return circuitOf(id, await run('report', id, process, ...said));
    },
    claim: async (id, process, generation, token, leaseMs, isWanted, longestWaitMs) => {
      const answer = await run('claim', id, process, generation, token, leaseMs, Number(isWanted), longestWaitMs ?? '');
      return isNothing(answer) ? undefined : ({ epoch: epochOf(answer), generation, token } satisfies Grant);
    },
    settle: async (id, process, grant, result) => {
      const { category = '', waitMs = '' } = result.result === 'failure' ? result : {};
      const settlement = [grant.epoch, grant.generation, grant.token, result.result, category, waitMs];
      return String(await run('settle', id, process, ...settlement)) === 'done' ? 'done' : 'stale';
    },
    end: async (id, generation) => Number(await run('end', id, generation)) === 1,
    control: async ({ key: mode, id, body, ageMs, leftMs, keptMs, after }) => {
      return controlOf(mode, await run('control', mode, id, body, ageMs, leftMs, keptMs, after));
    },
    listen: (onHint) => {
      const subscription = connection.subscribe(onHint);
      open.add(subscription);
      subscription.to([key]);
      return {
        isCounted: () => subscription.hears(key),
        to: (topics) => subscription.to([key, ...[...topics].map((topic) => key + topic)]),
        stop: () => {
          if (open.delete(subscription)) subscription.close();
        },
      };
    },
    close: async () => {
      for (const subscription of open) subscription.close();
      open.clear();
    },
  };
};
