import { Estimates } from './estimates.ts';
import {
  answerTime,
  type CountedKind,
  LIMIT_KINDS,
  type Limit,
  type LimitKind,
  type LimitMode,
  type Limits,
} from './limits.ts';

/** D2: the part of a limit from which on the model is advised to finish. */
const ADVISED = 0.8;

/** A limit of a run, as it stands. */
export interface LimitView {
  readonly limit: LimitKind;
  /** The id of the session that has it: this one, or one above it in the tree (D1). */
  readonly session: string;
  /** What may be used. Of `durationMs`: without the time that is kept for the final answer. */
  readonly size: number;
  /** What is used, with the estimates of calls under way (D3). */
  readonly used: number;
  /** The part of `used` that calls which failed were expected to use, because they did not say (D3). */
  readonly estimated: number;
  /** What children have reserved, and not used. */
  readonly reserved: number;
  readonly mode: LimitMode;
  /** The currency of a limit of money; undefined for others. */
  readonly currency: string | undefined;
  /** `advised` from 80 % on, `reached` at 100 %; undefined below. */
  readonly level: 'advised' | 'reached' | undefined;
}

/** Why limits reject a call. */
export interface LimitObjection {
  readonly reason: 'limit_reached' | 'limit_reserved';
  readonly limit: LimitView;
}

/** What a call has used, as far as it said so. */
export interface Usage {
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
}

/** What a decision of a run with limits brings with it (D2). */
export interface RunPermit {
  /** Undefined if the call is not made. */
  readonly call: RunCall | undefined;
  /** The limits that are near. */
  readonly near: readonly LimitView[];
  /** Those of which the model was not told before. */
  readonly advised: readonly LimitView[];
}

/** A limit that was extended. */
export interface ExtendedLimit {
  /** The id of the session that has the limit. */
  readonly session: string;
  readonly from: number;
  readonly to: number;
}

const NONE: readonly LimitView[] = [];

type Amounts = Record<CountedKind, number>;

const none = (): Amounts => ({ calls: 0, steps: 0, tokens: 0, cost: 0 });

/** What a run uses, and its limits (D2). Calls and steps count when they begin; tokens and money by an estimate until they are known. */
export class Run {
  readonly id: string;
  readonly limits: Limits;
  /** Monotonic ms. */
  readonly beganMs: number;
  readonly estimates = new Estimates();
  /** Calls under way with their estimates, and what has ended. */
  readonly used: Amounts = none();
  /** The estimates of calls under way. */
  readonly underWay = { tokens: 0, cost: 0 };
  /** The part of `used` that is the estimate of a call that failed, and did not say what it used (D3). */
  readonly estimated = { tokens: 0, cost: 0 };
  /** The limits that the model was advised of, and their sizes at that time. */
  readonly #advised = new Map<Limit, number>();

  constructor(id: string, limits: Limits, beganMs: number) {
    this.id = id;
    this.limits = limits;
    this.beganMs = beganMs;
  }

  /** D2: why a call may not begin now; undefined if nothing stops it. */
  objection(ms: number): LimitObjection | undefined {
    for (const kind of LIMIT_KINDS) {
      const limit = this.limits[kind];
      if (limit?.mode !== 'pause') continue;
      const view = this.#view(kind, limit, ms);
      if (view.level === 'reached') return { reason: 'limit_reached', limit: view };
    }
    return undefined;
  }

  /** A call was decided. It begins if it is made. */
  enter(name: string, isMade: boolean, ms: number): RunPermit {
    const call = isMade ? this.begin(name) : undefined;
    return { call, near: this.near(ms), advised: isMade ? this.advise(ms) : NONE };
  }

