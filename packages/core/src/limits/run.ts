import { Estimates } from './estimates.ts';
import type { ExtendedLimit, LimitObjection, LimitView, Spent, Usage } from './limit-view.ts';
import {
  answerTime,
  COUNTED_KINDS,
  type CountedKind,
  LIMIT_KINDS,
  type Limit,
  type LimitKind,
  type LimitMode,
  type Limits,
} from './limits.ts';
import { type Expected, RunCall } from './run-call.ts';

/** D2: the part of a limit from which on the model is advised to finish. */
const ADVISED = 0.8;

/** D3: the most of a limit that the first call of a model is expected to use. */
const FIRST = 0.02;

/** Children of a run that have ended, and that a report still lists. */
const MOST_PAST = 50;

/** The same for a tree, so that sub-agents of sub-agents can't fill the memory. */
const MOST_PAST_IN_TREE = 500;

/** What a decision of a run with limits brings with it (D2). */
export interface RunPermit {
  readonly run: Run;
  /** Undefined if the call is not made. */
  readonly call: RunCall<Run> | undefined;
  /** What counts, once the call is over (D3). */
  spent?: Spent | undefined;
  /** The limits that are near. */
  readonly near: readonly LimitView[];
  /** Those of which the model was not told before. */
  readonly advised: readonly LimitView[];
}

const NONE: readonly LimitView[] = [];

/** D4: when the time of a run for calls ends. */
export interface Deadline {
  /** Milliseconds that are left. */
  readonly leftMs: number;
  /** Milliseconds that the run has in all for calls. */
  readonly ofMs: number;
}

/** A limit, and the run that has it. */
interface OneLimit {
  readonly run: Run;
  readonly kind: LimitKind;
  readonly limit: Limit;
}

export type Amounts = Record<CountedKind, number>;

export const noAmounts = (): Amounts => ({ calls: 0, steps: 0, tokens: 0, cost: 0 });

export interface RunStart {
  readonly id: string;
  readonly name?: string | undefined;
  readonly limits: Limits;
  /** Monotonic ms. */
  readonly beganMs: number;
  /** The run above it; undefined for the root of a tree. It lives, or is the root. */
  readonly parent?: Run | undefined;
}

/**
 * What a run uses, and its limits (D2): a node in a tree of runs. Calls and steps count when they begin; tokens and money by an estimate
 * until they are known. What a child uses counts in each run above it.
 */
export class Run {
  readonly id: string;
  readonly name: string | undefined;
  readonly limits: Limits;
  readonly beganMs: number;
  estimates: Estimates;
  /** Used by itself and by its children. */
  readonly used = noAmounts();
  /** The same with what children that live have reserved, used or not, and with what is kept for answers. */
  readonly held = noAmounts();
  /** The estimates of calls under way. */
  readonly underWay = noAmounts();
  /** D3: what is kept for the next answers of the models of sub-agents. */
  readonly forAnswers = noAmounts();
  /** The part of `used` that is the estimate of calls that failed, and did not say what they used (D3). */
  readonly estimated = noAmounts();
  parent: Run | undefined;
  /** Those that live. */
  readonly children: Run[] = [];
  /** The latest of those that have ended. */
  readonly past: Run[] = [];
  ended = false;
  /** C11: children in the snapshot that the run comes from. They count as ended until they are taken again. */
  kept: Run[] = [];
  /** The limits that the model was advised of, and their sizes at that time. */
  readonly #advised = new Map<Limit, number>();
  /** D2: a model has answered since a limit was reached. */
  hasLastAnswer = false;
  /** D3: of a child, the latest answer of its model. As much is kept for the next one. */
  answer: RunCall<Run> | undefined;
  /** D2: a step is under way: it counts already. */
  inStep = false;
  /** D2: no other call may begin in the step under way, because a sub-agent found no step left. */
  isStepOver = false;
  /**
   * D2: `step()` came before the first call of this run itself. So it comes before each turn, and begins its step. Otherwise it ends the
   * step of a turn. Undefined until it comes.
   */
  beginsSteps: boolean | undefined;
  /** Of a root. */
  #asksObserved = (): boolean => false;
  /** Of a root: the latest runs of the tree that have ended, the oldest first. */
  #pastInTree: Run[] | undefined;

