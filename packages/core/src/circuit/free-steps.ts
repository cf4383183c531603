/** The steps on which no tool probes (P3). */
export interface FreeSteps {
  /** The first free step at or after this one. */
  from(step: number): number;
  /** Marks a step as taken, because a tool probes on it. */
  take(step: number): void;
}

/**
 * Steps, some of which are taken. Each taken step points to a later one, and a search shortens the path that it took. Finding a
 * step for each of n tools therefore takes about n operations, not n for each taken step.
 */
export const freeSteps = (taken: Iterable<number>): FreeSteps => {
  /** Points from a taken step to a later one. All steps between the two are taken. */
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