  /** A call begins. D3: its estimate is at most what is left, so that the last call may begin. */
  begin(name: string): RunCall {
    const expected = this.estimates.of(name);
    const tokens = Math.min(expected.tokens, this.#left('tokens'));
    const cost = Math.min(expected.cost, this.#left('cost'));
    this.add('calls', 1);
    this.add('tokens', tokens);
    this.add('cost', cost);
    this.underWay.tokens += tokens;
    this.underWay.cost += cost;
    return new RunCall(this, name, tokens, cost);
  }

  #left(kind: CountedKind): number {
    const limit = this.limits[kind];
    return limit?.mode === 'pause' ? Math.max(0, limit.size - this.used[kind]) : Number.POSITIVE_INFINITY;
  }

  /** Something is used up, or an estimate was corrected. */
  add(kind: CountedKind, amount: number): void {
    this.used[kind] += amount;
  }

  /** D3: a call of a model has used that. */
  spend(usage: Usage): void {
    for (const kind of ['tokens', 'cost'] as const) {
      const amount = usage[kind];
      if (typeof amount === 'number' && Number.isFinite(amount) && amount > 0) this.add(kind, amount);
    }
  }

  /** D2: makes a limit larger. Empty if there is no such limit. */
  extend(kind: LimitKind, by: number): readonly ExtendedLimit[] {
    const limit = this.limits[kind];
    if (limit === undefined) return [];
    const from = limit.size;
    limit.size += by;
    return [{ session: this.id, from, to: limit.size }];
  }

  /** The limits that hold for the run. */
  view(ms: number): readonly LimitView[] {
    return LIMIT_KINDS.flatMap((kind) => {
      const limit = this.limits[kind];
      return limit === undefined ? [] : [this.#view(kind, limit, ms)];
    });
  }

  /** D2: the limits that the model has to think of. Empty nearly always. */
  near(ms: number): readonly LimitView[] {
    return this.view(ms).filter(({ level, mode }) => level !== undefined && mode !== 'observe');
  }

  /** D2: those that the model was not advised of yet. */
  advise(ms: number): readonly LimitView[] {
    return this.near(ms).filter(({ limit: kind }) => {
      const limit = this.limits[kind];
      if (limit === undefined || this.#advised.get(limit) === limit.size) return false;
      this.#advised.set(limit, limit.size);
      return true;
    });
  }

  #estimatedOf(kind: LimitKind): number {
    return kind === 'tokens' || kind === 'cost' ? this.estimated[kind] : 0;
  }

  #view(kind: LimitKind, { size: given, mode, currency }: Limit, ms: number): LimitView {
    const used = kind === 'durationMs' ? Math.max(0, ms - this.beganMs) : this.used[kind];
    const size = kind === 'durationMs' ? given - answerTime(given) : given;
    const near = used >= size * ADVISED ? 'advised' : undefined;
    const level = used >= size ? 'reached' : near;
    return {
      limit: kind,
      session: this.id,
      size,
      used,
      estimated: this.#estimatedOf(kind),
      reserved: 0,
      mode,
      currency,
      level,
    };
  }
}

/** A call under way, and what it is expected to use. */
export class RunCall {
  readonly run: Run;
  readonly #name: string;
  readonly #expected: { readonly tokens: number; readonly cost: number };

  constructor(run: Run, name: string, tokens: number, cost: number) {
    this.run = run;
    this.#name = name;
    this.#expected = { tokens, cost };
  }

  /**
   * The call is over. D3: what it used takes the place of the estimate. A call that has not succeeded and does not say what it used keeps
   * the estimate.
   */
  end(usage: Usage, succeeded: boolean): void {
    const { run } = this;
    for (const kind of ['tokens', 'cost'] as const) {
      const expected = this.#expected[kind];
      const actual = usage[kind] ?? (succeeded ? 0 : expected);
      run.add(kind, actual - expected);
      run.underWay[kind] -= expected;
      if (usage[kind] === undefined && !succeeded) run.estimated[kind] += expected;
    }
    if (succeeded || usage.tokens !== undefined || usage.cost !== undefined)
      run.estimates.add(this.#name, { tokens: usage.tokens ?? 0, cost: usage.cost ?? 0 });
  }
}
