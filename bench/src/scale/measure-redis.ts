import { setTimeout as wait } from 'node:timers/promises';
import { createBreakerbox } from '@breakerbox/core';
import { createFleet } from '@breakerbox/fleet';
import { createClient } from 'redis';
import { startRedis } from '../../../test/fleet/redis.ts';
import { TOOL } from '../tool.ts';

/** What one process costs a real Redis while its tools work. */
export interface Measured {
  readonly fleets: number;
  readonly scriptsPerSecond: number;
  readonly bytesPerScript: number;
  /** As Redis measures it, without the network. */
  readonly microsecondsPerScript: number;
  /** Of both connections. */
  readonly memoryBytes: number;
}

const SETTLE_MS = 15_000;
const MEASURE_MS = 15_000;

const numberOf = (text: string, name: string): number =>
  Number(new RegExp(`${name}[:=](\\d+(\\.\\d+)?)`).exec(text)?.[1]);

/** Connects many fleets of this process, each with a client of its own, and reads what Redis says of them. */
export const measureRedis = async (fleets: number): Promise<Measured> => {
  const redis = await startRedis({ isMonitored: false });
  const memory = async (): Promise<number> => numberOf(await redis.cli('INFO', 'memory'), 'used_memory');
  const bytes = async (): Promise<number> => {
    const text = await redis.cli('INFO', 'stats');
    return numberOf(text, 'total_net_input_bytes') + numberOf(text, 'total_net_output_bytes');
  };
  const before = await memory();
  const all = Array.from({ length: fleets }, () => {
    const fleet = createFleet({ client: createClient({ url: `redis://127.0.0.1:${redis.port}` }) });
    createBreakerbox({ agent: 'agent', scope: 'process', fleet, tools: { [TOOL]: { share: 'fleet' } } });
    return fleet;
  });
  await wait(SETTLE_MS);
  await redis.cli('CONFIG', 'RESETSTAT');
  const begun = performance.now();
  const bytesBefore = await bytes();
  await wait(MEASURE_MS);
  const sent = (await bytes()) - bytesBefore;
  const stats = /cmdstat_evalsha:(.*)/.exec(await redis.cli('INFO', 'commandstats'))?.[1] ?? '';
  const seconds = (performance.now() - begun) / 1_000;
  const scripts = numberOf(stats, 'calls');
  const memoryBytes = ((await memory()) - before) / fleets;
  await Promise.all(all.map((fleet) => fleet.close()));
  await redis.remove();
  return {
    fleets,
    scriptsPerSecond: scripts / seconds / fleets,
    bytesPerScript: sent / scripts,
    microsecondsPerScript: numberOf(stats, 'usec_per_call'),
    memoryBytes,
  };
};
