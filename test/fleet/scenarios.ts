import { setTimeout as wait } from 'node:timers/promises';
import { breakTool, impactOn, repairTool, SPREAD_MS, watchProbes, writtenTwice } from './course.ts';
import { startRedis } from './redis.ts';
import { type Figures, WATCH_MS } from './run-fault.ts';
import { addressOf, SHARED, startWorld, until, type World } from './world.ts';

/** A lease of the store is longer than this, by the time in which a grant may be used, and a second. */
const PROBE_LEASE_MS = 2_000;
const STORE_LEASE_MS = PROBE_LEASE_MS + 11_000;

const withWorld = async (
  ordersOf: Parameters<typeof startWorld>[1],
  play: (world: World) => Promise<Omit<Figures, 'writtenTwice'>>,
): Promise<Figures> => {
  const redis = await startRedis();
  try {
    const world = await startWorld(addressOf([redis]), ordersOf);
    try {
      return { ...(await play(world)), writtenTwice: writtenTwice(redis.writes) };
    } finally {
      await world.close();
    }
  } finally {
    await redis.remove();
  }
};

/** G4: the process that probes is stopped for longer than its lease, another one probes, and then the first one goes on. */
export const runStoppedProber = (): Promise<Figures> =>
  withWorld(
    () => ({ probeLeaseMs: PROBE_LEASE_MS }),
    async (world) => {
      const opening = await breakTool(world);
      world.tool.set(SHARED, 'hangs');
      const probe = () => world.arrivals().find(({ decision, ok }) => decision === 'probe' && ok === undefined);
      await until('a probe hangs', () => probe() !== undefined, 10_000, 10);
      const prober = world.agents.find(({ name }) => name === probe()?.process);
      prober?.freeze();
      world.tool.set(SHARED, 'fails');
      const stoppedAt = performance.now();
      const isOther = ({ decision, process }: { readonly decision: string; readonly process: string }) =>
        decision === 'probe' && process !== prober?.name;
      const convergedMs = await until(
        'another process probes',
        () => world.arrivals(stoppedAt).some(isOther),
        STORE_LEASE_MS + 10_000,
      );
      // The answer that the first one waits for says that the tool works. It must not count.
      world.tool.answer(true);
      prober?.thaw();
      await wait(SPREAD_MS);
      const closed = (await world.facts()).filter(({ state }) => state === 'closed').length;
      if (closed > 0) throw new Error(`a stale probe closed ${closed} circuits`);
      const probes = await watchProbes(world, WATCH_MS);
      const recoveredMs = await repairTool(world);
      return {
        title: 'the prober is stopped beyond its lease and continued (SIGSTOP)',
        opening,
        convergedMs,
        probes,
        recoveredMs,
        ...(await impactOn(world)),
      };
    },
  );

/** A rolling deploy changes the threshold from 3 to 5: two processes have it already when the tool dies, three follow. */
export const runThresholds = (): Promise<Figures> => {
  const next = { failureThreshold: 5 };
  return withWorld(
    (number) => (number < 3 ? {} : next),
    async (world) => {
      const from = performance.now();
      await breakTool(world);
      const calls = world.arrivals(from).filter(({ decision }) => decision === 'call').length;
      const before = await impactOn(world);
      const deployedAt = performance.now();
      for (const agent of world.agents.slice(0, 3)) {
        await world.leave(agent);
        await world.join(next);
      }
      const convergedMs = await until('the new processes know that the tool is dead', async () =>
        (await world.facts()).every(({ state }) => state !== 'closed'),
      );
      const inFlight = world.arrivals(deployedAt).filter(({ decision }) => decision === 'call').length;
      const probes = await watchProbes(world, WATCH_MS);
      const recoveredMs = await repairTool(world);
      const after = await impactOn(world);
      return {
        title: 'a rolling deploy from threshold 3 to 5',
        opening: { calls, inFlight, spreadMs: 0 },
        convergedMs,
        probes,
        recoveredMs,
        healthyRejected: before.healthyRejected + after.healthyRejected,
        longestAcquireMs: Math.max(before.longestAcquireMs, after.longestAcquireMs),
        p99AcquireMs: Math.max(before.p99AcquireMs, after.p99AcquireMs),
      };
    },
  );
};
