import type { Contestant, Findings, Pace } from './contest.ts';
import { worked } from './cpu.ts';

/** A contestant that is timed. */
export interface Racer extends Contestant {
  /** Does the work once. */
  run(): unknown;
  /** `run` returns no promise, and is not awaited. */
  readonly sync?: boolean;
  /** Units of work that one `run` does; default 1. */
  readonly jobs?: number;
  /** Most runs in one batch, for cases in which the time of a batch does not limit it. */
  readonly atMost?: number;
  /** Called before each batch, outside the measured time. */
  before?(): unknown;
}

/** First guess at the runs in a batch. */
const FIRST_RUNS = 16;
const NS_PER_MS = 1e6;

/** Lets timers and signals run, and collects garbage, so that each contestant pays only for its own garbage. */
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

/** Nanoseconds for one unit of work, over one batch. */
const timeBatch = async (racer: Racer, runs: number): Promise<number> => {
  await racer.before?.();
  await rest();
  return (await runAll(racer, runs)) / (runs * (racer.jobs ?? 1));
};

/** Runs a contestant until V8 has compiled it, and returns how many runs make a batch. */
const warmUp = async (racer: Racer, { warmUpMs, batchMs }: Pace): Promise<number> => {
  const { jobs = 1, atMost = Number.POSITIVE_INFINITY } = racer;
  const until = worked() + warmUpMs * NS_PER_MS;
  let runs = Math.min(FIRST_RUNS, atMost);
  for (;;) {
    const ns = await timeBatch(racer, runs);
    const fitting = Math.round((batchMs * NS_PER_MS) / Math.max(1, ns * jobs)); // A short batch may measure as 0 ns.
    runs = Math.max(1, Math.min(atMost, fitting, runs * 4));
    if (worked() >= until) return runs;
  }
};

/** Starts with a different contestant in each round, so that no contestant always follows the same one. */
const rotated = <T>(all: readonly T[], by: number): readonly T[] => {
  const from = by % all.length;
  return [...all.slice(from), ...all.slice(0, from)];
};

/**
 * Times contestants against each other. All are warmed up first. Then each runs one batch per round, and the first round is thrown
 * away. Returns nanoseconds for one unit of work.
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
