import {
  breakTool,
  type HealthyCost,
  healthyCost,
  type Impact,
  impactOn,
  type Opening,
  type Probes,
  repairTool,
  watchProbes,
  writtenTwice,
} from './course.ts';
import type { Fault, Stage } from './faults.ts';
import { startRedis } from './redis.ts';
import { addressOf, startWorld, until, type World } from './world.ts';

/** What a scenario measured. */
export interface Figures extends Impact {
  readonly title: string;
  readonly opening: Opening;
  /** From the end of the fault until every process hears from Redis again and knows that the tool is dead. */
  readonly convergedMs: number;
  /** After that, with the tool still dead. */
  readonly probes: Probes;
  readonly recoveredMs: number;
  readonly writtenTwice: number;
  /** Only where it was asked for. */
  readonly healthy?: HealthyCost;
}

/** More than two rounds of probes. */
export const WATCH_MS = 9_000;

const singleServer = async (): Promise<Stage> => {
  const servers = [await startRedis()];
  return { servers, address: addressOf(servers) };
};

const allAgree = async (world: World): Promise<boolean> =>
  (await world.facts()).every(({ mode, state }) => mode === 'up' && state !== 'closed');

/** Plays a scenario: the tool dies, the fault comes and goes, the tool works again. */
export const runFault = async (
  { title, stage: makeStage = singleServer, orders, prepare, happen }: Fault,
  { measureHealthy = false } = {},
): Promise<Figures> => {
  const stage = await makeStage();
  const closers: (() => Promise<unknown>)[] = stage.servers.map(({ remove }) => remove);
  if (stage.forwarder !== undefined) closers.unshift(stage.forwarder.close);
  try {
    const world = await startWorld(stage.address, (number) => orders?.(number, stage.address) ?? {});
    closers.unshift(world.close);
    await until('every process has called', () => new Set(world.arrivals().map(({ process }) => process)).size === 5);
    const [redis] = stage.servers;
    const healthy = measureHealthy && redis ? await healthyCost(world, redis) : undefined;
    await prepare?.(stage, world);
    for (const agent of world.agents) agent.forget(); // The first decisions compile the engine.
    const opening = await breakTool(world);
    await happen?.(stage, world);
    const convergedMs = await until('all processes agree again', () => allAgree(world), 30_000);
    const probes = await watchProbes(world, WATCH_MS);
    const recoveredMs = await repairTool(world);
    const impact = await impactOn(world);
    return {
      title,
      opening,
      convergedMs,
      probes,
      recoveredMs,
      writtenTwice: stage.servers.reduce((sum, { writes }) => sum + writtenTwice(writes), 0),
      ...impact,
      ...(healthy && { healthy }),
    };
  } finally {
    for (const close of closers) await close();
  }
};
