import type { ErrorCategory, Permit } from '@breakerbox/core';
import { type LastAnswer, type ModelCall, read } from '@breakerbox/core/internal';
import { orUndefined } from '../untrusted.ts';
import type { AnswerFacts, Candidate, TriedModel } from './candidates.ts';
import type { Limits } from './model-limits.ts';
import type { ModelSpan } from './model-span.ts';
import { judgeModelError, LEFT, type ModelVerdict, TOO_SLOW, UNREADABLE } from './model-verdict.ts';
import { ModelStreamError } from './models-unavailable.ts';

/** An error whose verdict is known already. */
export class JudgedError extends Error {
  readonly error: unknown;
  readonly verdict: ModelVerdict;

  constructor(error: unknown, verdict: ModelVerdict) {
    super();
    this.error = error;
    this.verdict = verdict;
  }
}

/** O10: an abort by a time limit of the caller blames the model only if it had this long. */
const LEAST_RUN_MS = 5_000;

/** L2: what another key of another tenant may not have: a refusal, a used-up quota, a reached limit. */
const OF_KEY: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['permission', 'resource', 'rate_limit']);

/** C9: how long the reader of a stream may take between two parts, until the model's probe counts as failed. */
const READER_MS = 60_000;

/** The run that a call of a model counts for. */
export interface ModelRun {
  /** D3: what the call uses. */
  readonly call: ModelCall;
  /** D2: whether it may be the last one. Undefined if no limit stops the model. */
  readonly last: LastAnswer | undefined;
}

/** One call of one model, from its permit to the end of its answer. */
export class ModelAttempt {
  readonly candidate: Candidate<unknown>;
  readonly limits: Limits;
  /** The models that were tried before. */
  readonly tried: readonly TriedModel[];
  readonly #permit: Permit;
  readonly #caller: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #span: ModelSpan;
  readonly #unixNow: () => number;
  readonly #isOfTenant: boolean;
  readonly #run: ModelRun | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = 0;
  readonly #beganMs = performance.now();
  #reject: ((reason: unknown) => void) | undefined;
  #expired: ModelStreamError | undefined;
  #waitsSinceMs: number;
  /** How long the model has sent nothing but pings. */
  #pingedMs = 0;
  /** How long the model had been silent when the caller stopped the call. */
  #silentMs = 0;
  #isVisible = false;
  #isSettled = false;

