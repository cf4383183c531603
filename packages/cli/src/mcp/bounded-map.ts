/** Maximum number of entries. When the map is full, the oldest entry is removed. */
const MOST = 1_000;

/** A map that removes its oldest entry when it is full. */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Value>();

  /** Adds an entry. Gives the entries that it replaced or pushed out. */
  put(key: string, value: Value): readonly Value[] {
    const gone = this.#entries.has(key) ? [this.#entries.get(key) as Value] : [];
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const [oldest] = this.#entries;
    if (this.#entries.size <= MOST || oldest === undefined) return gone;
    this.#entries.delete(oldest[0]);
    return [...gone, oldest[1]];
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** The keys now. Entries may be removed meanwhile. */
  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  entries(): IterableIterator<[string, Value]> {
    return this.#entries.entries();
  }

  /** Removes an entry, and gives it. */
  take(key: string): Value | undefined {
    const value = this.#entries.get(key);
    this.#entries.delete(key);
    return value;
  }

  /** Removes all entries, and gives them. */
  takeAll(): readonly Value[] {
    const values = [...this.#entries.values()];
    this.#entries.clear();
    return values;
  }

  get size(): number {
    return this.#entries.size;
  }
}
