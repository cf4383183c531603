/** Which steps no tool probes on (P3). */
export interface FreeSteps {
  /** The first free step from this one on. */
  from(step: number): number;
  /** A tool probes on this step: it is no longer free. */
  take(step: number): void;
}

/**
 * Steps of which some are taken. Each taken step points to a later one, and a search shortens the path that it took. So to give
 * n tools a step each takes about n operations, not n for each step that is already taken.
 */
export const freeSteps = (taken: Iterable<number>): FreeSteps => {
  /** From a taken step to a later one. All steps between the two are taken. */
  const later = new Map<number, number>();

  const from = (step: number): number => {
    let free = step;
    for (let next = later.get(free); next !== undefined; next = later.get(free)) free = next;
    let passed = step;
    while (passed !== free) {
      const next = later.get(passed) ?? free;
      later.set(passed, free);
      passed = next;
    }
    return free;
  };

  const take = (step: number): void => {
    later.set(step, step + 1);
  };

  for (const step of taken) take(step);
  return { from, take };
};
