/** Most entries. Beyond it, the other side does not answer, and the oldest entry is forgotten. */
const MOST = 1_000;

/** A map that forgets its oldest entry when it is full. */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Value>();

  put(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MOST && oldest !== undefined) this.#entries.delete(oldest);
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
