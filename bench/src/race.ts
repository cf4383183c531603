import type { Contestant, Findings, Pace } from './contest.ts';
import { worked } from './cpu.ts';

/** A contestant that is timed. */
export interface Racer extends Contestant {
  /** Does the job once. */
  run(): unknown;
  /** `run` gives no promise, and nothing is awaited. */
  readonly sync?: boolean;
  /** Jobs that one `run` does; default 1. */
  readonly jobs?: number;
  /** Runs in one batch, where the time that a batch takes is not the measure: at most so many. */
  readonly atMost?: number;
  /** Before each batch, outside the clock. */
  before?(): unknown;
}

/** First guess at the runs of a batch. */
const FIRST_RUNS = 16;
const NS_PER_MS = 1e6;

/** Timers and signals have their turn, and each contestant pays for the garbage that it makes and none for another's. */
const rest = async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc?.({ type: 'minor' });
};

const runAll = async ({ run, sync }: Racer, runs: number): Promise<number> => {
  const begun = worked();
  if (sync === true) for (let left = runs; left > 0; left -= 1) run();
  else for (let left = runs; left > 0; left -= 1) await run();
  return worked() - begun;
};

/** Nanoseconds that one job took, over one batch. */
const timeBatch = async (racer: Racer, runs: number): Promise<number> => {
  await racer.before?.();
  await rest();
  return (await runAll(racer, runs)) / (runs * (racer.jobs ?? 1));
};

/** Lets a contestant run until it is compiled, and says how many runs make a batch. */
const warmUp = async (racer: Racer, { warmUpMs, batchMs }: Pace): Promise<number> => {
  const { jobs = 1, atMost = Number.POSITIVE_INFINITY } = racer;
  const until = worked() + warmUpMs * NS_PER_MS;
  let runs = Math.min(FIRST_RUNS, atMost);
  for (;;) {
    const ns = await timeBatch(racer, runs);
    const fitting = Math.round((batchMs * NS_PER_MS) / Math.max(1, ns * jobs)); // A short batch may have taken no time at all.
    runs = Math.max(1, Math.min(atMost, fitting, runs * 4));
    if (worked() >= until) return runs;
  }
};

/** From another one each time, so that nobody always follows the same. */
const rotated = <T>(all: readonly T[], by: number): readonly T[] => {
  const from = by % all.length;
  return [...all.slice(from), ...all.slice(0, from)];
};

/**
 * Times contestants against one another: all are warmed up, then run round by round, each a batch a round, the first round
 * thrown away. Nanoseconds for one job.
 */
export const race = async (racers: readonly Racer[], pace: Pace): Promise<Findings> => {
  const sizes = new Map<string, number>();
  for (const racer of racers) sizes.set(racer.id, await warmUp(racer, pace));
  const samples: Record<string, number[]> = Object.fromEntries(racers.map(({ id }) => [id, []]));
  for (let round = 0; round <= pace.rounds; round += 1) {
    for (const racer of rotated(racers, round)) {
      const ns = await timeBatch(racer, sizes.get(racer.id) ?? 1);
      if (round > 0) samples[racer.id]?.push(ns);
    }
  }
  return { contestants: racers.map(({ id, title, by }) => ({ id, title, by })), samples };
};
