import type { Ended, Model, ModelPermit, ModelSession } from '../../packages/core/src/proof/model.ts';
import { acquire, settle } from '../../packages/core/src/proof/model-calls.ts';
import { copyOfSession } from '../../packages/core/src/proof/model-copy.ts';
import { extend } from '../../packages/core/src/proof/model-models.ts';

/** What a model does when it is called. */
export type Fate = 'answer' | 'cut' | 'hang' | 529 | 429 | 400 | 401 | 402 | 403 | 404 | 413;

/** What each model of a list does for one request, and how long it takes. */
export interface Plan {
  readonly fates: Readonly<Record<string, Fate>>;
  readonly ms: number;
  readonly tenant?: string | undefined;
}

const WAIT_OF_429 = 70_000;
const LONGEST_WAIT = 300_000;
const ATTEMPT_MS = 300_000;
/** C9: a probe lasts so much longer than its limit. */
const READER_MS = 60_000;

/** L3: what each error means, and when the next model is asked. */
const MEANS: Readonly<
  Record<Exclude<Fate, 'answer'>, Ended & { readonly next: 'always' | 'of a fallback' | 'too long' }>
> = {
  cut: { outcome: 'failure', category: 'network', next: 'always' },
  hang: { outcome: 'failure', category: 'timeout', next: 'always' },
  529: { outcome: 'failure', category: 'server', next: 'always' },
  429: { outcome: 'failure', category: 'rate_limit', retryAfterMs: WAIT_OF_429, next: 'always' },
  401: { outcome: 'failure', category: 'permission', blames: 'group', next: 'always' },
  402: { outcome: 'failure', category: 'resource', blames: 'group', retryAfterMs: LONGEST_WAIT, next: 'always' },
  403: { outcome: 'failure', category: 'permission', next: 'always' },
  404: { outcome: 'failure', category: 'unusable', retryAfterMs: LONGEST_WAIT, next: 'always' },
  400: { outcome: 'ignored', category: 'invalid_input', next: 'of a fallback' },
  413: { outcome: 'ignored', category: 'invalid_input', next: 'too long' },
};

/** A request that waits for a model. */
interface Waiting {
  readonly id: number;
  readonly list: readonly string[];
  readonly plan: Plan;
  readonly index: number;
  readonly permit: ModelPermit;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly fate: Fate;
  readonly unanswered: readonly Unanswered[];
  readonly cause: Fate | undefined;
}

/** A model that did not answer, as the error says it. */
export interface Unanswered {
  readonly model: string;
  readonly why: 'failed' | 'skipped';
}

/** What comes of a request: who answered, or what it failed with. */
export type Ending =
  | { readonly answer: string }
  | { readonly error: Fate | 'left' | 'timeout' }
  | { readonly unanswered: readonly Unanswered[]; readonly cause: Fate | undefined };

/** L5: the order in which models are asked, over the reference model of their circuits. It shares no code with the guard. */
export class Failover {
  /** `REQUEST MODEL`, in the order of the calls. */
  readonly calls: string[] = [];
  readonly endings = new Map<number, Ending>();
  readonly #tools: Model;
  readonly #models: Model;
  readonly #session: ModelSession;
  readonly #nextIfTooLong: boolean;
  #waiting: readonly Waiting[] = [];

  constructor(tools: Model, models: Model, session: ModelSession, nextIfTooLong: boolean) {
    this.#tools = tools;
    this.#models = models;
    this.#session = session;
    this.#nextIfTooLong = nextIfTooLong;
  }

  get waiting(): readonly number[] {
    return this.#waiting.map(({ id }) => id);
  }

  ask(id: number, list: readonly string[], plan: Plan): void {
    this.#askFrom(0, { id, list, plan, unanswered: [], cause: undefined });
  }

  /** Time passes, and calls end meanwhile. */
  pass(ms: number): void {
    const endMs = this.#tools.ms + ms;
    for (let next = this.#first(endMs); next; next = this.#first(endMs)) {
      this.#tools.ms = Math.max(this.#tools.ms, next.untilMs);
      this.#end(next);
    }
    this.#tools.ms = endMs;
  }