  constructor({ id, name, limits, beganMs, parent }: RunStart) {
    this.id = id;
    this.name = name;
    this.limits = limits;
    this.beganMs = beganMs;
    this.parent = parent;
    this.estimates = parent?.estimates ?? new Estimates();
  }

  /** A copy of the run with its tree, to look ahead with (C11). `copies`: those that were made, by their originals. */
  copy(copies: Map<Run, Run>): Run {
    const known = copies.get(this);
    if (known !== undefined) return known;
    const copy = new Run(this);
    copies.set(this, copy);
    copy.#asksObserved = this.#asksObserved;
    const copied = (one: Run): Run => one.copy(copies);
    const { used, held, underWay, forAnswers, estimated } = this;
    return Object.assign(copy, this, {
      parent: this.parent?.copy(copies),
      children: this.children.map(copied),
      past: this.past.map(copied),
      kept: this.kept.map(copied),
      used: { ...used },
      held: { ...held },
      underWay: { ...underWay },
      forAnswers: { ...forAnswers },
      estimated: { ...estimated },
    });
  }

  /** D1: who pays: the run itself, or the nearest one above it that has not ended. The root always pays. */
  get payer(): Run {
    let run: Run = this;
    while (run.ended && run.parent !== undefined) run = run.parent;
    return run;
  }

  /** D1: whether two or more runs of the tree beneath this root live. */
  get hasOthers(): boolean {
    const [first, second] = this.children;
    return first !== undefined && (!this.ended || second !== undefined || first.children.length > 0);
  }

  /** C1: whether all tools are only observed, so that the limits of the tree pause nothing. */
  get isObserved(): boolean {
    return this.#root.#asksObserved();
  }

  /** Of a root: its session says whether all tools are only observed. */
  observedBy(asks: () => boolean): this {
    this.#asksObserved = asks;
    return this;
  }

