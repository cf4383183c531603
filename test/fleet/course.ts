import { setTimeout as wait } from 'node:timers/promises';
import type { Redis, Write } from './redis.ts';
import { PROCESSES, QUORUM, THRESHOLD, until, type World } from './world.ts';

/** The least wait between two probes of the fleet, less what a timer may be early. */
const ROUND_MS = 1_900;
/** G3: a process that does not hear the hint reads once a second, so two seconds are enough. */
export const SPREAD_MS = 2_000;
/** Calls of the whole fleet until its circuit opens. */
export const MOST_CALLS = PROCESSES * (THRESHOLD - 1) + QUORUM;

/** How an outage of the shared tool opened all circuits. */
export interface Opening {
  /** Calls into the dead tool until the quorum had seen it fail. */
  readonly calls: number;
  /** Calls after that, until the last process knew. */
  readonly inFlight: number;
  /** From the quorum to the last of them; 0 without. */
  readonly spreadMs: number;
}

const isOpen = (state: string): boolean => state === 'open' || state === 'half_open';

/** Breaks the tool, and waits until the circuit of each process is open. */
export const breakTool = async (world: World): Promise<Opening> => {
  const from = performance.now();
  world.tool.set('web_search', 'fails');
  await until('all circuits are open', async () => (await world.facts()).every(({ state }) => isOpen(state)));
  const failed = world.arrivals(from).filter(({ decision }) => decision === 'call');
  const counts = new Map<string, number>();
  let saw = 0;
  const calls =
    1 +
    failed.findIndex(({ process }) => {
      const count = (counts.get(process) ?? 0) + 1;
      counts.set(process, count);
      if (count === THRESHOLD) saw += 1;
      return saw === QUORUM;
    });
  const quorumMs = failed[calls - 1]?.atMs ?? 0;
  return { calls, inFlight: failed.length - calls, spreadMs: (failed.at(-1)?.atMs ?? quorumMs) - quorumMs };
};

/** The probes of a time in which the tool stays dead. */
export interface Probes {
  readonly probes: number;
  /** The most in one round. */
  readonly perRound: number;
  /** Calls that were no probes. */
  readonly others: number;
}

/** Watches the dead tool for a while. */
export const watchProbes = async (world: World, forMs: number): Promise<Probes> => {
  const from = performance.now();
  await wait(forMs);
  const arrived = world.arrivals(from);
  const probes = arrived.filter(({ decision }) => decision === 'probe');
  const perRound = probes.map(
    ({ atMs }) => probes.filter((one) => one.atMs >= atMs && one.atMs < atMs + ROUND_MS).length,
  );
  return { probes: probes.length, perRound: Math.max(0, ...perRound), others: arrived.length - probes.length };
};

/** Repairs the tool. Returns the milliseconds from the first call that succeeds until each process has had one. */
export const repairTool = async (world: World, limitMs = 20_000): Promise<number> => {
  const from = performance.now();
  world.tool.set('web_search', 'works');
  const firsts = (): readonly number[] => {
    const first = new Map<string, number>();
    for (const { process, atMs, ok } of world.arrivals(from)) if (ok && !first.has(process)) first.set(process, atMs);
    return [...first.values()];
  };
  const names = world.agents.length;
  await until('all processes call the tool again', () => firsts().length === names, limitMs);
  await until(
    'all circuits are closed',
    async () => (await world.facts()).every(({ state }) => state === 'closed'),
    limitMs,
  );
  return Math.max(...firsts()) - Math.min(...firsts());
};

/** What all processes together say after a scenario. */
export interface Impact {
  readonly longestAcquireMs: number;
  readonly p99AcquireMs: number;
  readonly healthyRejected: number;
}

/** Reads it from the processes. */
export const impactOn = async (world: World): Promise<Impact> => {
  const facts = await world.facts();
  const most = (values: readonly number[]): number => Math.max(...values);
  return {
    longestAcquireMs: most(facts.map(({ longestAcquireMs }) => longestAcquireMs)),
    p99AcquireMs: most(facts.map(({ p99AcquireMs }) => p99AcquireMs)),
    healthyRejected: facts.reduce((sum, { healthyRejected }) => sum + healthyRejected, 0),
  };
};

/** The version of a record, and the part that says what happened to its circuit, without times. */
const recordOf = (value: string): { readonly version: number; readonly what: string } => {
  const { s: state, g: generation, k: token, d: wanted, n: seen } = JSON.parse(value.slice(value.indexOf(' ')));
  const what = JSON.stringify([state, generation, token, wanted, Object.keys(seen ?? {}).toSorted()]);
  return { version: Number.parseInt(value, 10), what };
};

/** Writes of a circuit that say the same as the write before: something was written twice. */
export const writtenTwice = (writes: readonly Write[]): number => {
  const last = new Map<string, string>();
  let newest = 0;
  let twice = 0;
  for (const { command, args } of writes) {
    const [, field = '', value = ''] = args;
    if (command !== 'hset' || !field.startsWith('c:')) continue;
    const { version, what } = recordOf(value);
    if (version <= newest) last.clear(); // Redis had lost its data, and has them again.
    newest = version;
    if (last.get(field) === what) twice += 1;
    last.set(field, what);
  }
  return twice;
};

/** What a fleet costs Redis while its tools work. */
export interface HealthyCost {
  readonly writes: number;
  readonly readsPerSecond: number;
}

/** Measures it, for each process. */
export const healthyCost = async (world: World, redis: Redis, forMs = 5_000): Promise<HealthyCost> => {
  await redis.cli('CONFIG', 'RESETSTAT');
  const before = redis.writes.length;
  const begun = performance.now();
  await wait(forMs);
  const { evalsha = 0, eval: whole = 0 } = await redis.commands();
  const seconds = (performance.now() - begun) / 1_000;
  return {
    writes: redis.writes.length - before,
    readsPerSecond: (evalsha + whole) / seconds / world.agents.length,
  };
};
