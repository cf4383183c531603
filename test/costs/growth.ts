/** CPU milliseconds that are noise: what is below is not compared. */
const NOISE_MS = 5;

/** Most growth of the CPU time when the input doubles. Linear work grows 2-fold, quadratic work 4-fold. */
const MOST_GROWTH = 2.5;

const DOUBLINGS = 5;

/** How often a size that seems too slow is measured again. */
const AGAIN = 4;

/** Most CPU milliseconds for the largest input. */
const MOST_MS = 2_000;

/** Prepares an input of a size, outside of the measurement, and returns the work on it. */
export type Prepare = (size: number) => () => unknown;

/**
 * Doubles the size of the input five times, and compares the CPU times.
 *
 * @returns where the time grows too much, such as `64000: 3 → 12 ms`; undefined if it grows no faster than the input.
 */
export const growsTooFast = async (prepare: Prepare, first: number): Promise<string | undefined> => {
  let before = await cpuMs(prepare, first);
  for (let size = first * 2; size <= first * 2 ** DOUBLINGS; size *= 2) {
    const ms = await cpuMs(prepare, size);
    if (ms > MOST_MS) return `${size}: ${Math.round(ms)} ms`;
    let [low, high] = [before, ms];
    // Other processes, and the garbage of earlier work, may have disturbed one of the two.
    for (let again = 0; again < AGAIN && isSlower(low, high); again += 1) {
      low = Math.max(low, await cpuMs(prepare, size / 2));
      high = Math.min(high, await cpuMs(prepare, size));
    }
    if (isSlower(low, high)) return `${size}: ${Math.round(low)} → ${Math.round(high)} ms`;
    before = high;
  }
  return undefined;
};

const isSlower = (before: number, after: number): boolean => (after + NOISE_MS) / (before + NOISE_MS) > MOST_GROWTH;

const cpuMs = async (prepare: Prepare, size: number): Promise<number> => {
  const work = prepare(size);
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
};
