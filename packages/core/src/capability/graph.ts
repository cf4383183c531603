/** What a walk along the arrows of names to names has found. */
export interface Walk {
  /** Every name once, and all that it points to before it, but for the arrows that close a cycle. */
  readonly order: readonly string[];
  /** One for each arrow that leads back to where the walk came from; a name that points to itself is a cycle of one. */
  readonly cycles: readonly (readonly string[])[];
}

/** A name on the way, and the arrows from it that are still to be followed. */
interface Stop {
  readonly name: string;
  readonly ahead: Iterator<string>;
}

/** Walks from each name, in order. Without recursion: a map from a file may be deep. */
export const walk = (names: Iterable<string>, next: (name: string) => readonly string[]): Walk => {
  const order = new Set<string>();
  const cycles: string[][] = [];
  const way: Stop[] = [];
  const places = new Map<string, number>();
  const go = (name: string): void => {
    if (order.has(name)) return;
    places.set(name, way.length);
    way.push({ name, ahead: new Set(next(name)).values() });
  };
  for (const start of names) {
    go(start);
    for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
      const { done, value } = here.ahead.next();
      if (done) {
        order.add(here.name);
        places.delete(here.name);
        way.pop();
        continue;
      }
      const place = places.get(value);
      if (place === undefined) go(value);
      else cycles.push(way.slice(place).map(({ name }) => name));
    }
  }
  return { order: [...order], cycles };
};

/** `a → b → a` */
export const describeCycle = (cycle: readonly string[]): string => [...cycle, ...cycle.slice(0, 1)].join(' → ');
