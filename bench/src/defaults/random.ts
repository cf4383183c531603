/** Numbers from 0 up to 1. The same seed gives the same numbers on every machine. */
export type Random = () => number;

/** The generator mulberry32: 32 bits of state, which is enough to draw tools and failures. */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** The seed of a run. It differs between the runs of a scenario, and between two scenarios. */
export const seedOf = (scenario: string, run: number): number => {
  let hash = 0x811c9dc5;
  for (const letter of `${scenario}/${run}`) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
};

/** One of several, each with its weight. */
export interface Weighted<T> {
  readonly value: T;
  readonly weight: number;
}

/** Draws one by its weight. */
export const drawn = <T>(random: Random, all: readonly Weighted<T>[]): T => {
  let left = random() * all.reduce((sum, { weight }) => sum + weight, 0);
  for (const { value, weight } of all) {
    left -= weight;
    if (left < 0) return value;
  }
  const last = all.at(-1);
  if (last === undefined) throw new Error('The list of choices is empty. Give at least one choice.');
  return last.value;
};

/** The same values in a random order. */
export const shuffled = <T>(random: Random, all: readonly T[]): readonly T[] =>
  all
    .map((value) => ({ value, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