  constructor(
    permit: Permit,
    candidate: Candidate<unknown>,
    limits: Limits,
    tried: readonly TriedModel[],
    caller: AbortSignal | undefined,
    span: ModelSpan,
    unixNow: () => number,
    isOfTenant: boolean,
    run: ModelRun | undefined,
  ) {
    this.candidate = candidate;
    this.limits = limits;
    this.tried = tried;
    this.#permit = permit;
    this.#caller = caller;
    this.#span = span;
    this.#unixNow = unixNow;
    this.#isOfTenant = isOfTenant;
    this.#run = run;
    this.#waitsSinceMs = performance.now();
    caller?.addEventListener('abort', this.#leave);
  }

  /** D3: whether a run counts what the call uses. */
  get isSpent(): boolean {
    return this.#run !== undefined;
  }

  /** Milliseconds since the call began. */
  get ranMs(): number {
    return performance.now() - this.#beganMs;
  }

  /** The signal to call the model with: the caller's, and the limits. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #leave = (): void => {
    const isRead = this.#reject !== undefined;
    if (isRead) this.#silentMs = performance.now() - this.#waitsSinceMs;
    this.#stop(this.#caller?.reason);
    if (!isRead && this.#isVisible) this.left(); // The stream may never be read again.
  };

  #stop(reason: unknown): void {
    this.#controller.abort(reason);
    this.#reject?.(reason);
  }

  /**
   * Waits for the model, at most `ms`. Rejects when the time is over or the caller leaves, even if the model ignores its signal.
   *
   * @param late closes an answer that comes after that
   */
  wait<Value>(promise: PromiseLike<Value>, ms: number, late?: (value: Value) => void): Promise<Value> {
    this.#waitsSinceMs = performance.now() - this.#pingedMs;
    this.#startTimer(this.#pingedMs === 0 ? ms : Math.max(1, ms - this.#pingedMs));
    this.#pingedMs = 0;
    return new Promise<Value>((resolve, reject) => {
      this.#reject = reject;
      promise.then(
        (value) => {
          if (this.#controller.signal.aborted) orUndefined(() => late?.(value));
          this.#reject = undefined;
          resolve(value);
        },
        (error) => {
          this.#reject = undefined;
          reject(error);
        },
      );
      if (this.#controller.signal.aborted) reject(this.#controller.signal.reason);
    });
  }

  /** What the model has sent carries nothing: the next wait goes on where this one was. */
  pinged(): void {
    this.#pingedMs = performance.now() - this.#waitsSinceMs;
  }

  /** One timer for all parts of a stream: starting it again is far cheaper than a new one. */
  #startTimer(ms: number): void {
    this.candidate.handle.extend(this.#permit, ms + READER_MS);
    if (this.#timer !== undefined && this.#timerMs === ms && typeof this.#timer.refresh === 'function') {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timerMs = ms;
    this.#timer = setTimeout(this.#expire, ms);
    this.#timer.unref?.();
  }

  readonly #expire = (): void => {
    if (this.#reject === undefined) return; // The reader of the stream takes its time, not the model.
    const silentMs = Math.max(this.#timerMs, performance.now() - this.#waitsSinceMs);
    const what = `sent nothing for ${Math.round(silentMs)} ms, so the call was stopped.`;
    this.#expired = new ModelStreamError(this.candidate.model, what);
    this.#stop(this.#expired);
  };

  /** L4: from now on no other model can answer. */
  visible(): void {
    this.#isVisible = true;
  }

  succeeded(facts: AnswerFacts = {}): void {
    if (!this.#end()) return;
    const { handle, index, primary } = this.candidate;
    this.#permit.settle({ outcome: 'success' });
    const position = index === 0 ? 'primary' : 'fallback';
    const usage = handle.answered(
      { position, primary },
      {
        input: facts.inputTokens,
        cacheRead: facts.cacheReadTokens,
        cacheWrite: facts.cacheWriteTokens,
        output: facts.outputTokens,
      },
    );
    this.#run?.call.end(usage, true);
    this.#span.answered(this.candidate, facts);
  }

  /** The caller reads no further. */
  left(): void {
    if (this.#end()) this.#settle(LEFT);
    this.#span.ended(undefined);
    this.#stop(this.#caller?.reason);
  }

  /** Settles an error, and returns what it means. The error may be anything, also one that cannot be read. */
  failed(error: unknown): { readonly verdict: ModelVerdict; readonly error: unknown } {
    const known = orUndefined(() => (error instanceof JudgedError ? error : undefined));
    const thrown = known === undefined ? error : known.error;
    const verdict =
      this.#ofAbort() ?? known?.verdict ?? orUndefined(() => judgeModelError(thrown, this.#unixNow())) ?? UNREADABLE;
    if (this.#end()) this.#settle(verdict);
    if (!this.#controller.signal.aborted) this.#controller.abort();
    if (this.#isVisible) this.#span.ended(verdict, this.candidate);
    return { verdict, error: this.#expired ?? this.#errorFor(thrown) };
  }

  /** Streams tell of errors by plain objects. What the caller has aborted with is its own. */
  #errorFor(thrown: unknown): unknown {
    if (this.#caller?.aborted === true && thrown === this.#caller.reason) return thrown;
    const isError = orUndefined(
      () => thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && 'stack' in thrown),
    );
    return isError ? thrown : new ModelStreamError(this.candidate.model, 'sent an error within its answer.', thrown);
  }

  /** L3: the verdict if the call was stopped from outside, or by a limit. */
  #ofAbort(): ModelVerdict | undefined {
    if (this.#expired !== undefined) return TOO_SLOW;
    if (this.#caller?.aborted !== true) return undefined;
    const isTimeout = read(this.#caller.reason, 'name') === 'TimeoutError';
    return isTimeout && this.#silentMs >= LEAST_RUN_MS ? { ...TOO_SLOW, next: 'never' } : LEFT;
  }

  #settle({ outcome, category, blames, wait, status }: ModelVerdict): void {
    const { handle } = this.candidate;
    // A provider charges nothing for a request that it has answered with an error.
    const isFree = status !== undefined && !this.#isVisible;
    this.#run?.call.end(isFree ? { tokens: 0, cost: 0 } : {}, false);
    this.#run?.last?.failed();
    const retryAfterMs = wait === 'longest' ? handle.longestWaitMs() : wait;
    const blamed = this.#isOfTenant && OF_KEY.has(category) ? 'key' : blames;
    this.#permit.settle({
      outcome,
      category,
      ...(blamed !== undefined && outcome === 'failure' && { blames: blamed }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }

  #end(): boolean {
    const isFirst = !this.#isSettled;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#leave);
    return isFirst;
  }
}
