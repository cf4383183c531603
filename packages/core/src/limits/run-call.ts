import type { Estimates, ExpectingCall } from './estimates.ts';
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
  /** D2: its model has given the last answer that it may give. */
  readonly hasLastAnswer: boolean;
  add(kind: 'tokens' | 'cost', amount: number): void;
  addTo(sum: 'underWay' | 'estimated', kind: 'tokens' | 'cost', amount: number): void;
  keep(kind: 'tokens' | 'cost', amount: number): void;
  expectedAnswer(name: string, maxOutputTokens: number): Expected;
}

/** A call under way, and what it is expected to use. */
export class RunCall<Of extends Spender = Spender> implements ExpectingCall {
  readonly run: Of;
  readonly beganMs: number;
  readonly #name: string;
  #expected = NONE;
  /** D3: what is kept for the answer after this one. */
  #next = NONE;
  /** D3: what counts as spent since its lease has ended. */
  #lapsed = NONE;
  #hasChild = false;
  /** D3: an answer of a child's model. As much is kept for the next one, as far as it is left, and afterwards in any case. */
  #isKept: boolean;
  isUnderWay = true;

  constructor(run: Of, name: string, expected: Expected, beganMs: number, isKept = false) {
    this.run = run;
    this.#name = name;
    this.beganMs = beganMs;
    this.#isKept = isKept;
    this.expect(expected);
  }

  /** The same call of a copy of its run, to look ahead with (C11). */
  copy(run: Of): RunCall<Of> {
    const copy = new RunCall(run, this.#name, NONE, this.beganMs, this.#isKept);
    copy.#expected = this.#expected;
    copy.#next = this.#next;
    copy.#lapsed = this.#lapsed;
    copy.#hasChild = this.#hasChild;
    return copy;
  }

  get expected(): Expected {
    return this.#expected;
  }

  expect(expected: Expected, next = NONE): void {
    for (const kind of ['tokens', 'cost'] as const) {
      const change = expected[kind] + next[kind] - this.#expected[kind] - this.#next[kind];
      if (this.#isKept) this.run.keep(kind, change);
      else {
        this.run.add(kind, change);
        this.run.addTo('underWay', kind, change);
      }
    }
    this.#expected = expected;
    this.#next = next;
    const { underWay } = this.run.estimates;
    if (this.isUnderWay && (expected.tokens > 0 || expected.cost > 0)) underWay.add(this);
    else underWay.delete(this);
  }

  /** D3: its lease has ended: what it was expected to use counts as spent, until it is over after all. */
  lapse(): void {
    const expected = this.#expected;
    this.expect(NONE);
    this.#count(expected);
  }

  /** Counts what the call was expected to use as spent, in place of what it was before. */
  #count(lapsed: Expected): void {
    for (const kind of ['tokens', 'cost'] as const) {
      const change = lapsed[kind] - this.#lapsed[kind];
      this.run.add(kind, change);
      this.run.addTo('estimated', kind, change);
    }
    this.#lapsed = lapsed;
  }

  /** D3: a sub-agent runs in the call, and counts what it uses itself. The call keeps its own use if the sub-agent may not begin. */
  containing<Child>(begin: () => Child): Child {
    const expected = this.#expected;
    this.#count(NONE);
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
    const { run } = this;
    const expected = this.#lapsed === NONE ? this.#expected : this.#lapsed;
    this.#count(NONE);
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
    if (this.#isKept && !run.hasLastAnswer) this.expect(run.expectedAnswer(this.#name, expected.tokens));
    return spent;
  }
}