  /** L3, O10: the caller leaves. It blames the model only by a time limit, and after 5 s of silence. */
  leave(id: number, byTimeout: boolean): void {
    const one = this.#waiting.find((each) => each.id === id);
    if (one === undefined) return;
    this.#waiting = this.#waiting.filter((each) => each !== one);
    const blames = byTimeout && this.#tools.ms - one.sinceMs >= 5_000;
    settle(
      this.#models,
      one.permit,
      blames ? { outcome: 'failure', category: 'timeout' } : { outcome: 'ignored', category: 'cancelled' },
    );
    this.endings.set(id, { error: byTimeout ? 'timeout' : 'left' });
  }

  /** What a call of the model would be decided at that time, if nothing else happened. */
  decisionAt(model: string, ms: number): string {
    const ahead = { ...this.#models, ms, told: [], counted: new Map() };
    return acquire(ahead, copyOfSession(this.#session), `model:${model}`).decision;
  }

  #first(endMs: number): Waiting | undefined {
    return this.#waiting.filter(({ untilMs }) => untilMs <= endMs).toSorted((a, b) => a.untilMs - b.untilMs)[0];
  }

  #askFrom(index: number, one: Pick<Waiting, 'id' | 'list' | 'plan' | 'unanswered' | 'cause'>): void {
    const { id, list, plan, unanswered, cause } = one;
    const model = list[index];
    if (model === undefined) {
      const isAlone = list.length === 1 && cause !== undefined;
      this.endings.set(id, isAlone ? { error: cause } : { unanswered, cause });
      return;
    }
    const permit = acquire(this.#models, this.#session, `model:${model}`, undefined, plan.tenant);
    if (permit.settled) {
      this.#askFrom(index + 1, { ...one, unanswered: [...unanswered, { model, why: 'skipped' }] });
      return;
    }
    this.calls.push(`${id} ${model}`);
    const isProbe = permit.decision === 'probe' && index < list.length - 1;
    const limitMs = isProbe ? ATTEMPT_MS / 3 : ATTEMPT_MS;
    extend(this.#models, permit, limitMs + READER_MS);
    const given = plan.fates[model] ?? 'answer';
    const isSlow = given === 'hang' || plan.ms > limitMs;
    const sinceMs = this.#tools.ms;
    const untilMs = sinceMs + (isSlow ? limitMs : plan.ms);
    const waiting = { ...one, index, permit, sinceMs, untilMs, fate: isSlow ? ('hang' as const) : given };
    if (untilMs > sinceMs) this.#waiting = [...this.#waiting, waiting];
    else this.#end(waiting);
  }

  #end(one: Waiting): void {
    const { id, list, plan, index, permit, fate, unanswered } = one;
    const model = list[index] ?? '';
    this.#waiting = this.#waiting.filter((each) => each !== one);
    if (fate === 'answer') {
      settle(this.#models, permit, { outcome: 'success' });
      this.endings.set(id, { answer: model });
      return;
    }
    const { next, ...ended } = MEANS[fate];
    settle(this.#models, permit, this.#ofTenant(ended, plan));
    const goesOn = next === 'always' || index > 0 || (next === 'too long' && this.#nextIfTooLong);
    if (!goesOn) {
      this.endings.set(id, { error: fate });
      return;
    }
    const cause = one.cause ?? fate;
    this.#askFrom(index + 1, { ...one, unanswered: [...unanswered, { model, why: 'failed' }], cause });
  }

  /** L2: refusals, used-up credit and limits are those of the tenant's key. A failure of a key counts for the key alone (C14). */
  #ofTenant(ended: Ended, { tenant }: Plan): Ended {
    const { category = 'unknown' } = ended;
    if (tenant === undefined || !['permission', 'resource', 'rate_limit'].includes(category)) return ended;
    return { ...ended, outcome: 'ignored', blames: 'key' };
  }
}
