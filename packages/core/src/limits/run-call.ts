import type { Estimates } from './estimates.ts';
import type { Spent, Usage } from './limit-view.ts';

const NOTHING: Spent = {};

/** What a call is expected to use. */
export interface Expected {
  readonly tokens: number;
  readonly cost: number;
}

const NONE: Expected = { tokens: 0, cost: 0 };

/** The run that a call counts for. */
interface Spender {
  readonly estimates: Estimates;
  add(kind: 'tokens' | 'cost', amount: number): void;
  addTo(sum: 'underWay' | 'estimated', kind: 'tokens' | 'cost', amount: number): void;
  keep(kind: 'tokens' | 'cost', amount: number): void;
  expectedAnswer(name: string, maxOutputTokens: number): Expected;
}

/** A call under way, and what it is expected to use. */
export class RunCall {
  readonly #run: Spender;
  readonly #name: string;
  #expected = NONE;
  #hasChild = false;
  /** D3: an answer of a child's model. What it is expected to use is kept for the next one afterwards. */
  #isKept: boolean;
  isUnderWay = true;

  constructor(run: Spender, name: string, expected: Expected, isKept = false) {
    this.#run = run;
    this.#name = name;
    this.#isKept = isKept;
    this.expect(expected);
  }

  /** The same call of a copy of its run, to look ahead with (C11). */
  copy(run: Spender): RunCall {
    const copy = new RunCall(run, this.#name, NONE, this.#isKept);
    copy.#expected = this.#expected;
    copy.#hasChild = this.#hasChild;
    return copy;
  }

  get expected(): Expected {
    return this.#expected;
  }

  expect(expected: Expected): void {
    for (const kind of ['tokens', 'cost'] as const) {
      const change = expected[kind] - this.#expected[kind];
      if (this.#isKept) this.#run.keep(kind, change);
      else {
        this.#run.add(kind, change);
        this.#run.addTo('underWay', kind, change);
      }
    }
    this.#expected = expected;
  }

  /** D3: a sub-agent runs in the call, and counts what it uses itself. The call keeps its own use if the sub-agent may not begin. */
  containing<Child>(begin: () => Child): Child {
    const expected = this.#expected;
    this.expect(NONE);
    try {
      const child = begin();
      this.#hasChild = true;
      return child;
    } catch (error) {
      this.expect(expected);
      throw error;
    }
  }

  /** D1: the child ends. Nothing is kept for another answer. */
  leave(): void {
    const expected = this.isUnderWay ? this.#expected : NONE;
    this.expect(NONE);
    this.#isKept = false;
    this.expect(expected);
  }

  /**
   * The call is over. D3: what it used takes the place of the estimate. A call that has not succeeded and does not say what it used keeps
   * the estimate. Returns what counts.
   */
  end(usage: Usage, succeeded: boolean): Spent {
    const run = this.#run;
    const expected = this.#expected;
    this.expect(NONE);
    this.isUnderWay = false;
    if (this.#hasChild) return NOTHING;
    const spent = { tokens: 0, cost: 0 };
    for (const kind of ['tokens', 'cost'] as const) {
      const isKnown = usage[kind] !== undefined || succeeded;
      spent[kind] = isKnown ? (usage[kind] ?? 0) : expected[kind];
      run.add(kind, spent[kind]);
      if (!isKnown) run.addTo('estimated', kind, expected[kind]);
    }
    if (succeeded || usage.tokens !== undefined || usage.cost !== undefined)
      run.estimates.add(this.#name, { tokens: usage.tokens ?? 0, cost: usage.cost ?? 0 });
    if (this.#isKept) this.expect(run.expectedAnswer(this.#name, expected.tokens));
    return spent;
  }
}
