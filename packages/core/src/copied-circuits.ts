import { copyKeys } from './circuit/key-circuits.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';

/** Circuits by the names of their tools and groups, in the order of their first use. */
export type Circuits = Pick<Map<string, TrackedCircuit>, 'get' | 'has' | 'keys' | 'values' | typeof Symbol.iterator> & {
  set(name: string, tracked: TrackedCircuit): unknown;
};

/** Copies of circuits, each made when it is first read. A look ahead may change them, and reads few of them (C11). */
export class CopiedCircuits implements Circuits {
  readonly #originals: Circuits;
  readonly #copies = new Map<string, TrackedCircuit>();

  constructor(originals: Circuits) {
    this.#originals = originals;
  }

  get(name: string): TrackedCircuit | undefined {
    const known = this.#copies.get(name);
    if (known !== undefined) return known;
    const original = this.#originals.get(name);
    if (original === undefined) return undefined;
    const copy = copyOf(original);
    this.#copies.set(name, copy);
    return copy;
  }

  has(name: string): boolean {
    return this.#copies.has(name) || this.#originals.has(name);
  }

  set(name: string, tracked: TrackedCircuit): void {
    this.#copies.set(name, tracked);
  }

  /** A circuit that only the look ahead uses is last. */
  keys(): ReturnType<Circuits['keys']> {
    const names = [...this.#originals.keys()];
    for (const name of this.#copies.keys()) if (!this.#originals.has(name)) names.push(name);
    return names.values();
  }

  values(): ReturnType<Circuits['values']> {
    const all: TrackedCircuit[] = [];
    for (const name of this.keys()) all.push(this.get(name) as TrackedCircuit);
    return all.values();
  }

  [Symbol.iterator](): ReturnType<Circuits[typeof Symbol.iterator]> {
    const all: [string, TrackedCircuit][] = [];
    for (const name of this.keys()) all.push([name, this.get(name) as TrackedCircuit]);
    return all.values();
  }
}

/** Overrides change what is covered too (A4). */
const copyOf = (tracked: TrackedCircuit): TrackedCircuit => {
  const copy = { ...tracked, keys: copyKeys(tracked.keys) };
  if (copy.covered !== undefined) copy.covered = { ...copy.covered };
  return copy;
};
