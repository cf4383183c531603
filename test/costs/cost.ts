/** How often the size of an input is doubled. */
const DOUBLINGS = 5;

/** Quadratic work shows at the end, where it outgrows what an entry costs anyway. */
const LAST = 2;

/** The most that the CPU time may grow per doubling. Work in proportion to the size doubles it; quadratic work takes four times. */
export const MOST_GROWTH = 2.5;

/** CPU milliseconds of the smallest size, all of its runs together. Less is below what the clock can tell. */
const LEAST_MS = 1;

/** Most runs of one input that are timed together. */
const MOST_RUNS = 256;

/** The smallest size, where a case names none. */
const FROM = 2048;

/** How often each size is measured. The least counts, because other processes can only make it more. */
const SAMPLES = 4;

/** An entry that takes outside input. */
export interface CostCase<Input> {
  /** The name of the exported function or method, as in the API report. */
  readonly entry: string;
  /** The smallest size, in the unit of `make`. Default 2,048. */
  readonly from?: number;
  /** Hostile input of a size. It is made before the clock starts. */
  make(size: number): Input;
  /** What is measured. An error that it throws is an answer too, and is measured with it. */
  run(input: Input): unknown;
}

/** What an entry costs. */
export interface Cost {
  /** CPU milliseconds of one run, by size: six sizes, each twice the one before. */
  readonly ms: readonly number[];
  /** How often the CPU time multiplies per doubling: the median over all pairs of sizes, or the mean of the last two doublings, whichever is larger. */
  readonly growth: number;
}

/** Measures an entry. `run` may return a promise. No absolute time counts, only the growth within this run. */
export const costOf = async <Input>({ from = FROM, make, run }: CostCase<Input>): Promise<Cost> => {
  const sizes = Array.from({ length: DOUBLINGS + 1 }, (_, index) => from * 2 ** index);
  const inputs = sizes.map((size) => make(size));
  const [smallest] = inputs as [Input];
  for (let warm = 0; warm < 3; warm += 1) await timed(smallest, run, 1);
  let runs = 1;
  while (runs < MOST_RUNS && (await timed(smallest, run, runs)) < LEAST_MS) runs *= 2;
  const ms: number[] = [];
  for (const input of inputs) ms.push(await leastOf(() => timed(input, run, runs)));
  const perRun = ms.map((all) => all / runs);
  const growth = (from: number, to: number): number => (told(ms[to]) / told(ms[from])) ** (1 / (to - from));
  const pairs = ms.flatMap((_, to) => ms.slice(0, to).map((__, earlier) => growth(earlier, to)));
  return { ms: perRun, growth: Math.max(median(pairs), growth(DOUBLINGS - LAST, DOUBLINGS)) };
};

/** Of all pairs, as in the Theil–Sen estimator: one size that was measured wrongly does not matter. */
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Below the resolution of the clock, times say nothing. */
const told = (ms = 0): number => Math.max(ms, LEAST_MS);

/**
 * Fails where the CPU time grows more than 2.5-fold per doubling. Measured up to three times: another process may disturb one
 * measurement, and the least growth counts. Work of less than a millisecond is measured again with larger inputs.
 */
export const expectLinear = async <Input>(one: CostCase<Input>): Promise<void> => {
  let found: Cost = await costOf(one);
  for (let again = 0; again < 2 && found.growth > MOST_GROWTH; again += 1) {
    const isSmall = (found.ms.at(-1) ?? 0) < LEAST_MS;
    const next = await costOf(isSmall ? { ...one, from: 8 * (one.from ?? FROM) } : one);
    if (next.growth < found.growth) found = next;
  }
  if (found.growth <= MOST_GROWTH) return;
  const times = found.ms.map((ms) => ms.toFixed(3)).join(', ');
  throw new Error(
    `${one.entry}: the CPU time grows ${found.growth.toFixed(2)}-fold per doubling of the input, at most ${MOST_GROWTH}. ` +
      `Milliseconds by size: ${times}. Bound the input, or make the work linear.`,
  );
};

/** CPU milliseconds of some runs. */
const timed = async <Input>(input: Input, run: (input: Input) => unknown, runs: number): Promise<number> => {
  const before = process.cpuUsage();
  for (let count = 0; count < runs; count += 1) {
    try {
      const answer = run(input);
      if (answer instanceof Promise) await answer;
    } catch {
      // A clear error is an answer.
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const leastOf = async (measure: () => Promise<number>): Promise<number> => {
  const samples: number[] = [];
  for (let count = 0; count < SAMPLES; count += 1) samples.push(await measure());
  return Math.min(...samples);
};
