import { shortened } from '../config/names.ts';

/** The result of a walk along the dependencies between names. */
export interface Walk {
  /** Every name once, after all names that it points to. Arrows that close a cycle are ignored. */
  readonly order: readonly string[];
  /**
   * One for each arrow that leads back to where the walk came from, at most 100. A name that points to itself is a cycle of one.
   */
  readonly cycles: readonly (readonly string[])[];
}

/** A name on the path, and its arrows that are still to be followed. */
interface Stop {
  readonly name: string;
  readonly ahead: Iterator<string>;
}

/** Each cycle may be as long as the map, and there may be as many as arrows: in a malicious file, too many to keep. */
const MOST_CYCLES = 100;

/** Walks from each name, in order. Without recursion: a map from a file may be deep. */
export const walk = (names: Iterable<string>, next: (name: string) => readonly string[] | undefined): Walk => {
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
      else if (cycles.length < MOST_CYCLES) cycles.push(way.slice(place).map(({ name }) => name));
    }
  }
  return { order: [...order], cycles };
};

/** `a → b → a`; for a long cycle, only the beginning. */
export const describeCycle = (cycle: readonly string[]): string => {
  const some = cycle.slice(0, MOST_SHOWN).map((name) => shortened(name, 60));
  const more = cycle.length > some.length ? [`${cycle.length - some.length} more`] : [];
  return [...some, ...more, ...some.slice(0, 1)].join(' → ');
};

const MOST_SHOWN = 10;
