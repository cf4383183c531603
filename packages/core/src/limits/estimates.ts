/** D3: how many earlier calls an estimate is made of. */
const LATEST = 20;

/** Names with estimates of their own, so that a model that makes up names can't fill the memory. */
const MOST_NAMES = 200;

/** D3: how long a call may be under way until its estimate counts as spent. Its permit may never be settled. */
export const CALL_LEASE_MS = 600_000;

/** A call under way that is expected to use something. */
export interface ExpectingCall {
  /** Monotonic ms. */
  readonly beganMs: number;
  /** Its estimate counts as spent. */
  lapse(): void;
}

type Amounts = { readonly tokens: number; readonly cost: number };

const NOTHING: Amounts = { tokens: 0, cost: 0 };

const NO_CALLS: readonly ExpectingCall[] = [];

/**
 * What a call of a tool or a model will probably use: the most that one of its last 20 calls has used (D3). One for all runs of a tree. A
 * name that has never reported anything is expected to use nothing.
 */
export class Estimates {
  readonly #latest = new Map<string, Amounts[]>();
  /** The oldest first. */
  readonly underWay = new Set<ExpectingCall>();

  /** Calls whose lease has ended by that time. Nearly always none. */
  lapsing(ms: number): readonly ExpectingCall[] {
    let lapsing: ExpectingCall[] | undefined;
    for (const call of this.underWay) {
      if (ms - call.beganMs < CALL_LEASE_MS) break;
      lapsing ??= [];
      lapsing.push(call);
    }
    return lapsing ?? NO_CALLS;
  }

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
