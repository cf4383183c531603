import { describe, expect, test } from 'vitest';
import { MOST_CALLS, SPREAD_MS } from './course.ts';
import { FAULTS } from './faults.ts';
import { keepsItsPromises } from './promises.ts';
import { startRedis } from './redis.ts';
import { runFault } from './run-fault.ts';
import { addressOf, PROCESSES, startWorld } from './world.ts';

const fault = (name: string) => FAULTS[name] ?? expect.fail(`no fault ${name}`);

describe('five processes and a real Redis', () => {
  test('G3, G5, G6: one outage is learned once, probed once a round, and over for all within 2 s; a healthy fleet writes nothing', async () => {
    const figures = await runFault(fault('none'), { measureHealthy: true });
    keepsItsPromises(figures);
    expect(figures.opening.calls).toBeLessThanOrEqual(MOST_CALLS);
    expect(figures.opening.inFlight).toBeLessThanOrEqual(PROCESSES);
    expect(figures.opening.spreadMs).toBeLessThanOrEqual(SPREAD_MS);
    expect(figures.healthy?.writes).toBe(0);
    expect(figures.healthy?.readsPerSecond).toBeLessThanOrEqual(1.05);
    expect(figures.healthy?.readsPerSecond).toBeGreaterThan(0.5);
  });

  test('G7: a process that ends while Redis hangs ends within its time limit', async () => {
    const redis = await startRedis();
    const world = await startWorld(addressOf([redis]));
    redis.freeze();
    const times = await Promise.all([...world.agents].map((agent) => world.leave(agent)));
    expect(Math.max(...times)).toBeLessThan(3_000);
    await world.close();
    await redis.remove();
  });
});
