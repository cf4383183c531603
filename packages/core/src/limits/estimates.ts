/** D3: how many earlier calls an estimate is made of. */
const LATEST = 20;

/** Names with estimates of their own, so that a model that makes up names can't fill the memory. */
const MOST_NAMES = 200;

type Amounts = { readonly tokens: number; readonly cost: number };

const NOTHING: Amounts = { tokens: 0, cost: 0 };

/**
 * What a call of a tool or a model will probably use: the most that one of its last 20 calls has used (D3). One for all runs of a tree. A
 * name that has never reported anything is expected to use nothing.
 */
export class Estimates {
  readonly #latest = new Map<string, Amounts[]>();

  of(name: string): Amounts {
    const latest = this.#latest.get(name);
    if (latest === undefined) return NOTHING;
    return { tokens: most(latest, 'tokens'), cost: most(latest, 'cost') };
  }

  /** Whether a call of that name has reported something before. */
  has(name: string): boolean {
    return this.#latest.has(name);
  }

  add(name: string, amounts: Amounts): void {
    const latest = this.#latest.get(name);
    if (latest !== undefined) {
      latest.push(amounts);
      if (latest.length > LATEST) latest.shift();
    } else if ((amounts.tokens > 0 || amounts.cost > 0) && this.#latest.size < MOST_NAMES) {
      this.#latest.set(name, [amounts]);
    }
  }
}

const most = (latest: readonly Amounts[], kind: keyof Amounts): number =>
  latest.reduce((max, amounts) => Math.max(max, amounts[kind]), 0);