  get #root(): Run {
    let run: Run = this;
    while (run.parent !== undefined) run = run.parent;
    return run;
  }

  /** Those whose limits hold: the payer, and all above it. */
  #chain(): readonly Run[] {
    const chain: Run[] = [];
    for (let run: Run | undefined = this.payer; run !== undefined; run = run.parent) chain.push(run);
    return chain;
  }

  /**
   * D2: why a call may not begin now; undefined if nothing stops it. A limit that is used up comes first, then one that estimates
   * reach. Calls and steps that are reserved stop no model.
   */
  limitObjection(ms: number, isModel = false): LimitObjection | undefined {
    let expected: LimitObjection | undefined;
    let reserved: LimitObjection | undefined;
    const { payer } = this;
    const chain = this.#chain();
    for (const kind of LIMIT_KINDS) {
      if (kind === 'steps' && payer.#hasOpenStep) continue; // It counts already.
      let isOwn = false; // A part that is reserved for this call.
      for (const run of chain) {
        const limit = run.limits[kind];
        if (limit === undefined) continue;
        if (limit.mode === 'pause') {
          if (run.#takenOf(kind, ms) >= sizeOf(kind, limit)) {
            const objection = { reason: 'limit_reached', limit: run.viewOf(kind, limit, ms, payer) } as const;
            if (objection.limit.level === 'reached') return objection;
            expected ??= objection;
          }
          const isOfModels = kind === 'tokens' || kind === 'cost';
          if (kind !== 'durationMs' && (isOfModels || !isModel) && !isOwn && run.held[kind] >= limit.size)
            reserved ??= { reason: 'limit_reserved', limit: run.viewOf(kind, limit, ms, payer) };
        }
        isOwn ||= limit.reserves;
      }
    }
    return expected ?? reserved;
  }

  /**
   * D2: a model of this run is about to be asked, and a step begins. If nothing is left, it may answer once more, so that the run can report:
   * the root always, a child that has begun its work. Gives the limit if it may not. What only estimates reach stops no model.
   * `isOpen`: its turn began before the limit was reached, so that this is no last answer.
   */
  askModel(ms: number, isOpen = false): LimitView | undefined {
    const objection = this.limitObjection(ms, true);
    const limit = objection?.limit;
    const isExpected = objection?.reason === 'limit_reached' && limit?.level !== 'reached';
    if (limit?.mode !== 'pause' || isExpected) {
      this.hasLastAnswer = false;
      this.beginStep();
      return undefined;
    }
    this.#endStepsAbove();
    if ((this.hasLastAnswer && !isOpen) || !this.#hasAnswer) return limit;
    this.hasLastAnswer = !isOpen;
    return undefined;
  }

  /** D3: a child that has used nothing yet has nothing to report. So those that begin in a tree that is paused exceed no limit. */
  get #hasAnswer(): boolean {
    const { parent, answer, used } = this.payer;
    if (parent === undefined || answer !== undefined || used.tokens > 0 || used.cost > 0) return true;
    return this.room('tokens') > 0 && this.room('cost') > 0;
  }

  /** The model that was asked last has not answered. */
  unanswered(): void {
    this.hasLastAnswer = false;
  }

  /** A call was decided. It begins if it is made. `isObserved`: it is only observed, so that its result stays as it is (C1). */
  enter(name: string, isMade: boolean, isObserved: boolean, ms: number): RunPermit {
    const call = isMade ? this.begin(name, ms) : this.#endStepsAbove();
    const near = this.near(ms);
    const advises = isMade && !isObserved && near.length > 0;
    return { run: this, call, near, advised: advises ? this.advise(ms) : NONE };
  }

  /** A call begins. D3: its estimate is at most what is left, so that the last call may begin. */
  begin(name: string, ms: number): RunCall<Run> {
    const expected = this.#atMostLeft(this.estimates.of(name));
    this.add('calls', 1);
    this.beginStep();
    return new RunCall<Run>(this, name, expected, ms);
  }

  #atMostLeft({ tokens, cost }: Expected): Expected {
    return {
      tokens: tokens === 0 ? 0 : Math.min(tokens, this.room('tokens')),
      cost: cost === 0 ? 0 : Math.min(cost, this.room('cost')),
    };
  }

  /**
   * D3: a call of a model begins. Until it has reported something, its estimate is a guess: 2 % of the limit, or all output that it may give if
   * that is less. A guess never takes the last of a limit, so that it pauses no run.
   */
  beginModel(name: string, ms: number, maxOutputTokens = Number.POSITIVE_INFINITY): RunCall<Run> {
    const { payer } = this;
    const isKept = payer.parent !== undefined && payer.answer?.isUnderWay !== true && payer.#limitsUsage;
    if (!isKept) return new RunCall(payer, name, payer.#atMostLeft(payer.expectedAnswer(name, maxOutputTokens)), ms);
    payer.answer?.leave();
    const expected = payer.expectedAnswer(name, maxOutputTokens);
    payer.answer = new RunCall(payer, name, expected, ms, true);
    if (!payer.hasLastAnswer)
      payer.answer.expect(expected, payer.#atMostLeft(payer.expectedAnswer(name, maxOutputTokens)));
    return payer.answer;
  }

  /** D3: what the next answer of a model is expected to use, also if less is left. */
  expectedAnswer(name: string, maxOutputTokens: number): Expected {
    if (this.estimates.has(name)) return this.estimates.of(name);
    return { tokens: Math.min(this.#guess('tokens'), maxOutputTokens), cost: this.#guess('cost') };
  }

  /** D3: ends the leases of calls of the whole tree that are due. Returns whether there were any. */
  lapse(ms: number): boolean {
    const lapsing = this.lapsing(ms);
    for (const call of lapsing) call.lapse();
    return lapsing.length > 0;
  }

  /** Calls of the whole tree whose lease has ended by that time (D3). Nearly always none. */
  lapsing(ms: number): readonly RunCall<Run>[] {
    return this.estimates.lapsing(ms) as readonly RunCall<Run>[];
  }

  get #limitsUsage(): boolean {
    return this.#limit('tokens') !== undefined || this.#limit('cost') !== undefined;
  }

  /**
   * D2: a step begins, unless one has. It counts from its beginning, so that steps at the same time exceed no limit. Once none is left, the
   * turns in which agents read so and answer count nothing.
   */
  beginStep(): void {
    const { payer } = this;
    if (payer.inStep) return;
    if (payer.room('steps') >= 1 || payer.isObserved) {
      payer.inStep = true;
      payer.isStepOver = false;
      payer.add('steps', 1);
    } else payer.#endStepsAbove();
  }

  /** D2: if no step is left for this run, those above it are over. Otherwise the limit would not be reached while one of them goes on. */
  #endStepsAbove(): undefined {
    if (this.payer.inStep) return;
    let isFull = false;
    for (const run of this.#chain().toReversed()) {
      const limit = run.limits.steps;
      isFull ||= limit !== undefined && run.used.steps >= limit.size && run.modeOf(limit) === 'pause';
      run.isStepOver ||= isFull;
    }
  }

  /** D2: whether other calls may begin in the step under way. */
  get #hasOpenStep(): boolean {
    return this.inStep && !this.isStepOver;
  }

  /** D2: a step ends. The next one begins if `step()` comes before turns. If it comes after them, one without a call counts now. */
  endStep(): void {
    const { payer } = this;
    payer.beginsSteps ??= !payer.inStep;
    payer.inStep &&= !payer.beginsSteps;
    payer.beginStep();
    payer.inStep &&= payer.beginsSteps;
  }

  #guess(kind: 'tokens' | 'cost'): number {
    const guess = Math.min((this.#limit(kind)?.size ?? 0) * FIRST, this.room(kind) / 2);
    const parts = kind === 'tokens' ? 1 : BILLION; // Rounded up, it could take the rest.
    return Math.floor(guess * parts) / parts;
  }

  /** The nearest limit. */
  #limit(kind: CountedKind): Limit | undefined {
    return this.#chain().find(({ limits }) => limits[kind] !== undefined)?.limits[kind];
  }

  /** D4: the time that is left for calls; undefined without a limit of time that pauses. */
  deadline(ms: number): Deadline | undefined {
    let nearest: Deadline | undefined;
    for (const run of this.#chain()) {
      const limit = run.limits.durationMs;
      if (limit?.mode !== 'pause') continue;
      const ofMs = sizeOf('durationMs', limit);
      const leftMs = Math.max(0, ofMs - run.#usedOf('durationMs', ms));
      if (nearest === undefined || leftMs < nearest.leftMs) nearest = { leftMs, ofMs };
    }
    return nearest;
  }

  /** What the run may still use without what is reserved for others. */
  room(kind: CountedKind): number {
    let room = Number.POSITIVE_INFINITY;
    let isOwn = false;
    for (const { limits, used, forAnswers, held } of this.#chain()) {
      const limit = limits[kind];
      if (limit === undefined) continue;
      if (limit.mode === 'pause') {
        const taken = isOwn ? sumOf(kind, used[kind], forAnswers[kind]) : held[kind];
        room = Math.min(room, sumOf(kind, limit.size, -taken));
      }
      isOwn ||= limit.reserves;
    }
    return Math.max(0, room);
  }

  /** Something is used up, or an estimate was corrected. */
  add(kind: CountedKind, amount: number): void {
    if (amount === 0) return;
    const { payer } = this;
    for (let run: Run | undefined = payer; run !== undefined; run = run.parent)
      run.used[kind] = sumOf(kind, run.used[kind], amount);
    payer.hold(kind, amount);
  }

  addTo(sum: 'underWay' | 'estimated' | 'forAnswers', kind: CountedKind, amount: number): void {
    if (amount !== 0) for (const run of this.#chain()) run[sum][kind] = sumOf(kind, run[sum][kind], amount);
  }

  /** D3: keeps more, or less, for the next answer of its model. */
  keep(kind: CountedKind, amount: number): void {
    this.addTo('forAnswers', kind, amount);
    this.payer.hold(kind, amount);
  }

  /** Holds more, or less, here and in the runs above: of those, what a reservation does not cover already. */
  hold(kind: CountedKind, amount: number): void {
    let more = amount;
    for (let run: Run | undefined = this; run !== undefined && more !== 0; run = run.parent) {
      const before = run.holds(kind);
      run.held[kind] = sumOf(kind, run.held[kind], more);
      more = sumOf(kind, run.holds(kind), -before);
    }
  }

  /** What the run takes of the one above it: all that it has reserved, or what it uses. */
  holds(kind: CountedKind): number {
    const limit = this.limits[kind];
    return limit?.reserves === true ? Math.max(limit.size, this.held[kind]) : this.held[kind];
  }

  /** The currency of the nearest limit of money. */
  get currency(): string | undefined {
    for (let run: Run | undefined = this.payer; run !== undefined; run = run.parent)
      if (run.limits.cost !== undefined) return run.limits.cost.currency;
    return undefined;
  }

  /** D3: a call of a model has used that. */
  spend(usage: Usage): void {
    const { tokens = 0, cost = 0 } = soundUsage(usage);
    this.add('tokens', tokens);
    this.add('cost', cost);
  }

  /** C11: a child that was restored lives again, as far as there is room for what it had reserved. Undefined without such a child. */
  take(id: string): Run | undefined {
    const index = this.kept.findIndex((one) => one.id === id);
    const [child] = index < 0 ? [] : this.kept.splice(index, 1);
    if (child === undefined) return undefined;
    child.ended = false;
    child.parent = this;
    child.estimates = this.estimates;
    this.children.push(child);
    for (const kind of COUNTED_KINDS) {
      const limit = child.limits[kind];
      if (limit?.reserves === true) limit.size = Math.min(limit.size, sumOf(kind, child.used[kind], this.room(kind)));
      this.hold(kind, child.holds(kind) - child.used[kind]);
    }
    return child;
  }

  /** The largest of the limits that `extend` would make larger; undefined without such a limit. */
  largest(kind: LimitKind): number | undefined {
    const sizes = this.#chain().flatMap(({ limits }) => limits[kind]?.size ?? []);
    return sizes.length === 0 ? undefined : Math.max(...sizes);
  }

  /** D2: makes a limit larger, here and in each run above that has it. Empty if there is no such limit. */
  extend(kind: LimitKind, by: number): readonly ExtendedLimit[] {
    const extended: ExtendedLimit[] = [];
    for (const run of this.#chain()) {
      const limit = run.limits[kind];
      if (limit === undefined) continue;
      const from = limit.size;
      const before = kind === 'durationMs' ? 0 : run.holds(kind);
      limit.size = kind === 'durationMs' ? from + by : sumOf(kind, from, by);
      if (kind === 'steps') run.isStepOver = false;
      if (kind !== 'durationMs') run.parent?.hold(kind, run.holds(kind) - before);
      extended.push({ session: run.id, from, to: limit.size });
    }
    return extended;
  }

  /** D1: what it has used stays with the nearest run above that lives, and what it has not used comes back. */
  end(): void {
    const { parent } = this;
    if (this.ended) return;
    if (parent !== undefined) {
      this.inStep = false;
      this.answer?.leave();
      this.answer = undefined;
    }
    this.ended = true;
    if (parent === undefined) return;
    parent.children.splice(parent.children.indexOf(this), 1);
    parent.#remember(this);
    parent.kept.push(...this.kept.splice(0));
    for (const child of this.children.splice(0)) {
      child.parent = parent;
      parent.children.push(child);
    }
    for (const kind of COUNTED_KINDS) parent.hold(kind, this.held[kind] - this.holds(kind));
  }

  /** A child has ended. Reports list the latest. */
  #remember(child: Run): void {
    this.past.push(child);
    if (this.past.length > MOST_PAST) this.past.shift();
    const root = this.#root;
    root.#pastInTree ??= [];
    if (root.#pastInTree.push(child) <= MOST_PAST_IN_TREE) return;
    const oldest = root.#pastInTree.shift();
    const listed = oldest?.parent?.past ?? [];
    const index = oldest === undefined ? -1 : listed.indexOf(oldest);
    if (index >= 0) listed.splice(index, 1);
  }

  /** The limits that hold for the run: its own, then those above. */
  view(ms: number, isObserved?: boolean): readonly LimitView[] {
    return this.#chain().flatMap((run) => run.ownView(ms, this.payer, isObserved));
  }

  /** `of`: the run that asks, itself or one beneath it. */
  ownView(ms: number, of: Run = this, isObserved?: boolean): readonly LimitView[] {
    return LIMIT_KINDS.flatMap((kind) => {
      const limit = this.limits[kind];
      return limit === undefined ? [] : [this.viewOf(kind, limit, ms, of, isObserved)];
    });
  }

  /** D2: the limits that are near, with the estimates of calls under way. Empty nearly always. */
  near(ms: number): readonly LimitView[] {
    return this.#viewed(this.#near(ms), ms);
  }

  /** D2: those that the model of this run has to think of, and was not advised of yet. An estimate that is too high must not advise it. */
  advise(ms: number): readonly LimitView[] {
    const isNew = ({ run, kind, limit }: OneLimit) =>
      run.levelOf(kind, limit, ms, this.payer) !== undefined && this.#advised.get(limit) !== limit.size;
    const news = this.#near(ms).filter(isNew);
    for (const { limit } of news) this.#advised.set(limit, limit.size);
    return this.#viewed(news, ms);
  }

  #viewed(all: readonly OneLimit[], ms: number): readonly LimitView[] {
    return all.map(({ run, kind, limit }) => run.viewOf(kind, limit, ms, this.payer));
  }

  #near(ms: number): readonly OneLimit[] {
    const near: OneLimit[] = [];
    for (const run of this.#chain()) {
      for (const kind of LIMIT_KINDS) {
        const limit = run.limits[kind];
        if (limit !== undefined && limit.mode !== 'observe' && run.#takenOf(kind, ms) >= sizeOf(kind, limit) * ADVISED)
          near.push({ run, kind, limit });
      }
    }
    return near;
  }

  #usedOf(kind: LimitKind, ms: number): number {
    return kind === 'durationMs' ? Math.max(0, ms - this.beganMs) : this.used[kind];
  }

  /** What nothing else may use: what is used, and what is kept for answers (D3). */
  #takenOf(kind: LimitKind, ms: number): number {
    return kind === 'durationMs' ? this.#usedOf(kind, ms) : sumOf(kind, this.used[kind], this.forAnswers[kind]);
  }

  /**
   * What `level` leaves out: the estimates of calls under way, because those may be too high. Of steps, the one that `of` is in: its other calls
   * may begin. What other sessions have begun is used up.
   */
  #leftOut(kind: CountedKind, of: Run): number {
    return kind === 'steps' ? Number(of.#hasOpenStep) : this.underWay[kind];
  }

  /** By what is spent and kept for answers, for the run `of`, itself or one beneath it. */
  levelOf(kind: LimitKind, limit: Limit, ms: number, of: Run = this): LimitView['level'] {
    const taken = this.#takenOf(kind, ms);
    const used = kind === 'durationMs' ? taken : sumOf(kind, taken, -this.#leftOut(kind, of));
    const size = sizeOf(kind, limit);
    if (used >= size) return 'reached';
    return used >= size * ADVISED ? 'advised' : undefined;
  }

  /** What the limit does: while all tools are only observed, it pauses nothing (C1). */
  modeOf({ mode }: Limit, isObserved?: boolean): LimitMode {
    return mode === 'pause' && (isObserved ?? this.isObserved) ? 'observe' : mode;
  }

  viewOf(kind: LimitKind, limit: Limit, ms: number, of: Run = this, isObserved?: boolean): LimitView {
    const { currency } = limit;
    const kept = kind === 'durationMs' ? 0 : this.forAnswers[kind];
    return {
      limit: kind,
      session: this.id,
      size: sizeOf(kind, limit),
      used: this.#usedOf(kind, ms),
      estimated: kind === 'durationMs' ? 0 : this.estimated[kind],
      underWay: kind === 'durationMs' ? 0 : this.#leftOut(kind, of),
      reserved: kind === 'durationMs' ? 0 : sumOf(kind, this.held[kind], -this.used[kind]),
      ...(kept > 0 && { kept }),
      mode: this.modeOf(limit, isObserved),
      currency,
      level: this.levelOf(kind, limit, ms, of),
    };
  }
}

/** D2: a limit that pauses its run. */
export const pausesRun = ({ level, mode }: LimitView): boolean => level === 'reached' && mode === 'pause';

/** Amounts that are no finite numbers above 0 are left out. */
export const soundUsage = (usage: Usage): Usage => ({ tokens: sound(usage.tokens), cost: sound(usage.cost) });

const sound = (amount: unknown): number | undefined =>
  typeof amount === 'number' && Number.isFinite(amount) && amount > 0 ? amount : undefined;

/** A usage may be reported that no run has. It must not become infinite, and then no number at all. */
const MOST = Number.MAX_SAFE_INTEGER;

/** Money is counted in billionths. */
const BILLION = 1e9;

/** Money is added to the nearest billionth, because fractions are not exact: ten times 0.1 has to be 1. */
export const sumOf = (kind: CountedKind, one: number, other: number): number => {
  const sum = Math.min(MOST, Math.max(-MOST, one + other));
  return kind === 'cost' ? Math.round(sum * BILLION) / BILLION : sum;
};

/** D4: the time that calls have. */
const sizeOf = (kind: LimitKind, { size }: Limit): number => (kind === 'durationMs' ? size - answerTime(size) : size);
